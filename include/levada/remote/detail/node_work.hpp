// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/node_work.hpp: the session of an app behind a driver's stream.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <levada/remote/detail/filtering_session.hpp>
#include <levada/remote/detail/node_stream.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

/// Where a driver's items have a deadline, what becomes of each is asked by an item, since some have no result.
template <class App>
class node_work final : public node_stream {
 public:
  node_work(stream_keeper& keeper, std::string_view identity, std::unique_ptr<connection> by, const App& app,
            std::size_t traced_events)
      : node_stream(keeper, identity, std::move(by)),
        usual_(app, *this),
        in_time_(app, *this),
        traced_events_(traced_events) {}
  ~node_work() override {
    usual_.join();
    in_time_.join();
    end_connection();
  }

  std::optional<session_trace> traced() override {
    if (!is_traced_.load()) return {};
    return of_driver([](auto& s) { return s.session().traced(); });
  }

 private:
  using item_type = typename App::item;

  /// What `f` gives for the session that is open.
  template <class F>
  auto of_driver(F f) {
    return has_deadline_ ? f(in_time_) : f(usual_);
  }

  std::size_t begin(std::chrono::nanoseconds deadline) override {
    has_deadline_ = deadline.count() != 0;
    return has_deadline_ ? in_time_.open(deadline) : usual_.open();
  }
  void take(std::uint64_t number, time_point captured, wire_reader& from) override {
    of_driver([&](auto& s) {
      s.take(
          number, [&] { return item_from_wire<item_type>(from); }, captured);
    });
  }
  void trace(const trace_context& of) override {
    if (traced_events_ == 0) return;
    of_driver([&](auto& s) { s.session().trace(of, traced_events_); });
    is_traced_.store(true);
  }
  void end() noexcept override {
    usual_.end();
    in_time_.end();
  }

  session_of_driver<App, node_stream> usual_;
  filtering_session<App, node_stream> in_time_;
  bool has_deadline_ = false;
  const std::size_t traced_events_;
  atomic<bool> is_traced_{false};
};

}  // namespace levada::detail
