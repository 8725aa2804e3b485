// SPDX-License-Identifier: Apache-2.0
#pragma once
// output/hash.hpp: FNV-1a of 64 bits, which tells files apart; it protects from mistakes, not from attacks.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace levada::onnx {

class hash {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) value_ = (value_ ^ static_cast<std::uint64_t>(b)) * 0x100000001b3u;
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }

  /// 16 hexadecimal digits.
  std::string text() const {
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(value_ >> shift) & 15];
    return digits;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace levada::onnx
