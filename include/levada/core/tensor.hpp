// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/tensor.hpp: the item of most pipelines, an array whose shape is its type; and views of memory that is not ours.

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <levada/core/detail/shape.hpp>

namespace levada {

/// A dense row-major array of static shape, stored in the object itself, aligned to 64 bytes (a cache line, an AVX-512
/// register). Trivially copyable; like a C array it is left uninitialised by `tensor<float, 3> t;` and zeroed by `{}`.
template <tensor_element T, std::size_t... Dims>
  requires(sizeof...(Dims) <= shape::max_rank && ((Dims > 0) && ...))
struct tensor {
  using value_type = T;
  static constexpr std::size_t rank = sizeof...(Dims);
  static constexpr std::array<std::size_t, rank> extents{Dims...};
  static constexpr std::size_t elements = (Dims * ... * std::size_t{1});

  alignas(64) T values[elements];

  static constexpr std::size_t size() { return elements; }
  constexpr T* data() { return values; }
  constexpr const T* data() const { return values; }
  constexpr T* begin() { return values; }
  constexpr T* end() { return values + elements; }
  constexpr const T* begin() const { return values; }
  constexpr const T* end() const { return values + elements; }

  constexpr T& operator[](std::size_t i) { return values[i]; }
  constexpr const T& operator[](std::size_t i) const { return values[i]; }

  /// The element at one index per axis: `image(channel, y, x)`. Indices are not checked.
  template <class... Index>
    requires(sizeof...(Index) == rank)
  constexpr T& operator()(Index... index) {
    return values[offset(static_cast<std::size_t>(index)...)];
  }
  template <class... Index>
    requires(sizeof...(Index) == rank)
  constexpr const T& operator()(Index... index) const {
    return values[offset(static_cast<std::size_t>(index)...)];
  }

  constexpr void fill(const T& value) {
    for (T& v : values) v = value;
  }

  friend constexpr bool operator==(const tensor& a, const tensor& b) {
    for (std::size_t i = 0; i < elements; ++i)
      if (!(a.values[i] == b.values[i])) return false;
    return true;
  }

 private:
  template <class... Index>
  static constexpr std::size_t offset(Index... index) {
    std::size_t at = 0;
    ((at = at * Dims + index), ...);
    return at;
  }
};

template <class T>
inline constexpr bool is_tensor = false;
template <class T, std::size_t... Dims>
inline constexpr bool is_tensor<tensor<T, Dims...>> = true;

/// Any `tensor<T, Dims...>`.
template <class T>
concept any_tensor = is_tensor<std::remove_cv_t<T>>;

/// The extents of a tensor type as a value.
template <any_tensor T>
inline constexpr shape shape_of = shape::of(T::extents);

/// A view of foreign memory as a tensor of static shape and run-time strides (counted in elements, outermost first, may
/// be negative or zero). Owns nothing and copies nothing. `T` may be const.
template <class T, std::size_t... Dims>
  requires tensor_element<std::remove_const_t<T>> && (sizeof...(Dims) <= shape::max_rank) && ((Dims > 0) && ...)
class tensor_view {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  static constexpr std::size_t rank = sizeof...(Dims);
  static constexpr std::array<std::size_t, rank> extents{Dims...};
  static constexpr std::size_t elements = (Dims * ... * std::size_t{1});
  using stride_array = std::array<std::ptrdiff_t, rank>;

  static constexpr stride_array dense_strides() {
    stride_array strides{};
    std::ptrdiff_t step = 1;
    for (std::size_t i = rank; i-- > 0; step *= static_cast<std::ptrdiff_t>(extents[i])) strides[i] = step;
    return strides;
  }

  /// A dense row-major view of `elements` values at `data`.
  constexpr explicit tensor_view(T* data) : tensor_view(data, dense_strides()) {}
  constexpr tensor_view(T* data, const stride_array& strides) : data_(data), strides_(strides) {}
  constexpr tensor_view(tensor<value_type, Dims...>& owner) : tensor_view(owner.data()) {}
  constexpr tensor_view(const tensor<value_type, Dims...>& owner)
    requires std::is_const_v<T>
      : tensor_view(owner.data()) {}
  constexpr tensor_view(const tensor_view<value_type, Dims...>& other)
    requires std::is_const_v<T>
      : tensor_view(other.data(), other.strides()) {}

  constexpr T* data() const { return data_; }
  constexpr const stride_array& strides() const { return strides_; }
  constexpr bool dense() const { return strides_ == dense_strides(); }

  template <class... Index>
    requires(sizeof...(Index) == rank)
  constexpr T& operator()(Index... index) const {
    std::ptrdiff_t at = 0;
    std::size_t axis = 0;
    ((at += static_cast<std::ptrdiff_t>(index) * strides_[axis++]), ...);
    return data_[at];
  }

  /// The viewed elements written into a dense tensor.
  constexpr void copy_to(tensor<value_type, Dims...>& out) const {
    std::array<std::size_t, rank> index{};
    for (std::size_t i = 0; i < elements; ++i) {
      std::ptrdiff_t at = 0;
      for (std::size_t a = 0; a < rank; ++a) at += static_cast<std::ptrdiff_t>(index[a]) * strides_[a];
      out[i] = data_[at];
      for (std::size_t a = rank; a-- > 0;) {
        if (++index[a] < extents[a]) break;
        index[a] = 0;
      }
    }
  }

 private:
  T* data_;
  stride_array strides_;
};

/// A dense tensor seen with another shape of as many elements; nothing is copied.
template <std::size_t... To, class T, std::size_t... From>
  requires((To * ... * std::size_t{1}) == (From * ... * std::size_t{1}))
constexpr tensor_view<T, To...> reshaped(tensor<T, From...>& t) {
  return tensor_view<T, To...>(t.data());
}
template <std::size_t... To, class T, std::size_t... From>
  requires((To * ... * std::size_t{1}) == (From * ... * std::size_t{1}))
constexpr tensor_view<const T, To...> reshaped(const tensor<T, From...>& t) {
  return tensor_view<const T, To...>(t.data());
}

/// The index of the largest element, the first of equals (ONNX ArgMax, flattened). NaN counts as smaller than any
/// number.
template <class T, std::size_t... Dims>
constexpr int argmax(const tensor<T, Dims...>& t) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < t.size(); ++i)
    if (t[i] > t[best] || (t[best] != t[best] && t[i] == t[i])) best = i;
  return static_cast<int>(best);
}

}  // namespace levada
