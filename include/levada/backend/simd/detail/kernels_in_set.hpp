// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/kernels_in_set.hpp: what a unit includes that has kernels for one instruction set, whose flags it
// is compiled by (levada_add_kernels with ISA). It exports a table of `code_on<Set, Kernel>`.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/backend/simd/detail/kernel_code.hpp>
#include <levada/backend/simd/detail/kernels_of_sets.hpp>
#include <levada/graph/detail/packed_kernel_of.hpp>

namespace levada::detail {

template <class Kernel>
struct work_of;
template <template <class> class Backend, class Sets, class Work>
struct work_of<simd_of_sets<Backend, Sets, Work>> : type_tag<Work> {};
template <class Kernel>
struct sets_of;
template <template <class> class Backend, class Sets, class Work>
struct sets_of<simd_of_sets<Backend, Sets, Work>> : type_tag<Sets> {};

/// The functions of `Kernel`, a simd_of_sets, for one set.
template <class Set, class Kernel>
class set_functions {
  static_assert(Set::supported() && (!std::is_base_of_v<isa::avx512vnni, Set> || std::is_base_of_v<Set, isa::native>),
                "the unit is not compiled for the instruction set of its kernels");
  using own = typename Kernel::template in_set<Set>;
  using work = typename work_of<Kernel>::type;
  using out_type = typename work::out_type;
  static constexpr bool has_tiles = Kernel::tiles > 1;

  template <class... Ops>
  static constexpr packed_kernel text_of(type_list<Ops...>) {
    return packed_kernel_of<own, Ops...>;
  }
  template <class... In, std::size_t... I>
  static auto given(const void* const* inputs, type_list<In...>, std::index_sequence<I...>) {
    return std::tuple<const In&...>(*static_cast<const In*>(inputs[I])...);
  }
  /// Calls `f(kernel, input, output)`, the inputs as the kernel wants them: several as a tuple.
  static void call(const void* kernel, const void* const* inputs, void* out, auto f) {
    const own& of = *static_cast<const own*>(kernel);
    using list = typename work::input_list;
    const auto in = given(inputs, list{}, std::make_index_sequence<list::size>{});
    if constexpr (list::size == 1)
      f(of, std::get<0>(in), *static_cast<out_type*>(out));
    else
      f(of, in, *static_cast<out_type*>(out));
  }

  static void destroy(void* kernel) noexcept { static_cast<own*>(kernel)->~own(); }
  static void run(const void* kernel, const void* const* inputs, void* out, std::byte* scratch) {
    call(kernel, inputs, out, [&](const own& of, const auto& in, out_type& to) { of(in, to, scratch); });
  }
  static void of_tiles(const void* kernel, const void* const* inputs, void* out, std::byte* scratch, tile_range some) {
    if constexpr (has_tiles)
      call(kernel, inputs, out, [&](const own& of, const auto& in, out_type& to) {
        of.of_tiles(in, to, scratch, {some.begin * own::tiles / Kernel::tiles, some.end * own::tiles / Kernel::tiles});
      });
  }

 public:
  static constexpr kernel_code code{text_of(typename work::op_list{}), &destroy,           &run,
                                    has_tiles ? &of_tiles : nullptr,   own::scratch_bytes, Kernel::tiles};
};

template <class Set, class Kernel>
inline constexpr const kernel_code& code_on = set_functions<Set, Kernel>::code;

}  // namespace levada::detail

/// `LEVADA_KERNEL_TABLE(0) = {...};` is the table of that unit of the program; LEVADA_TABLE begins its name.
#define LEVADA_TABLE_OF(beginning, unit)                                                       \
  extern "C" {                                                                                 \
  [[gnu::visibility("hidden")]] extern const levada::detail::kernel_code beginning##_##unit[]; \
  }                                                                                            \
  const levada::detail::kernel_code beginning##_##unit[]
#define LEVADA_TABLE_NAMED(beginning, unit) LEVADA_TABLE_OF(beginning, unit)
#define LEVADA_KERNEL_TABLE(unit) LEVADA_TABLE_NAMED(LEVADA_TABLE, unit)
