// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/simulated.hpp: a device for tests. It computes in order on a thread of its own, in memory of its own, and reports
// out of band and out of order, late, or with a failure, as a GPU may: so the backbone is exercised where no GPU is.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/error.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada {

/// How a simulated device behaves; may be changed while it runs.
struct simulation {
  detail::atomic<std::int64_t> delay_ns{0};       ///< before an item is reported, at most: each draws its own
  detail::atomic<std::size_t> reorder_window{1};  ///< reports held back and given in random order; 1: in order
  detail::atomic<bool (*)(std::uint64_t item)> fails{nullptr};  ///< true: the item's work is lost
  detail::atomic<bool> lost{false};                             ///< the device is gone: every item fails

  /// What was copied to its memory, and back.
  struct copies {
    detail::atomic<std::uint64_t> count{0}, bytes{0};

    void add(std::size_t more) {
      count.fetch_add(1);
      bytes.fetch_add(more);
    }
    void reset() { count = 0, bytes = 0; }
  };
  copies uploads, downloads;

  void reset() {
    delay_ns = 0;
    reorder_window = 1;
    fails = nullptr;
    lost = false;
    uploads.reset();
    downloads.reset();
  }
};

/// The behaviour of `simulated<Index>`, for all deployments of the process.
template <int Index>
simulation& simulated_device() {
  static simulation s;
  return s;
}

namespace detail {

/// The memory that the items of a segment have on the device, one after the other: nothing of one is there for the
/// next.
class simulated_memory final : public computed_memory {
 public:
  simulated_memory(std::size_t bytes, std::size_t alignment, simulation& counts)
      : bytes_(bytes), memory_(bytes, alignment), counts_(counts) {}

  void forget() {
    if (bytes_ != 0) std::memset(memory_.get(), 0xa5, bytes_);
  }
  std::byte* begin() noexcept override { return memory_.get(); }
  void upload(std::size_t at, const void* from, std::size_t bytes) noexcept override {
    std::memcpy(memory_.get() + at, from, bytes);
    counts_.uploads.add(bytes);
  }
  void download(void* to, std::size_t at, std::size_t bytes) noexcept override {
    std::memcpy(to, memory_.get() + at, bytes);
    counts_.downloads.add(bytes);
  }

 private:
  std::size_t bytes_;
  arena_bytes memory_;
  simulation& counts_;
};

struct simulated_job {
  device_client* client = nullptr;
  std::size_t segment = 0;
  std::uint64_t item = 0;
  simulated_memory* memory = nullptr;
};

class simulated_queue final : public device_queue {
 public:
  simulated_queue(int index, simulation& behaviour)
      : index_(index), behaviour_(behaviour), thread_(start_thread("a simulated device", [this] { serve(); })) {}
  ~simulated_queue() override { end_thread(thread_, mutex_, stopping_, changed_); }

  void prepare(const device_segment& segment) override {
    sizes_[segment.index] = {segment.inner_bytes, segment.alignment};
  }
  std::unique_ptr<device_lane> open(std::size_t segment, std::size_t, device_client& client) override {
    return std::make_unique<lane>(*this, segment, client);
  }

 private:
  class lane final : public device_lane {
   public:
    lane(simulated_queue& queue, std::size_t segment, device_client& client)
        : queue_(queue), segment_(segment), client_(client), memory_(queue.memory_of(segment)) {}
    void submit(std::uint64_t item) override { queue_.submit({&client_, segment_, item, &memory_}); }

   private:
    simulated_queue& queue_;
    std::size_t segment_;
    device_client& client_;
    simulated_memory memory_;
  };

  struct memory_size {
    std::size_t bytes = 0, alignment = 64;
  };
  simulated_memory memory_of(std::size_t segment) {
    const auto known = sizes_.find(segment);
    const memory_size size = known != sizes_.end() ? known->second : memory_size{};
    return {size.bytes, size.alignment, behaviour_};
  }

  void submit(const simulated_job& job) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(job);
    }
    changed_.notify_one();
  }

  void serve() {
    std::vector<simulated_job> taken, held;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        if (held.empty()) changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
        if (waiting_.empty() && held.empty()) return;
        taken.swap(waiting_);
      }
      for (const simulated_job& job : taken) {
        if (behaviour_.lost.load()) {
          job.client->fail(job.segment, job.item, failure("was lost", job.item));
          continue;
        }
        const auto fails = behaviour_.fails.load();
        if (fails != nullptr && fails(job.item)) {
          job.client->fail(job.segment, job.item, failure("failed", job.item));
          continue;
        }
        job.memory->forget();
        job.client->execute(job.segment, job.item, *job.memory);
        held.push_back(job);
        report(held, behaviour_.reorder_window.load());
      }
      if (taken.empty()) report(held, 1);  // nothing more came while these were held back
      taken.clear();
    }
  }

  /// Reports held items, drawn at random, until fewer than `window` are left.
  void report(std::vector<simulated_job>& held, std::size_t window) {
    while (held.size() >= (window == 0 ? 1 : window)) {
      const std::int64_t delay = behaviour_.delay_ns.load();
      if (delay > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(draw() % static_cast<std::uint64_t>(delay)));
      const std::size_t i = static_cast<std::size_t>(draw() % held.size());
      const simulated_job job = held[i];
      held[i] = held.back();
      held.pop_back();
      job.client->complete(job.segment, job.item);
    }
  }

  std::exception_ptr failure(const char* what, std::uint64_t item) const noexcept {
    try {
      return std::make_exception_ptr(device_error("levada: device simulated<" + std::to_string(index_) + "> " + what +
                                                  " at item " + std::to_string(item)));
    } catch (...) {  // no memory to say so
      return std::current_exception();
    }
  }

  std::uint64_t draw() { return (random_ = random_ * 6364136223846793005u + 1442695040888963407u) >> 33; }

  const int index_;
  simulation& behaviour_;
  std::map<std::size_t, memory_size> sizes_;  ///< of the segments
  std::uint64_t random_ = 1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<simulated_job> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace detail

template <int Index, class... Options>
struct device_driver<simulated<Index, Options...>> {
  static std::unique_ptr<detail::device_queue> open() {
    return std::make_unique<detail::simulated_queue>(Index, simulated_device<Index>());
  }
};

}  // namespace levada
