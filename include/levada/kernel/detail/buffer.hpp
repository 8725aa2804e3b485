// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/buffer.hpp: tensors as a grid kernel's lambda sees them. `in(c, y, x)` reads, `out(c, y, x) = v`
// writes; the shape is static, so an index becomes arithmetic on constants. An invocation inside the grid has to stay
// inside the shapes, or read with `padded`: the interpreter throws where it does not.
//
// A grid, or its base `memory` for all of the kind, knows how to reach memory:
//   g.index(n)                        an int, a uniform or a value as an int32 value
//   g.value(x), g.literal<T>(n)       a value, uniform or number as a value; a number as a T
//   g.condition(c)                    a bool or a boolean value as a value
//   g.load<T>(slot, offset)           the element at that offset: 32-bit ones as they are, others as uint32
//   g.load_where<T>(slot, offset, ok) the same where `ok`, 0 elsewhere
//   g.store<T>(slot, offset, value)
//   g.row_major(extents, i...)        the offset of these indices, where it has a way of its own

#include <tuple>
#include <utility>

#include <levada/core/tensor.hpp>
#include <levada/kernel/detail/functions.hpp>
#include <levada/kernel/detail/operators.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada {

namespace kernel_detail {

/// The type of value that elements of type `T` are computed as.
template <class T>
using computed_t = std::conditional_t<
    std::is_same_v<T, half>, float,
    std::conditional_t<(std::is_integral_v<T> && sizeof(T) < 4 && !std::is_same_v<T, bool>), std::int32_t, T>>;

/// The type that a buffer gives and takes for elements of type `T`.
template <class T>
using raw_t = std::conditional_t<sizeof(T) == 4, T, std::uint32_t>;

template <class T>
concept buffer_element = ir::is_scalar<computed_t<T>> && !std::is_same_v<T, bool>;

template <buffer_element T>
constexpr ir::buffer_info buffer_of(std::size_t elements, bool is_output) {
  return {static_cast<std::uint32_t>(elements), sizeof(T), ir::scalar_type_of<raw_t<T>>, is_output};
}

/// A half as float. The bits are computed with, so that denormals are kept on every device.
template <class M>
constexpr auto widened_half(const kernel_value<std::uint32_t, M>& bits) {
  const auto sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  const auto normal = (magnitude << 13) + select(magnitude < 0x7c00u, 112u << 23, 224u << 23);
  const auto denormal = bit_cast_to_uint(to_float(bit_cast_to_int(magnitude)) * 0x1p-24f);
  return bit_cast_to_float(select(magnitude < 0x400u, denormal, normal) | sign);
}

/// A float as half, rounded to nearest, ties to even.
template <class M>
constexpr auto narrowed_half(const kernel_value<float, M>& x) {
  const auto bits = bit_cast_to_uint(x);
  const auto sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  const auto normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Below 2^-14 the half counts in steps of 2^-24, which adding 1/2 leaves in the lowest bits.
  const auto small = select(magnitude < 0x38800000u, bit_cast_to_float(magnitude), 0.0f);
  const auto denormal = bit_cast_to_uint(small + 0.5f) - 0x3f000000u;
  const auto finite = select(magnitude < 0x38800000u, denormal, normal);
  const auto large = select(magnitude > 0x7f800000u, 0x7e00u, 0x7c00u);
  return select(magnitude < 0x477ff000u, finite, large) | sign;
}

/// What a buffer of `T` gives, as the type that is computed with; and back.
template <class T, class V>
constexpr auto from_raw(const V& raw) {
  if constexpr (sizeof(T) == 4) {
    return raw;
  } else if constexpr (std::is_same_v<T, half>) {
    return widened_half(raw);
  } else if constexpr (std::is_signed_v<T>) {
    constexpr int unused = 32 - 8 * static_cast<int>(sizeof(T));
    return bit_cast_to_int(raw << unused) >> unused;
  } else {
    return bit_cast_to_int(raw);
  }
}
template <class T, class V>
constexpr auto to_raw(const V& value) {
  if constexpr (sizeof(T) == 4) {
    return value;
  } else if constexpr (std::is_same_v<T, half>) {
    return narrowed_half(value);
  } else {
    return bit_cast_to_uint(value);
  }
}

/// The place in a row-major tensor; indices that are numbers are computed with while compiling. Values are handed on by
/// reference: while compiling a copy costs half an addition.
template <class First>
constexpr const First& row_major(const First& only) {
  return only;
}
template <std::size_t Dim, class First, class Second>
constexpr auto row_major(const First& first, const Second& second) {
  return first * static_cast<int>(Dim) + second;
}
template <std::size_t Dim, std::size_t... Dims, class First, class Second, class... Rest>
constexpr auto row_major(const First& first, const Second& second, const Rest&... rest) {
  return row_major<Dims...>(first * static_cast<int>(Dim) + second, rest...);
}

template <class I>
inline constexpr bool is_index = std::is_same_v<element_t<I>, std::int32_t> || std::is_integral_v<I>;

/// What an index is computed with: numbers as int, the rest as values.
template <class G, class I>
constexpr decltype(auto) as_index(const G& g, const I& i) {
  if constexpr (std::is_integral_v<I>) {
    return static_cast<int>(i);
  } else {
    return g.index(i);
  }
}

// `&&` of conditions that are known and such that are not.
template <class M>
constexpr auto operator&&(const kernel_value<bool, M>& a, bool b) {
  return a & b;
}
template <class M>
constexpr auto operator&&(bool a, const kernel_value<bool, M>& b) {
  return b & a;
}

template <class G, class T>
struct offset_in;
template <class G, class T, std::size_t... Dims>
struct offset_in<G, tensor<T, Dims...>> {
  template <class... Index>
  static constexpr auto of(const G& g, const Index&... index) {
    static_assert(sizeof...(Index) == sizeof...(Dims), "a tensor takes one index for each of its axes");
    static_assert((is_index<Index> && ...), "an index is an int32: convert it with to_int");
    if constexpr (sizeof...(Index) == sizeof...(Dims) && (is_index<Index> && ...)) {
      if constexpr (requires { g.row_major(extents, index...); })
        return g.row_major(extents, index...);
      else
        return with_first_dropped<Dims...>(g, as_index(g, index)...);
    } else {
      return g.index(0);
    }
  }
  /// True where each index is inside; those that are numbers are checked while compiling.
  template <class... Index>
  static constexpr auto holds(const G& g, const Index&... index) {
    if constexpr (sizeof...(Index) == sizeof...(Dims) && (is_index<Index> && ...)) {
      return (inside<Dims>(as_index(g, index)) && ... && true);
    } else {
      return true;
    }
  }

