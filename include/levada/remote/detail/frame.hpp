// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/frame.hpp: what a message between a driver and a node begins with. A message is one frame; its numbers
// are written with the smallest byte first, whatever the machine.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

enum class frame_kind : std::uint8_t {
  hello = 1,  ///< from the driver, before all: who it is, as text
  welcome,    ///< from the node: `item` says how many items it holds at most
  refusal,    ///< from the node, in place of a welcome: why, as text
  item,       ///< to be worked on
  value,      ///< its result
  failure,    ///< the same where it failed: why, as text
  filtered,   ///< the same where it has no result
};

struct frame_header {
  static constexpr std::size_t size = 16;

  frame_kind kind = frame_kind::hello;
  std::uint32_t bytes = 0;  ///< behind the header
  std::uint64_t item = 0;

  constexpr std::array<std::byte, size> written() const {
    std::array<std::byte, size> to{};
    to[0] = static_cast<std::byte>(kind);
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
    if (header.kind < frame_kind::hello || header.kind > frame_kind::filtered)
      throw wire_error("levada: a message of no known kind");
    if (raw[1] != std::byte{} || raw[2] != std::byte{} || raw[3] != std::byte{})
      throw wire_error("levada: a message whose header says what is not known");
    for (std::size_t i = 0; i < 4; ++i) header.bytes |= std::to_integer<std::uint32_t>(raw[4 + i]) << 8 * i;
    for (std::size_t i = 0; i < 8; ++i) header.item |= std::to_integer<std::uint64_t>(raw[8 + i]) << 8 * i;
    if (header.bytes > from.left()) throw wire_error("levada: a message of another length than it says");
    return header;
  }
};

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
