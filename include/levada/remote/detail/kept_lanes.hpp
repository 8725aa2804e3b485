// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/kept_lanes.hpp: the lanes of a device elsewhere, and the one thread that looks after them. Lanes of a
// session that has ended may serve another: for a while they are kept.

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
    auto made = known(std::move(lane));
    look();
    return made;
  }
  /// One that its session has done with, and for which `fits(lane)`, for `serve(lane)`. Null: there is none.
  template <class Fits, class Serve>
  std::unique_ptr<device_lane> use_again(Fits fits, Serve serve) {
    std::unique_ptr<Lane> lane;
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = idle_.size(); i-- != 0 && !lane;)  // the last: others are there for longer
        if (idle_[i].lane->may_serve_again() && fits(*idle_[i].lane)) {
          lane = std::move(idle_[i].lane);
          idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    if (!lane) return nullptr;
    serve(*lane);
    Lane& served = *lane;
    auto made = known(std::move(lane));
    if (!served.may_serve_again()) look();  // it was lost while the thread did not know it
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
    ~known_lane() override { by_.take_back(std::move(lane_)); }
    void submit(std::uint64_t item) override { lane_->submit(item); }
    void cancel() noexcept override { lane_->cancel(); }
    void trace(const trace_context& of) noexcept override { lane_->trace(of); }
    Lane& lane() { return *lane_; }

   private:
    kept_lanes& by_;
    std::unique_ptr<Lane> lane_;
  };

  static constexpr bool keeps_idle = requires(Lane& lane) { lane.may_serve_again(); };
  struct idle_lane {
    std::unique_ptr<Lane> lane;
    time_point until;
  };

  std::unique_ptr<known_lane> known(std::unique_ptr<Lane> lane) {
    auto made = std::make_unique<known_lane>(*this, std::move(lane));
    const std::lock_guard lock(mutex_);
    lanes_.push_back(&made->lane());
    idle_.reserve(idle_.size() + lanes_.size());  // to be kept each finds its place
    return made;
  }
  void take_back(std::unique_ptr<Lane> lane) {
    std::unique_lock lock(mutex_);
    std::erase(lanes_, lane.get());
    changed_.wait(lock, [&] { return at_ != lane.get(); });
    if constexpr (keeps_idle) {
      if (!lane->may_serve_again()) return;
      const time_point until = std::chrono::steady_clock::now() + Lane::longest_idle;
      idle_.push_back({std::move(lane), until});
      if (until >= looks_at_) return;
      has_changed_ = true;
      changed_.notify_all();
    }
  }
  /// Ends those that nobody wanted for too long, or that are lost. Says when the next is due.
  time_point end_idle(std::unique_lock<std::mutex>& lock) {
    time_point next = never;
    if constexpr (keeps_idle) {
      std::vector<std::unique_ptr<Lane>> ended;
      const time_point now = std::chrono::steady_clock::now();
      for (idle_lane& i : idle_) {
        if (i.until <= now || !i.lane->may_serve_again())
          ended.push_back(std::move(i.lane));
        else
          next = std::min(next, i.until);
      }
      std::erase_if(idle_, [](const idle_lane& i) { return i.lane == nullptr; });
      lock.unlock();
      ended.clear();
      lock.lock();
    }
    return next;
  }

  void keep_all() noexcept {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      has_changed_ = false;
      looks_at_ = time_point::min();
      time_point next = end_idle(lock);
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        at_ = lanes_[i];
        lock.unlock();
        const time_point due = keep_(*at_);
        lock.lock();
        next = std::min(next, due);
        at_ = nullptr;
        changed_.notify_all();
      }
      looks_at_ = next;
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
  time_point looks_at_ = time_point::min();  ///< when the thread looks again by itself
  std::vector<idle_lane> idle_;
  std::thread thread_;
};

}  // namespace levada::detail
