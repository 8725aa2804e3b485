// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/patterns.hpp: the shapes that most grid kernels have, from a small lambda: each element from its
// neighbours (`stencil`), each block to one element (`pool`), each row to one element (`reduce`), elements from other
// places (`gather`).

#include <levada/kernel/detail/grid_kernel.hpp>

namespace levada {

namespace kernel_detail {

template <class T>
struct image_of;
template <class T, std::size_t C, std::size_t H, std::size_t W>
struct image_of<tensor<T, C, H, W>> {
  using element = T;
  static constexpr std::size_t channels = C, height = H, width = W;
};
template <class T>
concept image_tensor = requires { image_of<T>::channels; };

/// Writes the element of an image C, H, W for which the invocation stands.
template <class G, class Out, class Element>
constexpr void write_element(const G& g, const Out& out, const Element& element) {
  const auto x = g.x();
  const auto y = g.y();
  const auto c = g.z();
  out(c, y, x) = element(c, y, x);
}

template <class F>
struct stencil_source {
  [[no_unique_address]] F f;

  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    write_element(g, out, [&](const auto& c, const auto& y, const auto& x) {
      return f([&](auto dy, auto dx) { return in.padded(c, y + dy, x + dx); });
    });
  }
};

template <std::size_t Size, class F>
struct pool_source {
  [[no_unique_address]] F f;

  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    constexpr int size = Size;
    write_element(g, out, [&](const auto& c, const auto& y, const auto& x) {
      return f([&](auto dy, auto dx) { return in(c, y * size + dy, x * size + dx); });
    });
  }
};

template <std::size_t Length, class T, class F>
struct reduce_source {
  uniform<T> initial;
  [[no_unique_address]] F f;

  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    const auto row = g.x();
    out(row) = g.fold(0, static_cast<int>(Length), initial, [&](auto i, auto s) { return f(s, in(row, i)); });
  }
};

template <class F>
struct gather_source {
  [[no_unique_address]] F f;

  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    write_element(g, out, [&](const auto& c, const auto& y, const auto& x) { return f(in, c, y, x); });
  }
};

/// One invocation for each element of an image C, H, W.
template <image_tensor Out>
using grid_over = grid<image_of<Out>::width, image_of<Out>::height, image_of<Out>::channels>;

}  // namespace kernel_detail

/// Each element of an image C, H, W from its neighbourhood: `stencil<"blur", In>([](auto at) { return (at(0, -1) +
/// at(0, 1)) * 0.5f; })`, where `at(dy, dx)` is 0 outside the image.
template <fixed_string Name, kernel_detail::image_tensor In, class F>
constexpr auto stencil(F f) {
  return grid_kernel<Name, In, In>(kernel_detail::grid_over<In>{}, kernel_detail::stencil_source<F>{f});
}

/// Each block of `Size` by `Size` elements of an image C, H, W to one: `f(at)`, where `at(dy, dx)` is inside the block.
/// Rows and columns that fill no block are left out.
template <fixed_string Name, std::size_t Size, kernel_detail::image_tensor In, class F>
  requires(Size > 0 && kernel_detail::image_of<In>::height >= Size && kernel_detail::image_of<In>::width >= Size)
constexpr auto pool(F f) {
  using image = kernel_detail::image_of<In>;
  using out = tensor<typename image::element, image::channels, image::height / Size, image::width / Size>;
  return grid_kernel<Name, In, out>(kernel_detail::grid_over<out>{}, kernel_detail::pool_source<Size, F>{f});
}

/// Each row of a tensor R, N to one element, in order: `s = f(s, x)` beginning with `initial`:
/// `reduce<"sum", In>(0.0f, [](auto s, auto x) { return s + x; })`.
template <fixed_string Name, class In, class F>
  requires(In::rank == 2)
constexpr auto reduce(kernel_detail::computed_t<typename In::value_type> initial, F f) {
  return grid_kernel<Name, In, tensor<typename In::value_type, In::extents[0]>>(
      grid<In::extents[0]>{}, kernel_detail::reduce_source<In::extents[1], decltype(initial), F>{{initial}, f});
}

/// Each element of an image `Out` by `f(in, c, y, x)`, which reads `in` wherever it likes: crops, flips, resizes.
template <fixed_string Name, kernel_detail::image_tensor In, kernel_detail::image_tensor Out, class F>
constexpr auto gather(F f) {
  return grid_kernel<Name, In, Out>(kernel_detail::grid_over<Out>{}, kernel_detail::gather_source<F>{f});
}

}  // namespace levada
