// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/apart_kernels.hpp: kernels that other units of the program compile. With LEVADA_KERNELS_APART a
// unit that deploys only names the kernels of its plan: levada_add_kernels (cmake/) reads the names that its object
// lacks and writes units that instantiate these, by kernels_here.hpp. Kernels of vectors whose types can be written
// down elsewhere are apart: those that have a lambda, or anything that is not levada's, stay where they are.

#include <cstddef>
#include <string_view>

#include <levada/run/detail/program/unit.hpp>

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
template <class T>
consteval bool is_levadas(std::string_view beginning) {
  const std::string_view text = apart::spelled_type<T>();
  return text.starts_with(beginning) && names_only_levadas(text);
}
template <class Kernel, class In, class Out>
concept compiled_apart =
    is_levadas<Kernel>("levada::simd_") && is_levadas<In>("levada::") && is_levadas<Out>("levada::");

template <class Kernel, class In, class Out>
void run_kernel_apart(unit_call& call) noexcept;
template <class Kernel, class In, class Out>
void tile_kernel_apart(const void* kernel, const void* in, void* out, std::byte* scratch, tile_range some) noexcept;
template <class Kernel, class... Ops>
erased_object make_kernel_apart(const stage_address* stages);

template <class Kernel, class In, class Out>
  requires compiled_apart<Kernel, In, Out>
inline constexpr unit_descriptor kernel_text<Kernel, In, Out>{{}, &run_kernel_apart<Kernel, In, Out>};
template <class Kernel, class In, class Out>
  requires compiled_apart<Kernel, In, Out>
inline constexpr tiles_code tiles_text<Kernel, In, Out> = &tile_kernel_apart<Kernel, In, Out>;
template <class Kernel, class In, class Out, class... Ops>
  requires compiled_apart<Kernel, In, Out>
inline constexpr auto make_text<Kernel, In, Out, Ops...> = &make_kernel_apart<Kernel, Ops...>;

}  // namespace levada::detail
