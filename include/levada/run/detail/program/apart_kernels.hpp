// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/apart_kernels.hpp: kernels that other units of the program compile. With LEVADA_KERNELS_APART a
// unit that deploys only names the kernels of its plan: levada_add_kernels (cmake/) reads the names that its object
// lacks and writes units that instantiate these, by kernels_here.hpp. Kernels of vectors whose types can be written
// down elsewhere are apart: those that have a lambda, or anything that is not levada's, stay where they are.

#include <cstddef>
#include <string_view>

#include <levada/core/detail/spelled_type.hpp>
#include <levada/run/detail/program/unit.hpp>

namespace levada::detail {

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
