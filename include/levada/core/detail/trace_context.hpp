// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/trace_context.hpp: whose trace something belongs to, in the words of other programs: W3C's Trace Context.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace levada {

/// What a `traceparent` says. Those who call hand it on, and traces of several programs are joined by it.
struct trace_context {
  std::array<std::uint8_t, 16> trace{};  ///< the same in all programs
  std::array<std::uint8_t, 8> parent{};  ///< what the caller did when it called
  std::uint8_t flags = 0;                ///< 1: the caller keeps its part

  /// Of `00-<32 digits>-<16 digits>-<2 digits>`, hexadecimal and in lower case. Empty where the text is none, or an id
  /// is zero. Of a later version what this one knows is taken.
  static constexpr std::optional<trace_context> parse(std::string_view text) {
    constexpr std::size_t length = 55;
    std::uint8_t version = 0;
    trace_context read;
    if (text.size() < length || text[2] != '-' || text[35] != '-' || text[52] != '-') return {};
    if (!take(text, 0, version) || version == 0xff) return {};
    if (text.size() > length && (version == 0 || text[length] != '-')) return {};
    for (std::size_t i = 0; i < read.trace.size(); ++i)
      if (!take(text, 3 + 2 * i, read.trace[i])) return {};
    for (std::size_t i = 0; i < read.parent.size(); ++i)
      if (!take(text, 36 + 2 * i, read.parent[i])) return {};
    if (!take(text, 53, read.flags) || !read.is_one()) return {};
    return read;
  }
  /// Neither id is zero.
  constexpr bool is_one() const { return is_id(trace) && is_id(parent); }
  /// As a `traceparent`.
  std::string text() const {
    std::string to = "00-";
    const auto append = [&](std::uint8_t byte) {
      for (const unsigned digit : {byte / 16u, byte % 16u}) to += "0123456789abcdef"[digit];
    };
    for (const std::uint8_t byte : trace) append(byte);
    to += '-';
    for (const std::uint8_t byte : parent) append(byte);
    to += '-';
    append(flags);
    return to;
  }
  friend constexpr bool operator==(const trace_context&, const trace_context&) = default;

 private:
  static constexpr bool is_id(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes)
      if (byte != 0) return true;
    return false;
  }
  static constexpr bool take(std::string_view text, std::size_t at, std::uint8_t& to) {
    unsigned value = 0;
    for (const char c : text.substr(at, 2)) {
      const bool is_digit = c >= '0' && c <= '9';
      if (!is_digit && (c < 'a' || c > 'f')) return false;
      value = 16 * value + static_cast<unsigned>(is_digit ? c - '0' : c - 'a' + 10);
    }
    to = static_cast<std::uint8_t>(value);
    return true;
  }
};

}  // namespace levada
