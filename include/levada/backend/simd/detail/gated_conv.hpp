// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/gated_conv.hpp: a convolution whose input is scaled by a gate, a number of the item's for each
// channel, as a squeeze-and-excitation has it: the channels are scaled while they are packed, and the product is never
// written.

#include <cstddef>
#include <string_view>
#include <tuple>

#include <levada/backend/simd/detail/conv2d.hpp>
#include <levada/backend/simd/detail/region.hpp>
#include <levada/nn/broadcast.hpp>

namespace levada {

namespace detail {

/// The kernel of a chain, of a scaled input.
template <class Kernel>
struct of_scaled;
template <class Arch, class In, class... Ops>
struct of_scaled<simd_kernel<Arch, In, Ops...>> : type_tag<simd_kernel<Arch, scaled_picture<In>, Ops...>> {};

/// Which of two operands is the gate of the other.
template <class A, class B>
inline constexpr bool gates_second = shape_of<A> != shape_of<B> && shape_of<A>.elements() < shape_of<B>.elements();
template <class A, class B>
using gated_picture = scaled_picture<std::conditional_t<gates_second<A, B>, B, A>>;
template <class A, class B>
inline constexpr bool is_gate_of = is_gate(describe_op<std::tuple<A, B>, broadcast_op<product_of>>());

}  // namespace detail

/// A gate, the convolution and what is in its kernel.
template <class Arch, any_tensor A, any_tensor B, std::size_t Filters, class... Options, class... Tail>
  requires(
      detail::is_gate_of<A, B> && conv2d_op<Filters, Options...>::groups == 1 &&
      requires { sizeof(simd_kernel<Arch, detail::gated_picture<A, B>, conv2d_op<Filters, Options...>, Tail...>); })
struct simd_kernel<Arch, std::tuple<A, B>, broadcast_op<detail::product_of>, conv2d_op<Filters, Options...>, Tail...> {
  using op_type = conv2d_op<Filters, Options...>;
  static constexpr std::size_t gate = detail::gates_second<A, B> ? 0 : 1;
  using picture = detail::gated_picture<A, B>;
  using kernel = simd_kernel<Arch, picture, op_type, Tail...>;

  static constexpr std::size_t scratch_bytes = kernel::scratch_bytes;
  static constexpr std::size_t weight_bytes = detail::weight_bytes_of<kernel>;
  static constexpr std::string_view method = detail::method_of<kernel>;

  simd_kernel(const broadcast_op<detail::product_of>&, const op_type& conv, const Tail&... tail, parameter_values p)
      : kernel_(conv, tail..., p) {}

  void operator()(const auto& in, run_output_t<picture, op_type, Tail...>& out, std::byte* scratch) const {
    kernel_(picture{std::get<1 - gate>(in).data(), std::get<gate>(in).data()}, out, scratch);
  }

 private:
  kernel kernel_;
};

/// The same where the results meet other values.
template <class Arch, class... In, class Gate, class... RegionOps>
  requires(detail::is_gated_region(
              region_info(detail::infos_of_region<op_region<type_list<In...>, Gate, RegionOps...>>::value))) &&
          requires {
            sizeof(typename detail::joined_region<
                   op_region<type_list<In..., typename Gate::out_type>, RegionOps...>>::template kernel<Arch>);
          }
struct simd_region_kernel<Arch, op_region<type_list<In...>, Gate, RegionOps...>> {
  /// What the gate gives is one more input, behind the others: the numbers of operands remain.
  using parts = detail::joined_region<op_region<type_list<In..., typename Gate::out_type>, RegionOps...>>;
  using kernel = typename detail::of_scaled<typename parts::template kernel<Arch>>::type;
  using out_type = typename op_region<type_list<In...>, Gate, RegionOps...>::out_type;

  static constexpr std::size_t scratch_bytes = kernel::scratch_bytes;
  static constexpr std::size_t weight_bytes = detail::weight_bytes_of<kernel>;
  static constexpr std::string_view method = detail::method_of<kernel>;

  simd_region_kernel(const typename Gate::op_type&, const typename RegionOps::op_type&... ops, parameter_values p)
      : kernel_(parts::template make_kernel<kernel>(p, ops...)), function_(parts::behind::make(ops...)) {}

  void operator()(const auto& given, out_type& out, std::byte* scratch) const {
    const auto in = detail::all_inputs(given);
    const auto gated = operands(in, typename Gate::origins{});  // the picture, and the factors
    std::apply(
        [&](const In&... each) {
          // Nothing behind takes what the gate gives: the picture stands there in its place.
          const detail::joined_results<Arch, out_type, parts::axes, typename parts::function, In...,
                                       typename Gate::out_type>
          join(function_, each..., *gated.first);
          kernel_(detail::scaled_picture<typename Gate::out_type>{gated.first->data(), gated.second}, out, scratch,
                  join);
        },
        in);
  }

 private:
  template <std::size_t A, std::size_t B>
  static auto operands(const auto& in, std::index_sequence<A, B>) {
    const auto& a = std::get<A>(in);
    const auto& b = std::get<B>(in);
    if constexpr (detail::gates_second<std::remove_cvref_t<decltype(a)>, std::remove_cvref_t<decltype(b)>>)
      return std::pair(&b, a.data());
    else
      return std::pair(&a, b.data());
  }

  kernel kernel_;
  [[no_unique_address]] typename parts::function function_;
};

}  // namespace levada
