// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/json_writer.hpp: JSON (RFC 8259) as reports write it.

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <levada/plan/detail/text.hpp>

namespace levada::detail {

/// Writes JSON front to back: commas are put where they belong.
class json_writer {
 public:
  void open(char bracket) { separate() += bracket; }
  void close(char bracket) { text_ += bracket; }
  void key(std::string_view name) { string(name), text_ += ':'; }
  void string(std::string_view raw) {
    separate() += '"';
    append_utf8(text_, raw, [&](char c) {
      text_ += '\\';
      if (is_control(c)) {
        text_ += "u00";
        append_hex(text_, c);
      } else
        text_ += c;
    });
    text_ += '"';
  }
  void number(std::size_t value) { append_number(separate(), value); }
  void number(int value) { separate() += std::to_string(value); }
  /// JSON has no infinity and no NaN: null stands for them.
  void number(double value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    separate() += std::isfinite(value) ? std::string_view(digits, end) : std::string_view("null");
  }
  void boolean(bool value) { separate() += value ? "true" : "false"; }

  void field(std::string_view name, std::string_view value) { key(name), string(value); }
  void field(std::string_view name, std::size_t value) { key(name), number(value); }
  void field(std::string_view name, int value) { key(name), number(value); }
  void field(std::string_view name, double value) { key(name), number(value); }
  void field(std::string_view name, bool value) { key(name), boolean(value); }

  std::string take() { return std::move(text_); }

 private:
  std::string& separate() {
    if (!text_.empty() && text_.back() != '{' && text_.back() != '[' && text_.back() != ':') text_ += ',';
    return text_;
  }
  std::string text_;
};

/// The field `name`: a list in which `write` writes each of `all`, a range.
template <class Range, class Write>
void write_list(json_writer& json, std::string_view name, const Range& all, Write write) {
  json.key(name);
  json.open('[');
  for (const auto& one : all) write(one);
  json.close(']');
}

}  // namespace levada::detail
