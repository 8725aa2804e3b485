// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/join.hpp: what a kernel with weights does with its results where they meet other values: a
// residual sum, a gate, a scale. It calls `join(x, channel, at, count)` with a vector of `count` results of a channel,
// from its `at`-th on, and stores what that returns.

#include <tuple>

#include <levada/backend/detail/region_function.hpp>
#include <levada/backend/simd/detail/transform.hpp>

namespace levada::detail {

/// The inputs of a region as a tuple, also where it takes one.
template <any_tensor In>
std::tuple<const In&> all_inputs(const In& in) {
  return {in};
}
template <class... In>
std::tuple<const In&...> all_inputs(const std::tuple<In...>& in) {
  return in;
}

/// Results that meet nothing.
struct no_join {
  template <class V, class Count>
  LEVADA_INLINE const V& operator()(const V& x, std::size_t, std::size_t, Count) const {
    return x;
  }
};

/// A function of the results and of the region's inputs, in this order. `Out` is the tensor of the results; an input
/// that the function does not take lies in any layout.
template <class Arch, class Out, std::size_t PlaceAxes, class Function, class... In>
class joined_results {
  using vec = vector<float, Arch>;
  using value = simd_value<float, Arch>;
  static constexpr std::size_t places = [] {
    std::size_t count = 1;
    for (std::size_t back = 1; back <= PlaceAxes; ++back) count *= Out::extents[Out::rank - back];
    return count;
  }();

 public:
  LEVADA_INLINE joined_results(const Function& function, const In&... in)
      : function_(function), data_{static_cast<const void*>(in.data())...} {}

  template <class Count>
  LEVADA_INLINE vec operator()(const vec& x, std::size_t channel, std::size_t at, Count count) const {
    return joined(x, channel, at, count, std::index_sequence_for<In...>());
  }

 private:
  template <class Count, std::size_t... I>
  LEVADA_INLINE vec joined(const vec& x, std::size_t channel, std::size_t at, Count count,
                           std::index_sequence<I...>) const {
    const value first{x};
    return kernel_detail::lift<float>(first, function_(first, operand<In, I>(first, channel, at, count)...)).rep;
  }
  template <class T, std::size_t I, class Count>
  LEVADA_INLINE value operand([[maybe_unused]] const value& results, [[maybe_unused]] std::size_t channel,
                              [[maybe_unused]] std::size_t at, Count) const {
    constexpr operand_layout layout = layout_beside(shape_of<T>, shape_of<Out>, PlaceAxes);
    if constexpr (!std::same_as<typename T::value_type, float> || layout == operand_layout::other) {
      return results;  // of the kernel with weights alone
    } else {
      const auto* from = static_cast<const float*>(data_[I]);
      if constexpr (layout == operand_layout::full)
        return value{load_part<Count::value, float, Arch>(from + channel * places + at)};
      else if constexpr (layout == operand_layout::by_place)
        return value{load_part<Count::value, float, Arch>(from + at)};
      else
        return value{vec(from[layout == operand_layout::by_channel ? channel : 0])};
    }
  }

  const Function& function_;
  const void* data_[sizeof...(In)];
};

}  // namespace levada::detail