 private:
  static constexpr std::uint32_t extents[sizeof...(Dims) + 1]{static_cast<std::uint32_t>(Dims)...};

  template <std::size_t, std::size_t... Inner, class... Index>
  static constexpr auto with_first_dropped(const G& g, const Index&... index) {
    if constexpr ((std::is_integral_v<Index> && ...)) {
      return g.index(row_major<Inner...>(index...));
    } else {
      return row_major<Inner...>(index...);
    }
  }
  template <std::size_t Dim, class I>
  static constexpr auto inside(const I& i) {
    if constexpr (std::is_integral_v<I>) {
      return i >= 0 && static_cast<std::size_t>(i) < Dim;
    } else {
      return bit_cast_to_uint(i) < static_cast<std::uint32_t>(Dim);
    }
  }
};

}  // namespace kernel_detail

/// A tensor that is read.
template <class G, any_tensor Tensor>
class input_buffer {
  using element = typename Tensor::value_type;
  using offset = kernel_detail::offset_in<G, Tensor>;

 public:
  static constexpr shape extents = shape_of<Tensor>;

  constexpr input_buffer(const G& g, std::uint32_t slot) : grid_(g), slot_(slot) {}

  /// The element at one index for each axis: narrow integers as int32, half as float.
  template <class... Index>
  constexpr auto operator()(const Index&... index) const {
    if constexpr (sizeof(element) == 4) {
      return grid_.template load<element>(slot_, offset::of(grid_, index...));
    } else {
      return kernel_detail::from_raw<element>(grid_.template load<element>(slot_, offset::of(grid_, index...)));
    }
  }
  template <class Index>
  constexpr auto operator[](const Index& index) const {
    return (*this)(index);
  }

