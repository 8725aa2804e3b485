// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/node_work.hpp: the session of an app behind a driver's stream. Items are constructed in their slots,
// and results sent from there.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/remote/detail/node_stream.hpp>
#include <levada/remote/wire.hpp>

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

  std::size_t begin() override {
    session_.emplace(app_.open());
    session_->allow_multiple_producers();
    numbers_ = fixed_array<std::uint64_t>(App::plan.slots);
    thread_ = start_thread("the results of a driver", [this]() noexcept { give_results(); });
    return numbers_.size();
  }
  void take(std::uint64_t number, wire_reader& from) override {
    if (session_->credits() == 0) throw wire_error("levada: a driver sends more items than were asked for");
    numbers_[pushed_ % numbers_.size()] = number;
    session_->emplace([&] { return item_from_wire<item>(from); });
    ++pushed_;
  }
  void end() noexcept override {
    if (session_) session_->cancel();
  }

  void give_results() noexcept {
    try {
      for (std::uint64_t popped = 0;; ++popped) {
        auto result = session_->pop();
        if (!result) return;
        const std::uint64_t number = numbers_[popped % numbers_.size()];
        if (result->has_value())
          give(number, **result);
        else
          send_failure(number, result->error());
      }
    } catch (...) {  // no memory, or a session that can do no more: the driver finds another
      close();
    }
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
  std::uint64_t pushed_ = 0;
  std::vector<std::byte> written_;
  std::thread thread_;
};

}  // namespace levada::detail
