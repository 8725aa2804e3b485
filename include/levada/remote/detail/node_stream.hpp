// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/node_stream.hpp: one session of a driver, as its node has it: the greeting, the items that come, and
// the outcomes that go back.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <levada/core/detail/log.hpp>
#include <levada/remote/detail/far_clock.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/identity.hpp>
#include <levada/remote/detail/transport.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Hears of streams that have ended.
class stream_keeper {
 public:
  virtual void look_at_streams() noexcept = 0;

 protected:
  ~stream_keeper() = default;
};

/// The derived class has the session, and the thread that takes its results.
class node_stream : public connection_events {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  node_stream(stream_keeper& keeper, std::string_view identity, std::unique_ptr<connection> by)
      : keeper_(keeper), identity_(identity), connection_(std::move(by)) {}
  virtual ~node_stream() = default;

  /// Its connection is closed, and nothing more is to be waited for but its end.
  bool is_over() const { return is_over_.load(); }
  bool is_greeted() const { return is_greeted_.load(); }
  time_point begun() const { return begun_; }
  std::string peer() const { return connection_->peer(); }
  void close() noexcept { connection_->close(); }
  /// What is kept of a session that is part of a trace; else empty. Any thread, while this is there.
  virtual std::optional<session_trace> traced() = 0;

  void received(wire_reader::pieces message) noexcept final {
    if (is_refused_) return;
    try {
      wire_reader from(message);
      const frame_header header = frame_header::read(from);
      if (!is_greeted_.load()) {
        if (header.kind != frame_kind::hello) throw wire_error("levada: the first message is no greeting");
        greet(text_from_wire(from, most_text_bytes), header.item);
      } else if (header.kind == frame_kind::item) {
        const time_point captured = capture_from_wire(header, from);
        take(header.item, captured, from);
      } else if (header.kind == frame_kind::trace) {
        trace(trace_from_wire(from));
      } else if (header.kind == frame_kind::clock) {
        send(frame_kind::clock, time_on_wire(std::chrono::steady_clock::now()), {}, other_tag);
      } else {
        throw wire_error("levada: a driver sends what only a node does");
      }
    } catch (const std::exception& e) {
      if (!is_greeted_.load()) return refuse(e.what());
      if (is_logged()) log(log_level::warning, "a driver at " + peer() + " is closed: " + e.what());
      close();
    }
  }
  void released(std::uint64_t tag) noexcept final {
    if (tag != held_tag) return;
    is_held_.store(false);
    is_held_.notify_one();
  }
  void closed(const std::string&) noexcept final {
    end();
    is_over_.store(true);
    keeper_.look_at_streams();
  }

  /// Returns when the payload is looked at no more. By the thread that takes results.
  void send_value(std::uint64_t item, std::span<const std::byte> payload) {
    is_held_.store(true);
    send(frame_kind::value, item, payload, held_tag);
    is_held_.wait(true);
  }
  void send_failure(std::uint64_t item, const std::exception_ptr& why) {
    failure_ = failure_text(why);
    is_held_.store(true);
    send(frame_kind::failure, item, std::as_bytes(std::span(failure_)), held_tag);
    is_held_.wait(true);
  }
  void send_filtered(std::uint64_t item) { send(frame_kind::filtered, item, {}, other_tag); }
  void send_overdue(std::uint64_t item) { send(frame_kind::overdue, item, {}, other_tag); }
  void give_up() noexcept { close(); }

 protected:
  /// Opens the session; says how many items it takes. `deadline`: 0 where there is none.
  virtual std::size_t begin(std::chrono::nanoseconds deadline) = 0;
  virtual void take(std::uint64_t item, time_point captured, wire_reader& from) = 0;
  virtual void trace(const trace_context& of) = 0;
  /// Nothing more comes, and nobody takes what is there.
  virtual void end() noexcept = 0;

  /// Behind the last of these the connection has nothing of this stream.
  void end_connection() noexcept { connection_.reset(); }

 private:
  static constexpr std::uint64_t held_tag = 1, other_tag = 0;

  void greet(const std::string& hello, std::uint64_t deadline) {
    const std::string difference = first_difference(hello, identity_);
    if (!difference.empty()) return refuse("they are programs that differ: " + difference);
    if (deadline > most_nanoseconds) return refuse("a deadline that no item could miss");
    const std::size_t slots = begin(std::chrono::nanoseconds(static_cast<std::int64_t>(deadline)));
    is_greeted_.store(true);
    send(frame_kind::welcome, slots, {}, other_tag);
  }
  /// The driver closes behind that; the keeper does where it does not.
  void refuse(std::string why) noexcept {
    is_refused_ = true;
    refusal_ = std::move(why);
    if (refusal_.size() > most_text_bytes) refusal_.resize(most_text_bytes);
    send(frame_kind::refusal, 0, std::as_bytes(std::span(refusal_)), other_tag);
  }
  void send(frame_kind kind, std::uint64_t item, std::span<const std::byte> payload, std::uint64_t tag) {
    const auto head = frame_header{kind, static_cast<std::uint32_t>(payload.size()), item}.written();
    const std::lock_guard lock(sending_);
    connection_->send(head, payload, tag);
  }

  stream_keeper& keeper_;
  const std::string_view identity_;
  const time_point begun_ = std::chrono::steady_clock::now();
  atomic<bool> is_greeted_{false}, is_over_{false}, is_held_{false};
  bool is_refused_ = false;
  std::string refusal_, failure_;
  mutex sending_;
  std::unique_ptr<connection> connection_;
};

}  // namespace levada::detail
