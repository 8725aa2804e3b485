// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/text.hpp: the words and numbers that reports and saved plans are written with, while compiling too. No streams.
// What is written to needs only `+=` of characters and of string views.

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/core/device.hpp>
#include <levada/core/fixed_string.hpp>

namespace levada {

constexpr std::string_view name_of(device_kind kind) {
  constexpr std::string_view names[] = {"none", "cpu", "vulkan", "simulated", "equal_devices"};
  return names[static_cast<std::size_t>(kind)];
}

namespace detail {

/// Counts what is written to it, and keeps it where it has been given room: std::string is no constant expression with every
/// compiler.
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
  text += std::string_view(digits + at, sizeof digits - at);
}

constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

template <class Text>
constexpr void append_hex(Text& text, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  text += digits[static_cast<unsigned char>(c) >> 4];
  text += digits[static_cast<unsigned char>(c) & 15];
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