  /// The element where all indices are inside, else 0.
  template <class... Index>
  constexpr auto padded(const Index&... index) const {
    return kernel_detail::from_raw<element>(grid_.template load_where<element>(
        slot_, offset::of(grid_, index...), grid_.condition(offset::holds(grid_, index...))));
  }
  /// The element where all indices are inside, else `value`.
  template <class Value, class... Index>
  constexpr auto padded_with(const Value& value, const Index&... index) const {
    const auto inside = grid_.condition(offset::holds(grid_, index...));
    return select(inside,
                  kernel_detail::from_raw<element>(
                      grid_.template load_where<element>(slot_, offset::of(grid_, index...), inside)),
                  value);
  }

 private:
  const G& grid_;
  std::uint32_t slot_;
};

/// A tensor that is written. Each element is written by one invocation at most, or the same value by several.
template <class G, any_tensor Tensor>
class output_buffer {
  using element = typename Tensor::value_type;
  using computed = kernel_detail::computed_t<element>;

  template <class Offset>
  struct place {
    const G& grid;
    std::uint32_t slot;
    Offset offset;

    template <class V>
    constexpr void operator=(const V& v) const {
      static_assert(kernel_detail::operand<V>, "an output takes a value, a number or a uniform");
      if constexpr (kernel_detail::number<V>) {
        store(grid.template literal<computed>(static_cast<computed>(v)));
      } else {
        static_assert(std::is_same_v<kernel_detail::element_t<V>, computed>,
                      "an output takes values of its own type: convert with to_float, to_int or to_uint");
        if constexpr (std::is_same_v<kernel_detail::element_t<V>, computed>) store(grid.value(v));
      }
    }

   private:
    template <class V>
    constexpr void store(const V& value) const {
      grid.template store<element>(slot, offset, kernel_detail::to_raw<element>(value));
    }
  };

 public:
  static constexpr shape extents = shape_of<Tensor>;

  constexpr output_buffer(const G& g, std::uint32_t slot) : grid_(g), slot_(slot) {}

  /// What `= value` writes to. Integers lose the bits there is no room for.
  template <class... Index>
  constexpr auto operator()(const Index&... index) const {
    const auto offset = kernel_detail::offset_in<G, Tensor>::of(grid_, index...);
    return place<std::remove_const_t<decltype(offset)>>{grid_, slot_, offset};
  }
  template <class Index>
  constexpr auto operator[](const Index& index) const {
    return (*this)(index);
  }

 private:
  const G& grid_;
  std::uint32_t slot_;
};

namespace kernel_detail {

/// The tensors of a kernel: of `T` itself, or of a std::tuple of tensors.
template <class T>
struct tensors_of {
  using type = std::tuple<T>;
};
template <class... T>
struct tensors_of<std::tuple<T...>> {
  using type = std::tuple<T...>;
};

/// Calls `f` with `g` and a buffer for each tensor of the tuples In and Out.
template <class In, class Out, class F, class G, std::size_t... I, std::size_t... O>
constexpr decltype(auto) call_with_buffers(const F& f, const G& g, std::index_sequence<I...>,
                                           std::index_sequence<O...>) {
  return f(g, input_buffer<typename G::memory, std::tuple_element_t<I, In>>(g, I)...,
           output_buffer<typename G::memory, std::tuple_element_t<O, Out>>(g, sizeof...(I) + O)...);
}
template <class Tuple>
using places_of = std::make_index_sequence<std::tuple_size_v<Tuple>>;

}  // namespace kernel_detail
}  // namespace levada
