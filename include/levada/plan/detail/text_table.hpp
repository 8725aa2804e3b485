// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/text_table.hpp: numbers as people read them, and tables of a terminal.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <levada/plan/detail/text.hpp>

namespace levada::detail {

/// A number with one decimal and the largest unit that leaves it at least 1: "14.2 KiB".
inline std::string scaled_text(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit) value /= step;
  std::string text;
  const auto tenths = static_cast<std::size_t>(value * 10 + 0.5);
  append_number(text, tenths / 10);
  if (unit > 0) {
    text += '.';
    append_number(text, tenths % 10);
  }
  text += ' ';
  text += units[unit];
  return text;
}

inline std::string bytes_text(std::size_t bytes) {
  constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return scaled_text(static_cast<double>(bytes), 1024, units);
}

inline std::string flops_text(double flops) {
  constexpr std::string_view units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"};
  return flops > 0 ? scaled_text(flops, 1000, units) : "-";
}

inline std::string seconds_text(double seconds) {
  constexpr std::string_view units[] = {"ns", "us", "ms", "s"};
  return scaled_text(seconds * 1e9, 1000, units);
}

inline std::string printable_text(std::string_view name) {
  std::string text;
  append_printable(text, name);
  return text;
}

/// The columns a terminal needs: UTF-8's continuation bytes take none. (Wide characters are not known.)
inline std::size_t terminal_columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

using text_row = std::array<std::string, 9>;

/// Rows below each other, columns aligned, two spaces between.
inline std::string text_table(const std::vector<text_row>& rows) {
  std::array<std::size_t, std::tuple_size_v<text_row>> width{};
  for (const text_row& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], terminal_columns(row[c]));
  std::string text;
  for (const text_row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += row[c];
      if (c + 1 < row.size()) text.append(width[c] + 2 - terminal_columns(row[c]), ' ');
    }
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }
  return text;
}

}  // namespace levada::detail
