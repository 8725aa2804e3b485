// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/session_words.hpp: what a session tells its node beside its items: its deadline, when items were
// captured, and whose trace it is a part of. By one thread at a time.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/trace_context.hpp>
#include <levada/remote/detail/far_clock.hpp>
#include <levada/remote/detail/frame.hpp>

namespace levada::detail {

class session_words {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// `tells_captures`: of items that have no deadline, too.
  session_words(const session_terms& terms, bool tells_captures)
      : has_own_clock_(terms.has_own_clock),
        deadline_(terms.has_own_clock ? std::chrono::nanoseconds{} : std::min(terms.deadline, longest)),
        tells_captures_(tells_captures || deadline_.count() != 0) {}

  /// That of a session with a clock of its own is the driver's to look at.
  std::chrono::nanoseconds deadline() const { return deadline_; }
  bool tells_captures() const { return tells_captures_; }
  /// Capture times go by the node's clock; those of a session with a clock of its own go as they are.
  bool reckons_time() const { return tells_captures_ && !has_own_clock_; }
  void add_capture(item_head& head, time_point at) const {
    if (at != time_point()) head.add_capture(has_own_clock_ ? time_on_wire(at) : node_clock_.there(at));
  }
  void answer_time(std::uint64_t there, time_point now) { node_clock_.answer(there, now); }

  void trace(const trace_context& of) {
    trace_ = of;
    is_trace_told_ = false;
  }
  bool is_traced() const { return trace_.has_value(); }
  /// The node knows nothing yet.
  void begin() {
    node_clock_ = {};
    is_trace_told_ = false;
  }

  /// A whole message.
  class word {
   public:
    explicit word(std::span<const std::byte> text) : size_(text.size()) {
      std::copy(text.begin(), text.end(), text_.begin());
    }
    std::span<const std::byte> text() const { return std::span(text_).first(size_); }

   private:
    std::array<std::byte, most_head_bytes> text_{};
    std::size_t size_;
  };
  /// What is to be said now, before the next item.
  std::optional<word> next() {
    if (trace_ && !std::exchange(is_trace_told_, true)) return word(trace_message(*trace_));
    if (!reckons_time()) return {};
    const auto now = std::chrono::steady_clock::now();
    if (!node_clock_.is_due(now)) return {};
    node_clock_.ask(now);
    return word(frame_header{frame_kind::clock, 0, 0}.written());
  }

 private:
  static constexpr std::chrono::nanoseconds longest{static_cast<std::int64_t>(most_nanoseconds)};

  const bool has_own_clock_;
  const std::chrono::nanoseconds deadline_;
  const bool tells_captures_;
  far_clock node_clock_;
  std::optional<trace_context> trace_;
  bool is_trace_told_ = false;
};

}  // namespace levada::detail
