// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/short_text.hpp: ids and subjects that are made for each message, in a place of their own: they take
// nothing from the heap.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace levada::detail {

/// Up to 127 characters; more are left out.
class short_text {
 public:
  short_text& add(std::string_view some) {
    const std::size_t fits = std::min(some.size(), room().size());
    std::copy_n(some.data(), fits, room().data());
    size_ += fits;
    return *this;
  }
  short_text& add(std::uint64_t number) {
    if (const auto end = std::to_chars(room().data(), room().data() + room().size(), number); end.ec == std::errc())
      size_ = static_cast<std::size_t>(end.ptr - text_.data());
    return *this;
  }
  /// 16 digits, as programs and sessions are named.
  short_text& add_hex(std::uint64_t number) {
    for (int i = 15; i >= 0; --i) add(std::string_view("0123456789abcdef").substr(number >> 4 * i & 15, 1));
    return *this;
  }

  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {text_.data(), size_}; }
  const char* c_str() const { return text_.data(); }

 private:
  std::span<char> room() { return std::span(text_).subspan(size_, text_.size() - 1 - size_); }

  std::array<char, 128> text_{};  ///< a zero behind them
  std::size_t size_ = 0;
};

}  // namespace levada::detail
