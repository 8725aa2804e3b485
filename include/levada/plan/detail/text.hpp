// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/text.hpp: the words and numbers that reports and saved plans are written with, while compiling too. No
// streams. What is written to needs only `+=` of characters and of string views.

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/fixed_string.hpp>

namespace levada {

constexpr std::string_view name_of(device_kind kind) {
  constexpr std::string_view names[] = {"none",          "cpu",    "vulkan", "simulated",
                                        "equal_devices", "remote", "fleet",  "mpi"};
  return names[static_cast<std::size_t>(kind)];
}

namespace detail {

/// Counts what is written to it, and keeps it where it has been given room: std::string is no constant expression with
/// every compiler.
class text_writer {
 public:
  constexpr explicit text_writer(char* room = nullptr) : room_(room) {}

  constexpr text_writer& operator+=(char c) {
    if (room_ != nullptr) room_[size_] = c;
    ++size_;
    return *this;
  }
  constexpr text_writer& operator+=(std::string_view text) {
    for (const char c : text) *this += c;
    return *this;
  }
  constexpr std::size_t size() const { return size_; }

 private:
  char* room_;
  std::size_t size_ = 0;
};

/// What `write(text)` writes, as a string.
template <class Write>
std::string written_text(Write write) {
  std::string text;
  write(text);
  return text;
}

/// What `Write(text)` writes, as a template argument.
template <auto Write>
consteval auto written_fixed_string() {
  constexpr std::size_t size = [] {
    text_writer counted;
    Write(counted);
    return counted.size();
  }();
  char text[size + 1]{};
  text_writer writer(text);
  Write(writer);
  return fixed_string<size + 1>(text);
}

template <class Text>
constexpr void append_number(Text& text, std::size_t number) {
  char digits[20]{};
  std::size_t at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  const char* const first = digits + at;
  text += std::string_view(first, sizeof digits - at);
}

constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// The length of the well-formed UTF-8 sequence at `at`, or 0 (Unicode 15, table 3-7).
template <class = void>
constexpr std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return within(1, 0x80, 0xbf) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool second = within(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return second && within(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool second = within(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return second && within(2, 0x80, 0xbf) && within(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

template <class Text>
constexpr void append_hex(Text& text, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  text += digits[static_cast<unsigned char>(c) >> 4];
  text += digits[static_cast<unsigned char>(c) & 15];
}

/// Appends well-formed UTF-8: what is not becomes U+FFFD; control characters, quotes and backslashes go to `escape`.
template <class Escape>
[[gnu::cold]] void append_utf8(std::string& text, std::string_view raw, Escape escape) {
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t length = utf8_length(raw, at);
    if (length == 0) {
      text += "\xef\xbf\xbd";
      ++at;
    } else if (is_control(raw[at]) || raw[at] == '"' || raw[at] == '\\') {
      escape(raw[at++]);
    } else {
      text += raw.substr(at, length);
      at += length;
    }
  }
}

/// A name on one line of a terminal: control characters and broken UTF-8 are replaced.
[[gnu::cold]] inline void append_printable(std::string& text, std::string_view name) {
  append_utf8(text, name, [&](char c) { text += is_control(c) ? '?' : c; });
}

/// A device as plans write it: `cpu`, `vulkan<0>`, `any_of<vulkan<0>, vulkan<1>>`.
template <class Text>
constexpr void append_device(Text& text, device_id device) {
  if (device.equal != 0) {
    text += "any_of<";
    for (int i = 0, before = 0; i < 32; ++i) {
      if ((device.equal >> i & 1) == 0) continue;
      if (before++ != 0) text += ", ";
      append_device(text, {device.kind, i});
    }
    text += '>';
    return;
  }
  text += name_of(device.kind);
  if (device.kind == device_kind::cpu || !device) return;
  text += '<';
  const long long index = device.index;
  if (index < 0) text += '-';
  append_number(text, static_cast<std::size_t>(index < 0 ? -index : index));
  text += '>';
}

}  // namespace detail

/// A device as plans write it: "cpu", "vulkan<0>".
inline std::string name_of(device_id device) {
  return detail::written_text([&](std::string& into) { detail::append_device(into, device); });
}

}  // namespace levada
