// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/parameter.hpp: ops of the input and a parameter, alone, in chains and in regions: the kernels of
// those of two inputs, one of which lies among the weights.

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include <levada/backend/detail/chain_region.hpp>
#include <levada/backend/detail/operand_region.hpp>
#include <levada/backend/spirv/detail/broadcast.hpp>
#include <levada/backend/spirv/detail/joined_region.hpp>
#include <levada/backend/spirv/detail/matmul.hpp>
#include <levada/backend/spirv/detail/row_region.hpp>
#include <levada/nn/parameter.hpp>

namespace levada {

namespace detail {

/// What stands for an input of a kernel: another number, or what is kept.
struct input_or_kept {
  std::size_t which = 0;
  const void* kept = nullptr;
};
/// Each input of a kernel of inputs that come by themselves is what `as` says of it, of `Inputs` that are left.
template <std::size_t Inputs, std::size_t Taken>
void keep_inputs(dispatch_kernel& kernel, const std::array<input_or_kept, Taken>& as) {
  for (dispatch& d : kernel.dispatches_apart)
    for (dispatch_buffer& b : d.buffers) {
      if (b.role != buffer_role::input) continue;
      const input_or_kept& is = as[b.which];
      b.which = is.which;
      if (is.kept == nullptr) continue;
      add_weights(kernel, is.kept, b.bytes);
      b = {buffer_role::weights, b.bytes, kernel.weights.size() - b.bytes};
    }
  kernel.dispatches.clear();  // of inputs in a tuple
  if (Inputs == 1) kernel.dispatches.swap(kernel.dispatches_apart);
}

/// The kernel of an op of two inputs, `Of`, that computes `Op` of an input and a parameter.
template <class In, class Op, class Of, class... End>
using kernel_of_two = spirv_kernel<typename Op::template operands<In>::type, Of, End...>;
template <class In, class Op, class Of, class... End>
concept has_kernel_of_two =
    op_takes<Op, In> && (!joins_parameter<End> && ...) && requires { sizeof(kernel_of_two<In, Op, Of, End...>); };

/// The parameter is the input at `Place`.
template <parameter_place Place, class In, class Op, class Of, class... End>
struct kernel_with_parameter_kept : kernel_of_two<In, Op, Of, End...> {
  static constexpr std::size_t weight_bytes = sizeof(typename Op::template parameter<In>);

  kernel_with_parameter_kept(const Op&, const End&... end, parameter_values p)
      : kernel_of_two<In, Op, Of, End...>(Of{}, end..., parameter_values({})) {
    constexpr std::size_t kept = Place == parameter_place::first ? 0 : 1;
    std::array<input_or_kept, 2> as{};
    as[kept].kept = p.template get<std::byte>(0);
    keep_inputs<1>(*this, as);
    this->in_bytes = sizeof(In);
  }
};

/// Some of the ops take a parameter as an operand, and all of them are a region of which that is an input.
template <class Region>
inline constexpr bool keeps_operands = false;
template <class Inputs, class... RegionOps>
  requires(gives_up_parameter<typename RegionOps::op_type, true> || ...) && requires {
    sizeof(spirv_region_kernel<typename with_operands<op_region<Inputs, RegionOps...>, true>::type>);
  }
inline constexpr bool keeps_operands<op_region<Inputs, RegionOps...>> = true;

template <class List>
inline constexpr std::size_t bytes_of_list = 0;
template <class... T>
inline constexpr std::size_t bytes_of_list<type_list<T...>> = (sizeof(T) + ... + 0);

}  // namespace detail

template <class In, class F, parameter_place Place, std::size_t... Dims, class... End>
  requires detail::has_kernel_of_two<In, parameter_op<F, Place, Dims...>, broadcast_op<F>, End...>
struct spirv_kernel<In, parameter_op<F, Place, Dims...>, End...>
    : detail::kernel_with_parameter_kept<Place, In, parameter_op<F, Place, Dims...>, broadcast_op<F>, End...> {
  using spirv_kernel::kernel_with_parameter_kept::kernel_with_parameter_kept;
};

template <class In, parameter_place Place, std::size_t... Dims, class... End>
  requires detail::has_kernel_of_two<In, matmul_parameter_op<Place, Dims...>, matmul_op, End...>
struct spirv_kernel<In, matmul_parameter_op<Place, Dims...>, End...>
    : detail::kernel_with_parameter_kept<Place, In, matmul_parameter_op<Place, Dims...>, matmul_op, End...> {
  using spirv_kernel::kernel_with_parameter_kept::kernel_with_parameter_kept;
};

template <class... In, class... RegionOps>
  requires detail::keeps_operands<op_region<type_list<In...>, RegionOps...>>
struct spirv_region_kernel<op_region<type_list<In...>, RegionOps...>>
    : spirv_region_kernel<typename detail::with_operands<op_region<type_list<In...>, RegionOps...>, true>::type> {
  using parts = detail::with_operands<op_region<type_list<In...>, RegionOps...>, true>;
  using kernel = spirv_region_kernel<typename parts::type>;

  static constexpr std::size_t weight_bytes =
      kernel::weight_bytes + detail::bytes_of_list<typename parts::parameter_list>;

  spirv_region_kernel(const typename RegionOps::op_type&... ops, parameter_values p)
      : spirv_region_kernel(typename parts::sorted_parameters(p), ops...) {}

 private:
  spirv_region_kernel(const typename parts::sorted_parameters& p, const typename RegionOps::op_type&... ops)
      : kernel(parts::template form<typename RegionOps::op_type>::op(ops)..., p.own_values()) {
    std::array<detail::input_or_kept, parts::inputs + parts::operands> as{};
    for (std::size_t i = 0; i < parts::inputs; ++i) as[i].which = i;
    for (std::size_t i = 0; i < parts::operands; ++i) as[parts::inputs + i].kept = p.joined[i];
    detail::keep_inputs<parts::inputs>(*this, as);
  }
};

/// A chain with a parameter as an operand behind its first op.
template <class In, class First, class Second, class... Rest>
  requires detail::run_takes<In, First, Second, Rest...> &&
           (detail::joins_parameter<Second> || (detail::joins_parameter<Rest> || ...)) &&
           (detail::keeps_operands<detail::chain_region_t<In, First, Second, Rest...>>)
struct spirv_kernel<In, First, Second, Rest...>
    : spirv_region_kernel<detail::chain_region_t<In, First, Second, Rest...>> {
  using spirv_region_kernel<detail::chain_region_t<In, First, Second, Rest...>>::spirv_region_kernel;
};

}  // namespace levada
