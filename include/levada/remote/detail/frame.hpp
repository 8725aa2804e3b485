// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/frame.hpp: what a message between a driver and a node begins with. A message is one frame; its numbers
// are written with the smallest byte first, whatever the machine.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include <levada/core/detail/trace_context.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

enum class frame_kind : std::uint8_t {
  hello = 1,  ///< from the driver, before all: who it is, as text; `item` is the deadline, in nanoseconds, or 0
  welcome,    ///< from the node: `item` says how many items it holds at most
  refusal,    ///< from the node, in place of a welcome: why, as text
  item,       ///< to be worked on
  value,      ///< its result
  failure,    ///< the same where it failed: why, as text
  filtered,   ///< the same where it has no result
  overdue,    ///< the same where it was past its deadline
  trace,      ///< from the driver: what follows is a part of this trace
  clock,      ///< what time is it there; from the node: `item` is what its clock says
};

/// What an item's message has between its header and the item, by the bits of the header's second byte.
inline constexpr std::uint8_t with_capture = 1;  ///< when it was captured, by the node's clock
inline constexpr std::uint8_t with_all = with_capture;
inline constexpr std::size_t capture_bytes = 8;
inline constexpr std::size_t trace_bytes = 25;
/// The longest head of a message, which is not its payload.
inline constexpr std::size_t most_head_bytes = 48;

struct frame_header {
  static constexpr std::size_t size = 16;

  frame_kind kind = frame_kind::hello;
  std::uint32_t bytes = 0;  ///< behind the header
  std::uint64_t item = 0;
  std::uint8_t with = 0;

  constexpr std::array<std::byte, size> written() const {
    std::array<std::byte, size> to{};
    to[0] = static_cast<std::byte>(kind);
    to[1] = static_cast<std::byte>(with);
    for (std::size_t i = 0; i < 4; ++i) to[4 + i] = static_cast<std::byte>(bytes >> 8 * i);
    for (std::size_t i = 0; i < 8; ++i) to[8 + i] = static_cast<std::byte>(item >> 8 * i);
    return to;
  }
  /// Takes the header from the front of a message. Throws wire_error where it is none, or promises another length.
  static frame_header read(wire_reader& from) {
    const frame_header header = read_one(from);
    if (header.bytes != from.left()) throw wire_error("levada: a message of another length than it says");
    return header;
  }
  /// The same of a message of several frames.
  static frame_header read_one(wire_reader& from) {
    const auto raw = from.read<std::array<std::byte, size>>();
    frame_header header;
    header.kind = static_cast<frame_kind>(raw[0]);
    if (header.kind < frame_kind::hello || header.kind > frame_kind::clock)
      throw wire_error("levada: a message of no known kind");
    header.with = std::to_integer<std::uint8_t>(raw[1]);
    const std::uint8_t known = header.kind == frame_kind::item ? with_all : 0;
    if ((header.with & ~known) != 0 || raw[2] != std::byte{} || raw[3] != std::byte{})
      throw wire_error("levada: a message whose header says what is not known");
    for (std::size_t i = 0; i < 4; ++i) header.bytes |= std::to_integer<std::uint32_t>(raw[4 + i]) << 8 * i;
    for (std::size_t i = 0; i < 8; ++i) header.item |= std::to_integer<std::uint64_t>(raw[8 + i]) << 8 * i;
    if (header.bytes > from.left()) throw wire_error("levada: a message of another length than it says");
    return header;
  }
};

/// Times and durations that can be added and subtracted.
inline constexpr std::uint64_t most_nanoseconds = std::uint64_t{1} << 62;

/// What an item's message begins with: its header, and what travels beside the item.
class item_head {
 public:
  item_head(std::uint64_t item, std::size_t payload) : header_{frame_kind::item, 0, item}, payload_(payload) {}

  /// A time of the node's clock, in nanoseconds.
  void add_capture(std::uint64_t at) {
    header_.with |= with_capture;
    for (std::size_t i = 0; i < capture_bytes; ++i) raw_[size_++] = static_cast<std::byte>(at >> 8 * i);
  }
  std::span<const std::byte> written() {
    header_.bytes = static_cast<std::uint32_t>(size_ - frame_header::size + payload_);
    const auto first = header_.written();
    std::copy(first.begin(), first.end(), raw_.begin());
    return std::span(raw_).first(size_);
  }

 private:
  frame_header header_;
  std::size_t payload_, size_ = frame_header::size;
  std::array<std::byte, most_head_bytes> raw_{};
};

/// When the item behind a header was captured; empty where that does not say so. Throws wire_error where that is no
/// time that can be reckoned with.
inline std::chrono::steady_clock::time_point capture_from_wire(const frame_header& header, wire_reader& from) {
  if ((header.with & with_capture) == 0) return {};
  const auto raw = from.read<std::array<std::byte, capture_bytes>>();
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < capture_bytes; ++i) bits |= std::to_integer<std::uint64_t>(raw[i]) << 8 * i;
  const auto at = static_cast<std::int64_t>(bits);
  constexpr auto most = static_cast<std::int64_t>(most_nanoseconds);
  if (at < -most || at > most) throw wire_error("levada: an item that was captured at no time there is");
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at));
}

/// A message that says whose trace what follows is a part of.
inline std::array<std::byte, frame_header::size + trace_bytes> trace_message(const trace_context& of) {
  std::array<std::byte, frame_header::size + trace_bytes> to{};
  const auto head = frame_header{frame_kind::trace, trace_bytes, 0}.written();
  auto* at = std::copy(head.begin(), head.end(), to.begin());
  const auto as_byte = [](std::uint8_t b) { return static_cast<std::byte>(b); };
  at = std::transform(of.trace.begin(), of.trace.end(), at, as_byte);
  at = std::transform(of.parent.begin(), of.parent.end(), at, as_byte);
  *at = as_byte(of.flags);
  return to;
}
/// The same behind its header. Throws wire_error where it is no trace.
inline trace_context trace_from_wire(wire_reader& from) {
  trace_context of;
  from.read(of.trace.data(), of.trace.size());
  from.read(of.parent.data(), of.parent.size());
  from.read(&of.flags, 1);
  if (from.left() != 0 || !of.is_one()) throw wire_error("levada: a trace that is none");
  return of;
}

/// What is left of a message as text for people: at most so many bytes.
inline std::string text_from_wire(wire_reader& from, std::size_t most) {
  if (from.left() > most) throw wire_error("levada: a message with a longer text than it may have");
  std::string raw(from.left(), '\0');
  from.read(raw.data(), raw.size());
  return raw;
}
inline constexpr std::size_t most_text_bytes = 64 << 10;

/// What an exception says, as text for the other end.
inline std::string failure_text(const std::exception_ptr& why) {
  std::string words;
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& e) {
    words = e.what();
  } catch (...) {
    words = "something was thrown that is no std::exception";
  }
  if (words.size() > most_text_bytes) words.resize(most_text_bytes);
  return words;
}

/// Until either end gives up a connection on which the other has not said who it is.
inline constexpr std::chrono::seconds longest_greeting{10};

}  // namespace levada::detail
