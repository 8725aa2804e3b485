// SPDX-License-Identifier: Apache-2.0
#pragma once
// fuzz/mutate.hpp: one to four random changes of some bytes, for tests that do what a fuzzer does where there is none.

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace levada_test {

inline std::string mutated(std::string bytes, std::span<const std::string_view> tokens, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(bytes.size() + 1), length = 1 + below(12);
    switch (below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(below(bytes.size() + 1), bytes.substr(at, length));
        break;
      case 4:
        bytes.insert(at, tokens[below(tokens.size())]);
        break;
      case 5: {
        const std::string digits = std::to_string(below(40));
        bytes.replace(at, digits.size(), digits);
        break;
      }
      default:
        if (below(4) == 0) bytes.resize(at);
    }
  }
  return bytes;
}

}  // namespace levada_test
