// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/kept_lanes.hpp: the lanes of a device elsewhere, and the one thread that looks after them.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/start_thread.hpp>

namespace levada::detail {

template <class Lane>
class kept_lanes {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// Nothing has to be done until somebody calls `look`.
  static constexpr time_point never = time_point::max();
  /// Does what has to be done for a lane, and returns when it has to be called again.
  using keep_function = time_point (*)(Lane&);

  kept_lanes(const char* what, keep_function keep)
      : keep_(keep), thread_(start_thread(what, [this]() noexcept { keep_all(); })) {}
  ~kept_lanes() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::unique_ptr<device_lane> add(std::unique_ptr<Lane> lane) {
    auto made = std::make_unique<known_lane>(*this, std::move(lane));
    {
      const std::lock_guard lock(mutex_);
      lanes_.push_back(&made->lane());
    }
    look();
    return made;
  }
  /// The thread looks at all lanes.
  void look() noexcept {
    {
      const std::lock_guard lock(mutex_);
      has_changed_ = true;
    }
    changed_.notify_all();
  }

 private:
  /// A lane that the thread knows while it is there.
  class known_lane final : public device_lane {
   public:
    known_lane(kept_lanes& by, std::unique_ptr<Lane> lane) : by_(by), lane_(std::move(lane)) {}
    ~known_lane() override { by_.forget(*lane_); }
    void submit(std::uint64_t item) override { lane_->submit(item); }
    void cancel() noexcept override { lane_->cancel(); }
    void trace(const trace_context& of) noexcept override { lane_->trace(of); }
    Lane& lane() { return *lane_; }

   private:
    kept_lanes& by_;
    std::unique_ptr<Lane> lane_;
  };

  void forget(Lane& lane) {
    std::unique_lock lock(mutex_);
    std::erase(lanes_, &lane);
    changed_.wait(lock, [&] { return at_ != &lane; });
  }

  void keep_all() noexcept {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      has_changed_ = false;
      time_point next = never;
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        at_ = lanes_[i];
        lock.unlock();
        const time_point due = keep_(*at_);
        lock.lock();
        next = std::min(next, due);
        at_ = nullptr;
        changed_.notify_all();
      }
      const auto looks = [this] { return is_over_ || has_changed_; };
      if (next == never)
        changed_.wait(lock, looks);
      else
        changed_.wait_until(lock, next, looks);
    }
  }

  const keep_function keep_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Lane*> lanes_;
  Lane* at_ = nullptr;  ///< the one that the thread looks at
  bool has_changed_ = false, is_over_ = false;
  std::thread thread_;
};

}  // namespace levada::detail
