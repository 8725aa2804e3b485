// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/queue.hpp: a fleet as a deployment uses it: its connection and what it stores, checked when it is
// prepared, the lanes of its sessions, and the one thread that looks after them.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/fleet/detail/census.hpp>
#include <levada/fleet/detail/device.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/kept_session.hpp>
#include <levada/fleet/detail/kernel.hpp>
#include <levada/fleet/detail/keyed_inputs.hpp>
#include <levada/fleet/detail/keyed_lane.hpp>
#include <levada/fleet/detail/keyed_names.hpp>
#include <levada/fleet/detail/keyed_streams.hpp>
#include <levada/fleet/detail/lane.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/session_keeper.hpp>
#include <levada/fleet/detail/session_progress.hpp>
#include <levada/fleet/detail/session_record.hpp>
#include <levada/fleet/detail/streams.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/kept_lanes.hpp>

namespace levada::detail {

/// Throws remote_error where a message of so large items or results is longer than the server takes.
inline void check_payload(const nats_connection& by, std::size_t item, std::size_t result) {
  const std::size_t most = by.most_payload();
  const std::size_t needed =
      fleet_grain(item, result) * (std::max(item, result) + frame_header::size) + fleet_bytes_around;
  if (needed > most)
    throw remote_error(by.who() + ": a message is up to " + std::to_string(needed) + " bytes, and the server takes " +
                       std::to_string(most) + ": raise its `max_payload`");
}

/// What a deployment has of a fleet.
class any_driver {
 public:
  virtual ~any_driver() = default;
  virtual std::unique_ptr<kept_lane> open(std::size_t segment, std::size_t slots, device_client& client) const = 0;
  virtual fixed_array<stream_bounds> streams() const = 0;
};

/// The connection of a driver, which has found no workers of another program.
class fleet_driver : public any_driver {
 public:
  explicit fleet_driver(const fleet_kernel& kernel)
      : kernel_(kernel),
        names_(kernel.way->fleet, kernel.way->program),
        by_(words_of_fleet(kernel.way->fleet), kernel.way->to, "driver of " + kernel.way->fleet,
            kernel.way->by_key != nullptr ? nats_connection::threads::few : nats_connection::threads::each) {
    check_payload(by_, kernel.item.most_bytes, kernel.result.most_bytes);
    if (const std::string why = ask_census(by_, names_.workers, kernel.way->identity); !why.empty())
      throw remote_error(by_.who() + " has no worker of this program: " + why);
  }

 protected:
  /// What it needs is there.
  void answer() { answer_.emplace(by_, names_.drivers, kernel_.way->identity, true); }

  const fleet_kernel& kernel_;
  const fleet_names names_;
  const nats_connection by_;

 private:
  std::optional<census_answer> answer_;
};

/// Of a fleet any of whose workers takes any item.
class queue_driver final : public fleet_driver {
 public:
  explicit queue_driver(const fleet_kernel& kernel) : fleet_driver(kernel) {
    keep_streams(by_, names_, longest(), kernel.way->to);
    keep_items_consumer(by_, names_, kernel.way->to);
    answer();
  }
  std::unique_ptr<kept_lane> open(std::size_t segment, std::size_t slots, device_client& client) const override {
    const std::uint64_t number = new_number(by_.who());
    session_outcomes outcomes{number, number};
    std::unique_ptr<kept_session> kept;
    if (opened_with_name) {
      kept =
          std::make_unique<kept_session>(by_, names_, kernel_.way->to, kernel_.way->program, opened_with_name, slots);
      outcomes = kept->consumer();
    } else {
      keep_outcomes_consumer(by_, names_, outcomes, at_leisure);
    }
    return std::make_unique<fleet_lane>(by_, names_, kernel_, outcomes, std::move(kept), segment, slots, client);
  }
  fixed_array<stream_bounds> streams() const override { return bounds_of_streams(longest(), kernel_.way->to); }

 private:
  std::size_t longest() const { return longest_fleet_message(kernel_.item.most_bytes, kernel_.result.most_bytes); }
};

/// Of one whose stage has a state by key.
class keyed_driver final : public fleet_driver {
 public:
  explicit keyed_driver(const fleet_kernel& kernel)
      : fleet_driver(kernel), keyed_(kernel.way->fleet, kernel.way->by_key->partitions) {
    const keyed_shape& shape = *kernel.way->by_key;
    if (shape.longest_state() > by_.most_payload())
      throw remote_error(by_.who() + ": the states of a partition are up to " + std::to_string(shape.longest_state()) +
                         " bytes, and the server takes " + std::to_string(by_.most_payload()) +
                         ": raise its `max_payload`, or say fewer keys with `partitions`");
    keep_keyed_streams(by_, keyed_, kernel.item.most_bytes, kernel.result.most_bytes, shape, kernel.way->to);
    answer();
  }
  std::unique_ptr<kept_lane> open(std::size_t segment, std::size_t slots, device_client& client) const override {
    std::uint64_t number = new_number(by_.who());
    std::unique_ptr<session_keeper> kept;
    if (opened_with_name) {
      kept = std::make_unique<session_keeper>(by_, keyed_, kernel_.way->to, opened_with_name);
      number = number_of_session(opened_with_name->name()) | (number & ((std::uint64_t{1} << driver_bits) - 1));
    }
    return std::make_unique<keyed_lane>(by_, keyed_, kernel_, number, std::move(kept), segment, slots, client);
  }
  fixed_array<stream_bounds> streams() const override {
    return bounds_of_streams(kernel_.item.most_bytes, kernel_.result.most_bytes, *kernel_.way->by_key, kernel_.way->to);
  }

 private:
  const keyed_names keyed_;
};

class fleet_queue final : public device_queue {
 public:
  void prepare(const device_segment& segment) override {
    if (drivers_.size() <= segment.index) drivers_.resize(segment.index + 1);
    const auto& kernel = static_cast<const fleet_kernel&>(*segment.units[0].kernel);  // its one part
    if (kernel.way->by_key != nullptr)
      drivers_[segment.index] = std::make_unique<keyed_driver>(kernel);
    else
      drivers_[segment.index] = std::make_unique<queue_driver>(kernel);
  }
  std::unique_ptr<device_lane> open(std::size_t segment, std::size_t slots, device_client& client) override {
    return lanes_.add(drivers_[segment]->open(segment, slots, client));
  }
  fixed_array<stream_bounds> streams() const override {
    for (const auto& driver : drivers_)
      if (driver) return driver->streams();
    return {};
  }

 private:
  std::vector<std::unique_ptr<any_driver>> drivers_;  ///< of the segments
  kept_lanes<kept_lane> lanes_{"a fleet", [](kept_lane& lane) {
                                 constexpr std::chrono::milliseconds between{100};
                                 lane.keep();
                                 return std::chrono::steady_clock::now() + between;
                               }};
};

}  // namespace levada::detail

namespace levada {

template <fixed_string Name, class... Devices>
struct device_driver<fleet<Name, Devices...>> {
  using backend = detail::fleet_backend;
  static std::unique_ptr<detail::device_queue> open() { return std::make_unique<detail::fleet_queue>(); }
};

}  // namespace levada
