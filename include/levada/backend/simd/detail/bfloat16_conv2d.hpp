// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/bfloat16_conv2d.hpp: conv2d of bfloat16 (+ relu) (+ max_pool2d) (+ flatten or reshape) as one
// kernel: a convolution like one of float (conv2d.hpp), of pairs of channels where the machine multiplies these,
// otherwise of floats that are rounded. A channel that is left over is a pair with itself, of half its weights: a zero
// in its place would make NaN of an infinity. Groups are computed one after the other, which keeps their floats in the
// nearest caches.

#include <levada/backend/detail/define/bfloat16.hpp>
#include <levada/backend/simd/detail/bfloat16_pairs.hpp>
#include <levada/backend/simd/detail/conv2d.hpp>
#include <levada/backend/simd/detail/definition.hpp>

namespace levada {

namespace detail {

/// The convolution and its tail, of rounded floats; results are rounded to `To` when they are stored.
template <class In, class Conv, class To, class... Tail>
struct rounded_run : conv_run<with_element_t<float, In>, Conv, Tail...> {
  using result = To;
};

/// Of pairs of channels.
template <class In, class Conv, class To, class... Tail>
struct pair_run : rounded_run<In, Conv, To, Tail...> {
  static constexpr std::size_t single_channels = In::extents[0], channels = ceil_div(single_channels, 2);
  static constexpr matrix_element elements = matrix_element::bfloat16s;

  template <class Arch>
  LEVADA_INLINE static vector<float, Arch> add_products(const vector<float, Arch>& inputs,
                                                        const vector<float, Arch>& weights,
                                                        const vector<float, Arch>& sum) {
    return add_pair_products<Arch>(inputs, weights, sum);
  }
  static float weight(const parameter_values& p, std::size_t f, std::size_t c, std::size_t ky, std::size_t kx) {
    const auto of = [&](std::size_t channel) {
      return rounded_run<In, Conv, To, Tail...>::weight(p, f, channel, ky, kx);
    };
    const float first = of(2 * c);
    if (2 * c + 1 == single_channels) return paired(bfloat16(first / 2), bfloat16(first / 2));
    return paired(bfloat16(first), bfloat16(of(2 * c + 1)));
  }
};

/// Sums are kept in the op's range.
template <class Arch>
struct sum_in_range {
  result_range range;

  LEVADA_INLINE vector<float, Arch> of_filter(const vector<float, Arch>& x, std::size_t) const {
    return kept_in<Arch>(range, x);
  }
  LEVADA_INLINE vector<float, Arch> of_filters(const vector<float, Arch>& x, std::size_t) const {
    return kept_in<Arch>(range, x);
  }
};

/// A join: a result, rounded, and a number of another tensor are kept in the range of their sum. A channel has `Places`
/// results.
template <class Arch, std::size_t Places>
struct sum_with_another {
  result_range range;
  const bfloat16* other;

  template <class Count>
  LEVADA_INLINE vector<float, Arch> operator()(const vector<float, Arch>& x, std::size_t filter, std::size_t at,
                                               Count) const {
    return kept_in<Arch>(range,
                         rounded_to_bfloat16<Arch>(x) + load_rounded<Count::value, Arch>(other + filter * Places + at));
  }
};

/// The convolution of one group, its parameters rounded already: those of conv2d.
template <class Arch, class In, class Op, class To, class... Tail>
class simd_bfloat16_group {
  static constexpr bool in_pairs = multiplies_pairs<Arch> && In::extents[0] > 1;
  using run = std::conditional_t<in_pairs, pair_run<In, Op, To, Tail...>, rounded_run<In, Op, To, Tail...>>;
  using way = simd_conv<Arch, run, sum_in_range<Arch>>;
  using value = typename In::value_type;

  static constexpr std::size_t plane = In::extents[1] * In::extents[2];
  static constexpr std::size_t in_bytes = round_up(run::channels * plane * sizeof(float), 64);

 public:
  static constexpr std::string_view method = method_of<way>;
  static constexpr std::size_t places = run::rows * run::columns, results = run::filters * places;
  static constexpr std::size_t scratch_bytes = in_bytes + way::scratch_bytes;

  simd_bfloat16_group(const parameter_values& p, const result_range& range) : way_(p, {range}) {}

