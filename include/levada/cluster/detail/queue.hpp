// SPDX-License-Identifier: Apache-2.0
#pragma once
// cluster/detail/queue.hpp: a rank as a deployment uses it, and the thread that looks for results where no caller waits
// for them.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <levada/cluster/detail/device.hpp>
#include <levada/cluster/detail/kernel.hpp>
#include <levada/cluster/detail/lane.hpp>
#include <levada/cluster/detail/message.hpp>
#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

class mpi_queue final : public device_queue {
 public:
  mpi_queue() : thread_(start_thread("MPI ranks", [this]() noexcept { look_for_results(); })) {}
  ~mpi_queue() override { end_thread(thread_, mutex_, is_over_, changed_); }

  void prepare(const device_segment& segment) override {
    const auto& kernel = static_cast<const mpi_kernel&>(*segment.units[0].kernel);  // its one part
    ways_[segment.index] = {&kernel, greet(*kernel.way)};
  }
  std::unique_ptr<device_lane> open(std::size_t segment, std::size_t slots, device_client& client) override {
    const way& to = ways_.at(segment);
    if (slots > most_slots_of_rank)
      end_all_ranks(to.kernel->way->world->rank(), "a session over ranks has more than 65,536 slots");
    auto made = std::make_unique<kept_lane>(*this, segment, slots, to.credits, client, *to.kernel);
    const std::lock_guard lock(mutex_);
    lanes_.push_back(&made->lane());
    return made;
  }

 private:
  struct way {
    const mpi_kernel* kernel = nullptr;
    std::size_t credits = 0;
  };

  /// The items that the rank takes at once. Throws remote_error where it does not answer or is another program.
  static std::size_t greet(const mpi_way& to) {
    mpi_world& world = *to.world;
    const std::string who = "levada: rank " + std::to_string(to.rank);
    if (to.rank >= world.size())
      throw remote_error(who + " has a part of the pipeline, and mpirun started " + std::to_string(world.size()) +
                         " ranks");
    {
      const std::lock_guard lock(world.calls());
      send_word(world, to.rank, word_kind::hello, 0, to.identity);
    }
    const auto until = std::chrono::steady_clock::now() + to.patience;
    do {
      {
        const std::lock_guard lock(world.calls());
        int is_there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        world.check(MPI_Improbe(to.rank, words_tag, world.comm(), &is_there, &message, &status));
        if (is_there != 0) {
          const word answer = receive_word(world, message, status);
          if (answer.kind == word_kind::welcome) return static_cast<std::size_t>(answer.number);
          throw remote_error(who + ": " + answer.text);
        }
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    } while (std::chrono::steady_clock::now() < until);
    throw remote_error(who + " does not answer: it has to call lv::serve");
  }

  /// A lane that the thread knows while it is there.
  class kept_lane final : public device_lane {
   public:
    kept_lane(mpi_queue& by, std::size_t segment, std::size_t slots, std::size_t credits, device_client& client,
              const mpi_kernel& kernel)
        : by_(by), lane_(segment, slots, credits, client, kernel) {}
    ~kept_lane() override { by_.forget(lane_); }
    void submit(std::uint64_t item) override {
      lane_.submit(item);
      by_.wake();
    }
    bool is_silent() const override { return true; }
    bool look() noexcept override {
      by_.looks_.store(by_.looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return lane_.look(true);
    }
    mpi_lane& lane() { return lane_; }

   private:
    mpi_queue& by_;
    mpi_lane lane_;
  };

  /// Something is under way.
  void wake() noexcept {
    if (!is_asleep_.load()) return;
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }
  void forget(mpi_lane& lane) {
    std::unique_lock lock(mutex_);
    std::erase(lanes_, &lane);
    changed_.wait(lock, [&] { return at_ != &lane; });
  }

  /// While no caller looks. Sleeps some milliseconds behind the last item, so that sessions need not wake it for each.
  void look_for_results() noexcept {
    using clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds longest_idle{5};
    constexpr std::chrono::microseconds between{50};
    clock::time_point last = clock::now();
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      const bool others_look = seen != looks_.load(std::memory_order_relaxed);
      seen = looks_.load(std::memory_order_relaxed);
      bool again = false;
      for (std::size_t i = 0; !others_look && i < lanes_.size(); ++i) {
        if (!lanes_[i]->waits()) continue;
        at_ = lanes_[i];
        lock.unlock();
        again = at_->look(false) || again;  // it sleeps where another thread calls MPI
        lock.lock();
        at_ = nullptr;
        changed_.notify_all();
      }
      if (again) continue;
      if (has_waiting()) last = clock::now();
      if (clock::now() - last < longest_idle) {
        changed_.wait_for(lock, between, [this] { return is_over_; });
        continue;
      }
      is_asleep_.store(true);
      changed_.wait(lock, [this] { return is_over_ || has_waiting(); });
      is_asleep_.store(false);
    }
  }
  bool has_waiting() const {
    return std::any_of(lanes_.begin(), lanes_.end(), [](const mpi_lane* l) { return l->waits(); });
  }

  std::map<std::size_t, way> ways_;  ///< of the segments
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<mpi_lane*> lanes_;
  mpi_lane* at_ = nullptr;  ///< the one that the thread looks at
  bool is_over_ = false;
  std::atomic<bool> is_asleep_{false};
  std::atomic<std::uint64_t> looks_{0};  ///< of callers
  std::thread thread_;
};

}  // namespace levada::detail

namespace levada {

template <int Rank, class... Devices>
struct device_driver<mpi<Rank, Devices...>> {
  using backend = detail::mpi_backend;
  static std::unique_ptr<detail::device_queue> open() { return std::make_unique<detail::mpi_queue>(); }
};

}  // namespace levada
