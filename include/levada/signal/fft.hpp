// SPDX-License-Identifier: Apache-2.0
#pragma once
// signal/fft.hpp: the discrete Fourier transform of real samples (ONNX DFT with onesided = 1), and its powers.

#include <bit>

#include <levada/nn/shape_rule.hpp>

namespace levada {

namespace detail {

/// A tensor of real samples along its last axis, of which a transform of `Size` takes all; 0: of their own length.
template <class In, std::size_t Size>
concept samples_for = floating_tensor<In> && (In::rank >= 1) && (Size == 0 || Size >= In::extents[In::rank - 1]) &&
                      (Size >= 2 || In::extents[In::rank - 1] >= 2);
template <class In, std::size_t Size>
inline constexpr std::size_t transform_size = Size == 0 ? In::extents[In::rank - 1] : Size;

template <class In, std::size_t Bins>
struct pairs_of_bins;
template <class T, std::size_t... Dims, std::size_t Bins>
struct pairs_of_bins<tensor<T, Dims...>, Bins> {
  template <std::size_t... I>
  static tensor<T, tensor<T, Dims...>::extents[I]..., Bins, 2> pick(std::index_sequence<I...>);
  using type = decltype(pick(std::make_index_sequence<sizeof...(Dims) - 1>()));
};

/// Additions and multiplications of a real transform, as is usual: 5/2 n log2 n.
constexpr double transform_flops(std::size_t size) {
  return 2.5 * static_cast<double>(size) * static_cast<double>(std::bit_width(size - 1));
}

}  // namespace detail

/// output[..., k, 0] + i output[..., k, 1] = sum over t of input[..., t] exp(-2 pi i k t / size), k from 0 to size / 2.
/// `Size` fills up with zeros; any size, best with no prime factor above 5.
template <std::size_t Size = 0>
struct rfft_op : weightless_op {
  static constexpr std::string_view kind = "rfft";
  static constexpr std::string_view expects =
      "a float or double tensor with at least two samples, and no more than the size";

  template <class In>
    requires detail::samples_for<In, Size>
  using output = typename detail::pairs_of_bins<In, detail::transform_size<In, Size> / 2 + 1>::type;

  template <class In>
  static constexpr double flops = static_cast<double>(In::elements / In::extents[In::rank - 1]) *
                                  detail::transform_flops(detail::transform_size<In, Size>);
};

/// The squares of the absolute values of that: output[..., k].
template <std::size_t Size = 0>
struct power_spectrum_op : weightless_op {
  static constexpr std::string_view kind = "power_spectrum";
  static constexpr std::string_view expects = rfft_op<Size>::expects;

  template <class In>
    requires detail::samples_for<In, Size>
  using output = with_last_extent_t<In, detail::transform_size<In, Size> / 2 + 1>;

  template <class In>
  static constexpr double flops =
      rfft_op<Size>::template flops<In> +
      3.0 * static_cast<double>(with_last_extent_t<In, detail::transform_size<In, Size> / 2 + 1>::elements);
};

namespace signal {

template <std::size_t Size = 0>
inline constexpr op_stage<"rfft", rfft_op<Size>> rfft{};
template <std::size_t Size = 0>
inline constexpr op_stage<"power_spectrum", power_spectrum_op<Size>> power_spectrum{};

}  // namespace signal
}  // namespace levada