  template <class Join>
  void operator()(const value* in, To* out, std::byte* scratch, const Join& join) const {
    auto* const laid_out = reinterpret_cast<float*>(scratch);
    if constexpr (in_pairs)
      for (std::size_t c = 0; c < In::extents[0]; c += 2)
        lay_out_pairs(in + c * plane, c + 1 == In::extents[0] ? 0 : plane, laid_out + c / 2 * plane);
    else
      lay_out(in, laid_out);
    way_(laid_out, out, scratch + in_bytes, join);
  }

 private:
  /// The second of a pair lies `apart` elements behind the first.
  static void lay_out_pairs(const value* from, std::size_t apart, float* to) {
    const auto pairs = [&](std::size_t i, auto n) LEVADA_INLINE {
      store_part<n>(to + i, paired<Arch>(load_rounded<n, Arch>(from + i), load_rounded<n, Arch>(from + apart + i)));
    };
    for_each_vector<float, Arch, plane>([&](std::size_t i) { pairs(i, whole()); }, pairs);
  }
  static void lay_out(const value* from, float* to) {
    const auto floats = [&](std::size_t i, auto n)
                            LEVADA_INLINE { store_part<n>(to + i, load_rounded<n, Arch>(from + i)); };
    for_each_vector<float, Arch, In::elements>([&](std::size_t i) { floats(i, whole()); }, floats);
  }
  using whole = std::integral_constant<std::size_t, lanes_in<float, Arch>>;

  way way_;
};

/// Each group as a convolution of its own.
template <class Arch, class In, class Op, class... Tail>
class simd_bfloat16_conv {
  static constexpr std::size_t groups = Op::groups, channels = In::extents[0] / groups;
  using group_in = tensor<typename In::value_type, channels, In::extents[1], In::extents[2]>;
  using group = simd_bfloat16_group<Arch, group_in, one_group<Op>, typename Op::result_type, Tail...>;
  using out_type = run_output_t<In, Op, Tail...>;

 public:
  static constexpr std::string_view method = method_of<group>;
  static constexpr std::size_t scratch_bytes = group::scratch_bytes;

  simd_bfloat16_conv(const Op& op, const Tail&..., const parameter_values& p)
      : simd_bfloat16_conv(op.range, rounded_parameters<In, Op>(p)) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    compute(in, out, scratch, [](std::size_t) { return no_join(); });
  }
  /// Each result is added to that of `other`.
  void operator()(const In& in, const out_type& other, const result_range& range_of_sum, out_type& out,
                  std::byte* scratch) const {
    compute(in, out, scratch, [&](std::size_t first) {
      return sum_with_another<Arch, group::places>{range_of_sum, other.data() + first};
    });
  }

 private:
  simd_bfloat16_conv(const result_range& range, const parameter_values& rounded)
      : groups_([&](std::size_t g) { return group(group_parameters<float, Op, channels>(rounded, g), range); }) {}

  /// `join_of`: of a group, by the first of its results.
  template <class JoinOf>
  void compute(const In& in, out_type& out, std::byte* scratch, JoinOf join_of) const {
    for (std::size_t g = 0; g < groups; ++g)
      groups_[g](in.data() + g * group_in::elements, out.data() + g * group::results, scratch,
                 join_of(g * group::results));
  }

  made_array<group, groups> groups_;
};

template <class In, class Op, class... Tail>
concept bfloat16_conv_run = run_takes<In, Op, Tail...> && op_tail_of<Tail...>().fuses && !op_tail_of<Tail...>().bias &&
                            !op_tail_of<Tail...>().transformed;

}  // namespace detail

template <class Arch, class In, std::size_t Filters, class To, class... Options>
  requires detail::bfloat16_conv_run<In, bfloat16_conv2d_op<Filters, To, Options...>>
struct simd_kernel<Arch, In, bfloat16_conv2d_op<Filters, To, Options...>>
    : detail::simd_bfloat16_conv<Arch, In, bfloat16_conv2d_op<Filters, To, Options...>> {
  using simd_kernel::simd_bfloat16_conv::simd_bfloat16_conv;
};

template <class Arch, class In, std::size_t Filters, class To, class... Options, class First, class... Tail>
  requires detail::bfloat16_conv_run<In, bfloat16_conv2d_op<Filters, To, Options...>, First, Tail...>
struct simd_kernel<Arch, In, bfloat16_conv2d_op<Filters, To, Options...>, First, Tail...>
    : detail::simd_bfloat16_conv<Arch, In, bfloat16_conv2d_op<Filters, To, Options...>, First, Tail...> {
  using simd_kernel::simd_bfloat16_conv::simd_bfloat16_conv;
};

}  // namespace levada
