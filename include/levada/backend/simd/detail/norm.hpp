// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/norm.hpp: norms on vectors; a batch_norm behind a conv2d is folded into its weights. log_softmax
// with the exponentials on vectors.

#include <cmath>
#include <memory>

#include <levada/backend/simd/detail/conv2d.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/norm.hpp>

namespace levada {

namespace detail {

/// A batch norm as x * factor + offset of each channel.
template <class T, std::size_t Channels>
struct folded_norm {
  tensor<T, Channels> factor, offset;

  folded_norm(double epsilon, parameter_values p, std::size_t first) {
    for (std::size_t c = 0; c < Channels; ++c) {
      factor[c] = p.get<T>(first)[c] / std::sqrt(p.get<T>(first + 3)[c] + static_cast<T>(epsilon));
      offset[c] = p.get<T>(first + 1)[c] - p.get<T>(first + 2)[c] * factor[c];
    }
  }
};

/// `Conv` with a bias, in which that of the norm goes: in the place of `no_bias` stands what holds anyway.
template <class Conv>
struct with_bias;
template <std::size_t Filters, class... Options>
struct with_bias<conv2d_op<Filters, Options...>> {
  static constexpr window2d window = conv2d_op<Filters, Options...>::window;
  using same = dilation<window.dilation_y, window.dilation_x>;
  using type = conv2d_op<Filters, std::conditional_t<std::same_as<Options, no_bias>, same, Options>...>;
};

/// Rows normalised and scaled, element by element or each row by one number.
template <class Arch, class In, class Op>
class simd_row_norm {
 public:
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  simd_row_norm(const Op& op, parameter_values p) : epsilon_(static_cast<value>(op.epsilon)) {
    std::memcpy(scale_.data(), p.get<value>(0), sizeof scale_.values);
    std::memcpy(bias_.data(), p.get<value>(1), sizeof bias_.values);
  }

  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t r = 0; r < In::elements / row; ++r) normalise(in.data() + r * row, out.data() + r * row, r);
  }

 private:
  using vec = vector<value, Arch>;
  static constexpr std::size_t row = Op::template normalised_row<In>;
  static constexpr std::size_t parameters = Op::template parameters<In>[0].extents.elements();
  static constexpr bool one_a_row = std::same_as<Op, instance_norm_op>;
  static constexpr value length = static_cast<value>(row);

  void normalise(const value* in, value* out, std::size_t r) const {
    const value mean = sum(in, [](const auto& x) { return x; }) / length;
    const value variance = sum(in,
                               [mean](const auto& x) {
                                 const auto d = x - std::remove_cvref_t<decltype(x)>(mean);
                                 return d * d;
                               }) /
                           length;
    const value spread = std::sqrt(variance + epsilon_);
    const auto scaled = [&](const vec& x, const vec& scale, const vec& bias) {
      return multiply_add((x - vec(mean)) / vec(spread), scale, bias);
    };
    for_each_vector<value, Arch, row>(
        [&](std::size_t i) {
          scaled(load<value, Arch>(in + i), parameter<vec::size>(scale_, r, i), parameter<vec::size>(bias_, r, i))
              .store_unaligned(out + i);
        },
        [&](std::size_t i, auto n) {
          store_part<n>(out + i, scaled(load_part<n, value, Arch>(in + i), parameter<n>(scale_, r, i),
                                        parameter<n>(bias_, r, i)));
        });
  }

  template <std::size_t Count>
  LEVADA_INLINE static vec parameter(const tensor<value, parameters>& p, std::size_t r, std::size_t i) {
    if constexpr (one_a_row)
      return vec(p[r]);
    else
      return load_part<Count, value, Arch>(p.data() + i);
  }

  template <class F>
  LEVADA_INLINE static value sum(const value* in, F f) {
    constexpr std::size_t whole = row / vec::size * vec::size;
    value total = 0;
    if constexpr (whole != 0) {
      vec sums(value{0});
      for (std::size_t i = 0; i < whole; i += vec::size) sums = sums + f(load<value, Arch>(in + i));
      total = sum_of(sums);
    }
    if constexpr (whole != row)
      for (std::size_t i = whole; i < row; ++i) total += f(in[i]);
    return total;
  }

  value epsilon_;
  tensor<value, parameters> scale_, bias_;
};

}  // namespace detail

template <class Arch, class In>
  requires op_takes<batch_norm_op, In>
struct simd_kernel<Arch, In, batch_norm_op> {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  simd_kernel(const batch_norm_op& op, parameter_values p) : norm_(op.epsilon, p, 0) {}

  void operator()(const In& in, In& out, std::byte*) const {
    using namespace detail;
    constexpr std::size_t plane = In::elements / In::extents[0];
    for (std::size_t c = 0; c < In::extents[0]; ++c) {
      const vector<value, Arch> factor(norm_.factor[c]), offset(norm_.offset[c]);
      const value* from = in.data() + c * plane;
      value* to = out.data() + c * plane;
      for_each_vector<value, Arch, plane>(
          [&](std::size_t i) { multiply_add(load<value, Arch>(from + i), factor, offset).store_unaligned(to + i); },
          [&](std::size_t i, auto n) {
            store_part<n>(to + i, multiply_add(load_part<n, value, Arch>(from + i), factor, offset));
          });
    }
  }

 private:
  detail::folded_norm<value, In::extents[0]> norm_;
};

