// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/node_work.hpp: the session of an app behind a driver's stream. Items are constructed in their slots,
// and results sent from there.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/remote/detail/node_stream.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

template <class App>
class node_work final : public node_stream {
  using item = typename App::item;
  using output = typename App::output;

 public:
  node_work(stream_keeper& keeper, std::string_view identity, std::unique_ptr<connection> by, const App& app)
      : node_stream(keeper, identity, std::move(by)), app_(app) {}
  ~node_work() override {
    if (thread_.joinable()) thread_.join();
    end_connection();
  }

 private:
  using session_type = decltype(std::declval<const App&>().open());
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds longest_short{20};

  std::size_t begin() override {
    session_.emplace(app_.open());
    session_->allow_multiple_producers();
    numbers_ = fixed_array<std::uint64_t>(App::plan.slots);
    thread_ = start_thread("the results of a driver", [this]() noexcept { give_results(); });
    return numbers_.size();
  }
  void take(std::uint64_t number, wire_reader& from) override {
    if (session_->credits() == 0) throw wire_error("levada: a driver sends more items than were asked for");
    const std::uint64_t pushed = pushed_.load();
    numbers_[pushed % numbers_.size()] = number;
    session_->emplace([&] { return item_from_wire<item>(from); });
    pushed_.store(pushed + 1);
    if (!give_here(pushed)) ring();
  }
  void end() noexcept override {
    if (!session_) return;
    session_->cancel();
    ring();
  }

  /// An item that is alone, where the one before was short, is worked on by the thread that received it: to wake
  /// another would take longer.
  bool give_here(std::uint64_t pushed) noexcept {
    if (!is_short_.load() || popped_.load() != pushed) return false;
    const std::unique_lock lock(popping_, std::try_to_lock);
    return lock && give_next();
  }
  void ring() noexcept {
    rung_.fetch_add(1);
    rung_.notify_one();
  }
  void give_results() noexcept {
    for (std::uint32_t heard = 0;;) {
      rung_.wait(heard);
      heard = rung_.load();
      const std::lock_guard lock(popping_);
      while (popped_.load() != pushed_.load())
        if (!give_next()) return;
      if (session_->is_over()) return;
    }
  }
  /// False: nothing more comes.
  bool give_next() noexcept {
    try {
      const auto begun = clock::now();
      auto result = session_->pop();
      if (!result) return false;
      is_short_.store(clock::now() - begun < longest_short);
      const std::uint64_t number = numbers_[popped_.load() % numbers_.size()];
      if (result->has_value())
        give(number, **result);
      else
        send_failure(number, result->error());
    } catch (...) {  // no memory, or a session that can do no more: the driver finds another
      close();
      return false;
    }
    popped_.fetch_add(1);
    return true;
  }
  void give(std::uint64_t number, const output& value) {
    if constexpr (goes_as_it_lies<output>) {
      send_value(number, std::as_bytes(std::span(&value, 1)));
    } else {
      try {
        wire_writer to(written_, wire<output>::most_bytes);
        wire<output>::write(to, value);
      } catch (...) {
        return send_failure(number, std::current_exception());
      }
      send_value(number, written_);
    }
  }

  const App& app_;
  std::optional<session_type> session_;
  fixed_array<std::uint64_t> numbers_;  ///< the driver's, of the items in flight
  std::atomic<std::uint64_t> pushed_{0}, popped_{0};
  std::atomic<std::uint32_t> rung_{0};
  std::mutex popping_;
  std::atomic<bool> is_short_{false};  ///< of the last item
  std::vector<std::byte> written_;
  std::thread thread_;
};

}  // namespace levada::detail
