// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/spelled_type.hpp: types as the compiler spells them: whether a unit without the program's own headers can
// name one, too.

#include <cstddef>
#include <string_view>

namespace levada::apart {

/// As the compiler spells it; g++ leaves out the namespace of the function, so that this one has its own. g++ says
/// "[with T = ...; std::string_view = ...]", clang "[T = ...]".
template <class T>
consteval std::string_view spelled_type() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  text.remove_suffix(text.size() - text.rfind(']'));
  return text.substr(0, text.find(';'));
}

}  // namespace levada::apart

namespace levada::detail {

/// No name in `text`, a type as the compiler spells it, begins with anything but what a unit without the program's own
/// headers knows.
consteval bool names_only_levadas(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '{' || c == '"' || c == '&' || c == '*' || c == '$') return false;
    std::size_t end = i + 1;
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
    if (!is_letter(c)) {
      i = is_digit(c) ? end : i + 1;
      continue;
    }
    const std::string_view name = text.substr(i, end - i);
    const bool is_inner = i >= 2 && text[i - 1] == ':' && text[i - 2] == ':';
    bool is_known = is_inner;
    for (const std::string_view known : {"levada", "xsimd", "std", "float", "double", "int", "unsigned", "signed",
                                         "char", "short", "long", "bool", "true", "false", "const", "void"})
      is_known = is_known || name == known;
    // clang leaves out the namespace of xsimd's architectures in each other.
    for (const std::string_view architecture : {"avx", "sse", "fma", "neon", "sve", "rvv"})
      is_known = is_known || name.starts_with(architecture);
    if (!is_known) return false;
    i = end;
  }
  return true;
}

/// A unit without the program's own headers can name it.
template <class T>
inline constexpr bool names_levadas_alone = names_only_levadas(apart::spelled_type<T>());

}  // namespace levada::detail
