// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/session_keeper.hpp: a driver's hold on a session with a name: on a thread of its own it tells the
// servers how far the session is, and hears of them where another driver has taken it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <levada/core/detail/start_thread.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/session_progress.hpp>
#include <levada/fleet/detail/session_record.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

class session_keeper {
 public:
  /// Takes the session: a driver that has it finds it lost. Throws remote_error where the servers do not let it.
  session_keeper(const nats_connection& by, const session_names& names, const jetstream& to,
                 std::shared_ptr<session_progress> progress)
      : by_(by), record_(by, names, to, progress->name()), progress_(std::move(progress)) {
    record_.take();
    written_ = record_.place();
    done_written_ = written_.done;
  }
  virtual ~session_keeper() { end(); }
  session_keeper(const session_keeper&) = delete;
  session_keeper& operator=(const session_keeper&) = delete;

  /// The number of the first item.
  std::uint64_t first() const { return progress_->first(); }
  std::uint64_t done() const { return progress_->done(); }
  bool is_lost() const { return progress_->is_lost(); }
  std::exception_ptr loss() const noexcept {
    try {
      progress_->check();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }
  void lose() { progress_->lose(by_.who() + ": another driver has taken the session `" + progress_->name() + "`"); }
  /// For who finds that the servers do not know its consumer: whether they have said since it was asked last that the
  /// session is this driver's. Else they are asked.
  bool is_confirmed() {
    bool is = false;
    progress_->wake([&] { is = std::exchange(is_confirmed_, false), is_doubted_ = !is; });
    return is;
  }

  /// All is there that the session needs. `place`: how far it is.
  void begin(const session_place& place) {
    needs_ = place.needed;
    record_.forget_consumers();  // they are gone
    progress_->join(place.done, place.needed);
    thread_ = start_thread("a session with a name", [this]() noexcept { keep_record(); });
  }
  /// How far it was with the driver before.
  const session_place& before() const { return record_.place(); }
  /// Throws remote_error where the caller goes back before what is done.
  void check_goes_on() const {
    if (progress_->from().value_or(before().done) < before().done)
      throw remote_error(by_.who() + ": the session `" + progress_->name() + "` cannot go back before item " +
                         std::to_string(before().done) + ": another had its partitions since");
  }
  /// What the next driver goes on with, where that is not the first whose outcome is not done.
  void set_needed(std::uint64_t item) {
    if (item <= needs_) return;
    progress_->wake([&] { needs_ = item, is_moved_ = true; });
  }
  /// As the servers know it.
  std::uint64_t done_written() const { return done_written_.load(); }

 protected:
  session_record& record() { return record_; }
  const session_progress& progress() const { return *progress_; }
  void end() {
    if (!thread_.joinable()) return;
    progress_->wake([this] { is_over_ = true; });
    thread_.join();
  }

 private:
  /// Between two writings: what was popped since the last comes again where the driver dies.
  static constexpr std::chrono::milliseconds between{5}, patience{100};

  /// The servers know that it is done.
  virtual void done_before(std::uint64_t /*item*/) noexcept {}

  void keep_record() noexcept {
    for (;;) {
      const auto ends = [this] { return is_over_; };
      session_place now;
      now.done = std::max(written_.done, progress_->wait_for_more(
                                             written_.done, [this] { return is_over_ || is_doubted_ || is_moved_; }));
      bool over = false;
      progress_->wake([&] { over = is_over_, is_moved_ = false, now.needed = std::min(needs_, now.done); });
      const bool is_more = now.done > written_.done || now.needed > written_.needed;
      if (over && !is_more) return;
      const session_record::writing is = is_more ? record_.write(now) : record_.look();
      if (is == session_record::writing::lost) return lose();
      progress_->wake([&] {
        if (is == session_record::writing::done) is_confirmed_ = std::exchange(is_doubted_, false);
      });
      if (is == session_record::writing::done && is_more) {
        written_ = now;
        done_written_ = now.done;
        done_before(now.done);
      }
      if (over) return;
      progress_->wait_for(is == session_record::writing::done ? between : patience, ends);
    }
  }

  const nats_connection& by_;
  session_record record_;
  const std::shared_ptr<session_progress> progress_;
  session_place written_;    ///< of the thread
  std::uint64_t needs_ = 0;  ///< by the lock of the progress
  bool is_over_ = false, is_doubted_ = false, is_confirmed_ = false, is_moved_ = false;  ///< the same
  std::atomic<std::uint64_t> done_written_{0};
  std::thread thread_;
};

}  // namespace levada::detail
