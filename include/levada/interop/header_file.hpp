// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/header_file.hpp: headers that a program writes and is compiled with the next time.

#include <cctype>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace levada::detail {

/// The constant that a header has: "box_scales" of "some/box.scales.hpp" and "_scales".
inline std::string constant_of_header(const std::string& path, std::string_view ending) {
  std::string name = std::filesystem::path(path).filename().string();
  name = name.substr(0, name.find('.'));
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "_" + name : name) +
         std::string(ending);
}

/// What stands between the quotes of a literal for a text.
inline std::string literal_text(std::string_view text) {
  std::string literal;
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    if (const auto byte = static_cast<unsigned char>(c); byte < 0x20 || byte == 0x7f) {
      literal += '\\';
      for (const int shift : {6, 3, 0}) literal += static_cast<char>('0' + (byte >> shift & 7));
    } else {
      literal += c;
    }
  }
  return literal;
}

/// The text whose literal begins at `at` and is read to its second quote.
inline std::string text_of_literal(std::string_view line, std::size_t& at) {
  std::string text;
  const auto octal = [&](std::size_t i) { return i < line.size() && line[i] >= '0' && line[i] <= '7'; };
  while (++at < line.size() && line[at] != '"') {
    if (line[at] != '\\' || at + 1 == line.size()) {
      text += line[at];
    } else if (octal(at + 1) && octal(at + 2) && octal(at + 3)) {
      text += static_cast<char>((line[at + 1] - '0') * 64 + (line[at + 2] - '0') * 8 + (line[at + 3] - '0'));
      at += 3;
    } else {
      text += line[++at];
    }
  }
  return text;
}

}  // namespace levada::detail
