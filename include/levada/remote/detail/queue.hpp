// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/queue.hpp: a remote device as a deployment uses it: the lanes of its sessions, and the one thread that
// connects them and connects them again.

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/lane.hpp>

namespace levada::detail {

class remote_queue final : public device_queue, lane_keeper {
 public:
  remote_queue() : thread_(start_thread("a remote device", [this] { keep_lanes(); })) {}
  ~remote_queue() override {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void prepare(const device_segment& segment) override {
    const auto& kernel = static_cast<const remote_kernel&>(*segment.units[0].kernel);  // its one part
    check_nodes(*kernel.way, longest_message(kernel.item.most_bytes, kernel.result.most_bytes));
    kernels_[segment.index] = &kernel;
  }

  std::unique_ptr<device_lane> open(std::size_t segment, std::size_t slots, device_client& client) override {
    auto made = std::make_unique<kept_lane>(*this, segment, slots, client, *kernels_.at(segment));
    {
      const std::lock_guard lock(mutex_);
      lanes_.push_back(made->get());
    }
    look_at_lanes();
    return made;
  }

 private:
  /// A lane that the thread knows while it is there.
  class kept_lane final : public device_lane {
   public:
    kept_lane(remote_queue& by, std::size_t segment, std::size_t slots, device_client& client,
              const remote_kernel& kernel)
        : by_(by), lane_(by, segment, slots, client, kernel) {}
    ~kept_lane() override { by_.forget(lane_); }
    void submit(std::uint64_t item) override { lane_.submit(item); }
    remote_lane* get() { return &lane_; }

   private:
    remote_queue& by_;
    remote_lane lane_;
  };

  void look_at_lanes() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      has_changed_ = true;
    }
    changed_.notify_all();
  }
  void forget(remote_lane& lane) {
    std::unique_lock lock(mutex_);
    std::erase(lanes_, &lane);
    changed_.wait(lock, [&] { return at_ != &lane; });
  }

  void keep_lanes() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      has_changed_ = false;
      auto next = remote_lane::never;
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        at_ = lanes_[i];
        lock.unlock();
        const auto now = std::chrono::steady_clock::now();
        if (at_->due() <= now) at_->keep(now);
        const auto due = at_->due();
        lock.lock();
        next = std::min(next, due);
        at_ = nullptr;
        changed_.notify_all();
      }
      const auto looks = [this] { return is_over_ || has_changed_; };
      if (next == remote_lane::never)
        changed_.wait(lock, looks);
      else
        changed_.wait_until(lock, next, looks);
    }
  }

  std::map<std::size_t, const remote_kernel*> kernels_;  ///< of the segments
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<remote_lane*> lanes_;
  remote_lane* at_ = nullptr;  ///< the one that the thread looks at
  bool has_changed_ = false, is_over_ = false;
  std::thread thread_;
};

}  // namespace levada::detail

namespace levada {

template <fixed_string Name, class... Devices>
struct device_driver<remote<Name, Devices...>> {
  using backend = detail::remote_backend;
  static std::unique_ptr<detail::device_queue> open() { return std::make_unique<detail::remote_queue>(); }
};

}  // namespace levada
