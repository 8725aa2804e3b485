// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile_way.hpp: measures what the way to another machine and back takes, for the header that
// `deploy<box, costs<...>>` reads. The node answers with what was asked for:
//
//   const lv::remote_node node = lv::serve_way<"edge">({by, "0.0.0.0:7000"});
//
// and the program that will be the driver writes down how long that took:
//
//   lv::profile_way(lv::endpoints<"edge">{by, {"10.0.0.7:7000"}}, "box.costs.hpp");

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/parameters.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/stage.hpp>
#include <levada/interop/profile/cost_header.hpp>
#include <levada/interop/profile/device_probe.hpp>
#include <levada/interop/profile/machine.hpp>
#include <levada/interop/profile/measure.hpp>
#include <levada/interop/profile/options.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/remote.hpp>
#include <levada/remote/detail/kernel.hpp>
#include <levada/remote/detail/queue.hpp>

namespace levada {

namespace detail {

/// So many bytes, and how many are wanted back.
struct way_probe {
  static constexpr std::size_t most = 1 << 20;

  std::uint32_t bytes = 0, wanted = 0;

  /// What goes, and where it is left: an item's bytes are moved, too.
  static std::vector<std::byte>& room() {
    thread_local std::vector<std::byte> bytes(most);
    return bytes;
  }
};

}  // namespace detail

template <>
struct wire<detail::way_probe> {
  static constexpr std::string_view name = "a probe of the way";
  static constexpr std::size_t most_bytes = sizeof(std::uint32_t) + detail::way_probe::most;
  static void write(wire_writer& to, const detail::way_probe& probe) {
    to.write(probe.wanted);
    to.write(detail::way_probe::room().data(), probe.bytes);
  }
  static detail::way_probe read(wire_reader& from) {
    detail::way_probe probe;
    probe.wanted = std::min(from.template read<std::uint32_t>(), std::uint32_t{detail::way_probe::most});
    probe.bytes = static_cast<std::uint32_t>(std::min(from.left(), detail::way_probe::most));
    from.read(detail::way_probe::room().data(), probe.bytes);
    return probe;
  }
};

namespace detail {

template <fixed_string Device>
constexpr auto way_line() {
  return input<way_probe> |
         on<remote<Device>>(in_place<"way">([](way_probe& p) { p = {.bytes = p.wanted, .wanted = 0}; }));
}
template <fixed_string Device>
using way_target = target<cpu<1>, remote<Device, cpu<1>>>;
using way_version = version<"the way, 1">;

}  // namespace detail

/// What a way takes, there and back.
struct way_costs {
  transfer_cost there, back;
};

namespace detail {

/// One item at a time: the seconds from when it is handed over to when its result is there.
class way_meter {
 public:
  /// Throws remote_error where no node answers.
  way_meter(const remote_kernel& kernel, const profile_options& options) : options_(options) {
    queue_.prepare(device_segment(0, 0, kernel));
    probe_ = std::make_unique<device_probe>(queue_, 0, std::vector<const void*>{&asked_}, &answer_);
  }

  /// The smallest median of all rounds.
  double measure(std::size_t there, std::size_t back) {
    asked_ = {.bytes = static_cast<std::uint32_t>(there), .wanted = static_cast<std::uint32_t>(back)};
    probe_->run();
    double least = 0;
    for (int round = 0; round < options_.rounds; ++round) {
      const double median = measure_round();
      least = round == 0 ? median : std::min(least, median);
    }
    return least;
  }

 private:
  double measure_round() {
    using clock = std::chrono::steady_clock;
    std::vector<double> taken;
    const auto start = clock::now();
    const auto spent = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
    while (taken.size() < 9 || (taken.size() < 2000 && spent() < options_.seconds_each)) {
      const device_trip trip = probe_->run();
      taken.push_back(trip.there + trip.computing + trip.back);
    }
    return summary_of(std::move(taken)).seconds;
  }

  const profile_options& options_;
  remote_queue queue_;
  way_probe asked_, answer_;
  std::unique_ptr<device_probe> probe_;
};

/// Half of what is the same for any item, and a line by bytes for each direction. `seconds(there, back)`: of an item of
/// so many bytes that gives so many.
template <class Seconds>
way_costs measure_way(device_id node, Seconds seconds) {
  const double half = seconds(std::size_t{0}, std::size_t{0}) / 2;
  measured_ways there{{0, half}}, back{{0, half}};
  for (const std::size_t bytes : {way_probe::most / 16, way_probe::most / 4, way_probe::most}) {
    there.emplace_back(static_cast<double>(bytes), seconds(bytes, std::size_t{0}) - half);
    back.emplace_back(static_cast<double>(bytes), seconds(std::size_t{0}, bytes) - half);
  }
  const auto per_byte = [](const measured_ways& ways) { return line_through(ways, assumed_transfer).seconds_per_byte; };
  constexpr device_id here{device_kind::cpu, 0};
  return {{here, node, half, per_byte(there)}, {node, here, half, per_byte(back)}};
}

}  // namespace detail

/// Answers those who measure the way to that device, as long as what it returns lives. Nothing of a program runs.
template <fixed_string Device>
[[nodiscard]] remote_node serve_way(const node_options& options) {
  return serve<detail::way_target<Device>, Device, detail::way_version>(detail::way_line<Device>(), options);
}

/// Measures the way to a node that serves it, for two seconds or so, and writes it into the header at `path`, beside
/// what `profile` has written there.
///
/// Throws remote_error where no node answers.
template <fixed_string Device>
way_costs profile_way(const endpoints<Device>& to, const std::string& path, const profile_options& options = {}) {
  using found = type_at<detail::remote_places_of<decltype(detail::way_line<Device>())>, 0>;
  const auto part =
      detail::way_elsewhere<endpoints<Device>>::template stage<found, detail::way_target<Device>, detail::way_version>(
          to, 0);
  using op = typename decltype(part.part)::op_type;
  const detail::remote_kernel_of<detail::way_probe, op> kernel(part.part.description, parameter_values({}));
  detail::way_meter meter(kernel, options);
  const way_costs taken = detail::measure_way(
      remote<Device>::id, [&](std::size_t there, std::size_t back) { return meter.measure(there, back); });
  detail::cost_header costs(path, detail::machine_text());
  costs.set(taken.there);
  costs.set(taken.back);
  costs.write();
  return taken;
}

}  // namespace levada
