// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/separable_conv.hpp: a depthwise convolution and the pointwise one that takes its results as one
// kernel (MobileNet's depthwise separable convolution): some rows of each channel are packed for the product while they
// are in the first-level cache, and the picture between the two is never written.

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include <levada/backend/simd/detail/conv2d.hpp>
#include <levada/core/detail/type_list.hpp>

namespace levada {

namespace detail {

template <class Op>
inline constexpr bool is_conv2d = false;
template <std::size_t Filters, class... Options>
inline constexpr bool is_conv2d<conv2d_op<Filters, Options...>> = true;

/// How many of these ops stand before the first convolution; all of them where there is none.
template <class... Ops>
inline constexpr std::size_t ops_before_conv = first_true({is_conv2d<Ops>..., true});

/// The depthwise convolution and the ops up to the pointwise one, and that one and the ops behind it.
template <class Arch, class In, class Depthwise, class Ops, class Front, class Back>
struct separated;
template <class Arch, class In, class Depthwise, class... Ops, std::size_t... F, std::size_t... B>
struct separated<Arch, In, Depthwise, type_list<Ops...>, std::index_sequence<F...>, std::index_sequence<B...>> {
  template <std::size_t I>
  using op = type_at<type_list<Ops...>, I>;
  using pointwise = op<sizeof...(F)>;

  static constexpr op_tail tail = op_tail_of<op<F>...>();
  static constexpr bool fits = Depthwise::groups == In::extents[0] && Depthwise::filters == In::extents[0] &&
                               pointwise::groups == 1 && tail.fuses && !tail.pooled && !tail.reshaped &&
                               (fits_epilogue<typename In::value_type, op<F>> && ...) &&
                               run_takes<In, Depthwise, op<F>..., pointwise>;

  using front = simd_grouped_conv<Arch, In, Depthwise, op<F>...>;
  using between = run_output_t<In, Depthwise, op<F>...>;
  using input = filtered_picture<between, front>;
  using kernel = simd_kernel<Arch, input, op<sizeof...(F) + B>...>;
  using run = conv_run<input, op<sizeof...(F) + B>...>;

  /// Of the front.
  static constexpr std::size_t parameters = (Depthwise::has_bias ? 2 : 1) + (tail.bias ? 1 : 0);

  static front make_front(const parameter_values& p, const std::tuple<const Ops&...>& ops) {
    return front(p.some(0, parameters), std::get<F>(ops)...);
  }
  static kernel make_kernel(const parameter_values& p, const std::tuple<const Ops&...>& ops) {
    return kernel(std::get<sizeof...(F) + B>(ops)..., p.some(parameters, p.size() - parameters));
  }
};
template <class Arch, class In, class Depthwise, class... Ops>
using separated_t = separated<Arch, In, Depthwise, type_list<Ops...>, std::make_index_sequence<ops_before_conv<Ops...>>,
                              std::make_index_sequence<sizeof...(Ops) - ops_before_conv<Ops...>>>;

/// What follows the pointwise one is a part of its kernel, and its panels stay in a second-level cache.
template <class Kernel>
inline constexpr bool fits_panels = false;
template <class Kernel>
  requires requires { sizeof(Kernel); }
inline constexpr bool fits_panels<Kernel> = Kernel::scratch_bytes <= (std::size_t{320} << 10);

/// Measured on Zen 3: where the picture between the two stays in a second-level cache, little is won, and of many
/// channels each has so few rows at a time that to begin with each costs more than to write the picture.
template <class Arch, class In, class Depthwise, class... Ops>
inline constexpr bool is_separable = [] {
  if constexpr (ops_before_conv<Ops...> != sizeof...(Ops)) {
    using parts = separated_t<Arch, In, Depthwise, Ops...>;
    if constexpr (parts::fits && In::extents[0] * Depthwise::window.stride_x <= 64 &&
                  parts::between::elements * sizeof(float) > (std::size_t{128} << 10))
      if constexpr (is_pointwise<typename parts::run> && parts::pointwise::window.stride_y == 1 &&
                    parts::pointwise::window.stride_x == 1 && panels_of_front<Arch, typename parts::run> != 0)
        return fits_panels<typename parts::kernel>;
  }
  return false;
}();

}  // namespace detail

template <class Arch, any_tensor In, std::size_t Filters, class... Options, class... Ops>
  requires detail::is_separable<Arch, In, conv2d_op<Filters, Options...>, Ops...>
struct simd_kernel<Arch, In, conv2d_op<Filters, Options...>, Ops...> {
 private:
  using depthwise = conv2d_op<Filters, Options...>;
  using parts = detail::separated_t<Arch, In, depthwise, Ops...>;
  using kernel = typename parts::kernel;
  using input = typename parts::input;

 public:
  using out_type = run_output_t<In, depthwise, Ops...>;
  static constexpr std::size_t scratch_bytes = kernel::scratch_bytes, tiles = kernel::tiles;
  static constexpr std::string_view method = "rows of channels and product";

  simd_kernel(const depthwise&, const Ops&... ops, parameter_values p)
      : front_(parts::make_front(p, std::tie(ops...))), kernel_(parts::make_kernel(p, std::tie(ops...))) {}

  template <class Join = detail::no_join>
  void operator()(const In& in, out_type& out, std::byte* scratch, const Join& join = {}) const {
    kernel_(input{in.data(), &front_}, out, scratch, join);
  }
  template <class Join = detail::no_join>
  void of_tiles(const In& in, out_type& out, std::byte* scratch, detail::tile_range some, const Join& join = {}) const {
    kernel_.of_tiles(input{in.data(), &front_}, out, scratch, some, join);
  }

 private:
  typename parts::front front_;
  kernel kernel_;
};

}  // namespace levada