/// conv2d, batch_norm and what may follow a conv2d inside its kernel.
template <class Arch, class In, std::size_t Filters, class... Options, class... Tail>
  requires op_takes<conv2d_op<Filters, Options...>, In> &&
           op_kernel<simd_on<Arch>, In, typename detail::with_bias<conv2d_op<Filters, Options...>>::type, Tail...>
struct simd_kernel<Arch, In, conv2d_op<Filters, Options...>, batch_norm_op, Tail...> {
  using op_type = conv2d_op<Filters, Options...>;
  using biased = typename detail::with_bias<op_type>::type;
  using folded = simd_kernel<Arch, In, biased, Tail...>;
  using value = typename In::value_type;
  using out_type = run_output_t<In, op_type, Tail...>;

  static constexpr std::size_t scratch_bytes = folded::scratch_bytes;
  static constexpr std::size_t weight_bytes = [] {
    if constexpr (requires { folded::weight_bytes; })
      return folded::weight_bytes;
    else
      return sizeof(folded);
  }();
  static constexpr std::string_view method = detail::method_of<folded>;
  static constexpr std::size_t tiles = detail::tiles_of<folded>;

  simd_kernel(const op_type&, const batch_norm_op& norm, const Tail&... tail, parameter_values p)
      : simd_kernel(weights(norm, p), p.size() - own - 2, tail...) {}

  template <class Join = detail::no_join>
  void operator()(const In& in, out_type& out, std::byte* scratch, const Join& join = {}) const {
    kernel_(in, out, scratch, join);
  }
  template <class Join = detail::no_join>
  void of_tiles(const In& in, out_type& out, std::byte* scratch, detail::tile_range some, const Join& join = {}) const {
    kernel_.of_tiles(in, out, scratch, some, join);
  }

 private:
  static constexpr std::size_t own = op_type::template parameters<In>.size();
  static constexpr std::size_t filter = op_type::template parameters<In>[0].extents.elements() / Filters;

  struct parameters {
    tensor<value, Filters * filter> weight;
    tensor<value, Filters> bias;
    std::array<const void*, 2 + 4 * sizeof...(Tail)> all{weight.data(), bias.data()};  // no op has more than four
  };

  simd_kernel(const std::unique_ptr<parameters>& folded_parameters, std::size_t count, const Tail&... tail)
      : kernel_(biased(), tail..., parameter_values(std::span(folded_parameters->all).first(count))) {}

  static std::unique_ptr<parameters> weights(const batch_norm_op& norm, parameter_values p) {
    const detail::folded_norm<value, Filters> n(norm.epsilon, p, own);
    auto result = std::make_unique<parameters>();
    for (std::size_t f = 0; f < Filters; ++f) {
      for (std::size_t i = f * filter; i < (f + 1) * filter; ++i) result->weight[i] = p.get<value>(0)[i] * n.factor[f];
      result->bias[f] = n.offset[f];
      if constexpr (op_type::has_bias) result->bias[f] += p.get<value>(1)[f] * n.factor[f];
    }
    // Those of the ops behind the norm: a bias, or a pointwise convolution and its own norm.
    for (std::size_t i = own + 4; i < p.size(); ++i) result->all[i - own - 2] = p.get<value>(i);
    return result;
  }

  folded kernel_;
};

template <class Arch, class In>
  requires op_takes<instance_norm_op, In>
struct simd_kernel<Arch, In, instance_norm_op> : detail::simd_row_norm<Arch, In, instance_norm_op> {
  using simd_kernel::simd_row_norm::simd_row_norm;
};

template <class Arch, class In, std::ptrdiff_t Axis>
  requires op_takes<layer_norm_op<Axis>, In>
struct simd_kernel<Arch, In, layer_norm_op<Axis>> : detail::simd_row_norm<Arch, In, layer_norm_op<Axis>> {
  using simd_kernel::simd_row_norm::simd_row_norm;
};

template <class Arch, class In>
  requires op_takes<log_softmax_op, In>
struct simd_kernel<Arch, In, log_softmax_op> : detail::plain_simd_kernel<Arch, log_softmax_op> {
  using detail::plain_simd_kernel<Arch, log_softmax_op>::plain_simd_kernel;
  using value = typename In::value_type;

  void operator()(const In& in, In& out, std::byte*) const {
    using namespace detail;
    using vec = vector<value, Arch>;
    constexpr std::size_t length = In::extents[In::rank - 1];
    for (std::size_t at = 0; at < In::elements; at += length) {
      const value* row = in.data() + at;
      value* to = out.data() + at;
      value largest = row[0], sum = 0;
      for (std::size_t i = 1; i < length; ++i) largest = row[i] > largest ? row[i] : largest;
      for_each_vector<value, Arch, length>(
          [&](std::size_t i) { sum += sum_of(vec(xsimd::exp(load<value, Arch>(row + i) - vec(largest)))); },
          [&](std::size_t i, auto) {
            for (std::size_t k = i; k < length; ++k) sum += std::exp(row[k] - largest);
          });
      const vec whole(largest), rest(std::log(sum));
      for_each_vector<value, Arch, length>(
          [&](std::size_t i) { (load<value, Arch>(row + i) - whole - rest).store_unaligned(to + i); },
          [&](std::size_t i, auto n) { store_part<n>(to + i, load_part<n, value, Arch>(row + i) - whole - rest); });
    }
  }
};

}  // namespace levada
