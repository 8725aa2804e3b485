// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/any_of.hpp: several equal devices as one: `any_of<vulkan<0>, vulkan<1>>`. Each of them has all that a segment
// needs; an item goes to the one that has the fewest items, and reports from there. The engine puts items back in order
// anyway.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/needs_exceptions.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada {
namespace detail {

/// The parameters of a kernel on each of the devices.
struct equal_parameters final : device_parameters {
  explicit equal_parameters(std::size_t devices) : of(devices) {}
  fixed_array<owner<device_parameters>> of;
};

/// A session's way to a segment on one of the devices: it counts the items that are there.
class equal_way final : public device_client {
 public:
  equal_way(device_client& session, std::size_t device, std::size_t units)
      : device_client(session.terms()), session_(session), device_(device), kept_(units) {}

  void open(device_queue& queue, std::size_t segment, std::size_t slots) {
    lane_ = owner<device_lane>(queue.open(segment, slots, *this).release());
  }
  std::size_t items() const { return items_.load(std::memory_order_relaxed); }
  void submit(std::uint64_t item) {
    items_.fetch_add(1, std::memory_order_relaxed);
    has_unflushed_ = true;
    try {
      lane_->submit(item);
    } catch (...) {
      items_.fetch_sub(1, std::memory_order_relaxed);
      throw;
    }
  }
  void flush() noexcept {
    if (std::exchange(has_unflushed_, false)) lane_->flush();
  }
  void cancel() noexcept { lane_->cancel(); }
  void trace(const trace_context& of) noexcept { lane_->trace(of); }

 private:
  void execute(std::size_t segment, std::uint64_t item, computed_memory& memory) noexcept override {
    session_.execute(segment, item, memory);
  }
  const void* input(std::size_t segment, std::uint64_t item, std::size_t which) noexcept override {
    return session_.input(segment, item, which);
  }
  void* output(std::size_t segment, std::uint64_t item, std::size_t which) noexcept override {
    return session_.output(segment, item, which);
  }
  /// Asked while an item is submitted, by one thread at a time.
  void* const* kept_for(std::size_t segment, std::uint64_t item) noexcept override {
    void* const* const of_all = session_.kept_for(segment, item);
    if (of_all == nullptr) return nullptr;
    for (std::size_t u = 0; u < kept_.size(); ++u) {
      auto* const all = static_cast<device_parameters*>(of_all[u]);
      kept_[u] = all == nullptr ? nullptr : static_cast<equal_parameters*>(all)->of[device_].get();
    }
    return kept_.begin();
  }
  item_envelope envelope(std::uint64_t item) noexcept override { return session_.envelope(item); }
  void overdue(std::size_t segment, std::uint64_t item) noexcept override { session_.overdue(segment, item); }
  bool asks_times() const noexcept override { return session_.asks_times(); }
  void timed(std::size_t segment, std::uint64_t item, const device_times& times) noexcept override {
    session_.timed(segment, item, times);
  }
  // The session's word is the last touch.
  void complete(std::size_t segment, std::uint64_t item) noexcept override {
    items_.fetch_sub(1, std::memory_order_relaxed);
    session_.complete(segment, item);
  }
  void fail(std::size_t segment, std::uint64_t item, std::exception_ptr why) noexcept override {
    items_.fetch_sub(1, std::memory_order_relaxed);
    session_.fail(segment, item, std::move(why));
  }

  device_client& session_;
  const std::size_t device_;
  fixed_array<void*> kept_;
  atomic<std::size_t> items_{0};
  bool has_unflushed_ = false;
  owner<device_lane> lane_;
};

class equal_queues final : public device_queue {
 public:
  explicit equal_queues(fixed_array<owner<device_queue>> queues) : queues_(std::move(queues)) {}

  void prepare(const device_segment& segment) override {
    most_units_ = segment.units.size() > most_units_ ? segment.units.size() : most_units_;
    for (auto& queue : queues_) queue->prepare(segment);
  }
  owner<device_parameters> bring(const device_kernel& kernel) override {
    auto* const all = new equal_parameters(queues_.size());
    owner<device_parameters> owned(all);
    for (std::size_t i = 0; i < queues_.size(); ++i) all->of[i] = queues_[i]->bring(kernel);
    return owned;
  }
  std::unique_ptr<device_lane> open(std::size_t segment, std::size_t slots, device_client& client) override {
    return std::make_unique<lane>(*this, segment, slots, client);
  }

 private:
  class lane final : public device_lane {
   public:
    lane(equal_queues& of, std::size_t segment, std::size_t slots, device_client& client)
        : ways_(of.queues_.size(),
                [&](std::size_t i) {
                  owner<equal_way> way(new equal_way(client, i, of.most_units_));
                  way->open(*of.queues_[i], segment, slots);
                  return way;
                }),
          last_(ways_.size() - 1) {}

    /// Of those with the fewest items the first behind the last that had one.
    void submit(std::uint64_t item) override {
      std::size_t best = last_, fewest = ~std::size_t{0};
      for (std::size_t k = 1; k <= ways_.size(); ++k) {
        const std::size_t i = (last_ + k) % ways_.size(), items = ways_[i]->items();
        if (items >= fewest) continue;
        best = i;
        fewest = items;
      }
      last_ = best;
      ways_[best]->submit(item);
    }
    void flush() noexcept override {
      for (auto& way : ways_) way->flush();
    }
    void cancel() noexcept override {
      for (auto& way : ways_) way->cancel();
    }
    void trace(const trace_context& of) noexcept override {
      for (auto& way : ways_) way->trace(of);
    }

   private:
    fixed_array<owner<equal_way>> ways_;
    std::size_t last_;
  };

  fixed_array<owner<device_queue>> queues_;
  std::size_t most_units_ = 0;
};

/// The backend that a device brings, if any.
template <class Device>
struct brings_backend_of {};
template <class Device>
  requires requires { typename device_driver<Device>::backend; }
struct brings_backend_of<Device> {
  using backend = typename device_driver<Device>::backend;
};

}  // namespace detail

template <class First, class... Rest>
  requires requires {
    device_driver<First>::open();
    (device_driver<Rest>::open(), ...);
  }
struct device_driver<any_of<First, Rest...>> : detail::brings_backend_of<First> {
  static std::unique_ptr<detail::device_queue> open() {
    detail::fixed_array<detail::owner<detail::device_queue>> queues(1 + sizeof...(Rest));
    std::size_t next = 0;
    const auto add = [&](std::unique_ptr<detail::device_queue> queue) {
      queues[next++] = detail::owner<detail::device_queue>(queue.release());
    };
    add(device_driver<First>::open());
    (add(device_driver<Rest>::open()), ...);
    return std::make_unique<detail::equal_queues>(std::move(queues));
  }
};

}  // namespace levada
