// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/matmul.hpp: the matrix product in tiles of some rows by some vectors of columns, which stay in
// registers while the inner axis passes, and through the functions of single elements behind it.

#include <levada/backend/simd/detail/join.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/region.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/nn/matmul.hpp>

namespace levada {

template <class Arch, class A, class B>
  requires op_takes<matmul_op, std::tuple<A, B>>
struct simd_kernel<Arch, std::tuple<A, B>, matmul_op> : detail::plain_simd_kernel<Arch, matmul_op> {
  using detail::plain_simd_kernel<Arch, matmul_op>::plain_simd_kernel;
  using in_type = std::tuple<A, B>;
  using value = typename A::value_type;

  template <class Join = detail::no_join>
  void operator()(const auto& in, matmul_op::output<in_type>& out, std::byte*, const Join& join = {}) const {
    for (std::size_t batch = 0; batch < s::batch.elements(); ++batch) {
      const value* a = std::get<0>(in).data() + s::matrix_at(s::left, batch) * s::rows * s::inner;
      const value* b = std::get<1>(in).data() + s::matrix_at(s::right, batch) * s::inner * s::columns;
      value* to = out.data() + batch * s::rows * s::columns;
      std::size_t y = 0;
      for (; y + tile_rows <= s::rows; y += tile_rows)
        rows<tile_rows>(a + y * s::inner, b, to + y * s::columns, batch * s::rows + y, join);
      if constexpr (s::rows % tile_rows != 0)
        rows<s::rows % tile_rows>(a + y * s::inner, b, to + y * s::columns, batch * s::rows + y, join);
    }
  }

 private:
  using s = detail::matmul_shapes<A, B>;
  using vec = detail::vector<value, Arch>;
  static constexpr std::size_t lanes = vec::size;
  // With three vectors a row, 4 * 3 sums, 3 columns and one element of the left side take 16 registers.
  static constexpr std::size_t tile_rows = std::min<std::size_t>(s::rows, 4);
  static constexpr std::size_t tile_columns = 3 * lanes;

  /// `row`: the first of them in the output.
  template <std::size_t Rows, class Join>
  static void rows(const value* a, const value* b, value* to, std::size_t row, const Join& join) {
    std::size_t x = 0;
    for (; x + tile_columns <= s::columns; x += tile_columns) tile<Rows, tile_columns>(a, b + x, to + x, row, x, join);
    if constexpr (s::columns % tile_columns != 0) tile<Rows, s::columns % tile_columns>(a, b + x, to + x, row, x, join);
  }

  template <std::size_t Rows, std::size_t Columns, class Join>
  LEVADA_INLINE static void tile(const value* a, const value* b, value* to, std::size_t row, std::size_t column,
                                 const Join& join) {
    using namespace detail;
    constexpr std::size_t vectors = ceil_div(Columns, lanes);
    constexpr auto width = [](std::size_t v) { return std::min(lanes, Columns - v * lanes); };
    vec sums[Rows][vectors];
    unrolled<Rows, vectors>([&](std::size_t y, std::size_t v) LEVADA_INLINE { sums[y][v] = vec(value{0}); });
    for (std::size_t k = 0; k < s::inner; ++k) {
      vec columns[vectors];
      static_for<vectors>([&](auto v) LEVADA_INLINE {
        vec loaded = load_part<width(v), value, Arch>(b + k * s::columns + v * lanes);
        keep<value, Arch>(loaded);
        columns[v] = loaded;
      });
      unrolled<Rows>([&](std::size_t y) LEVADA_INLINE {
        const vec left(a[y * s::inner + k]);
        unrolled<vectors>([&](std::size_t v)
                              LEVADA_INLINE { sums[y][v] = multiply_add(left, columns[v], sums[y][v]); });
      });
    }
    unrolled<Rows>([&](std::size_t y) LEVADA_INLINE {
      static_for<vectors>([&](auto v) LEVADA_INLINE {
        constexpr std::integral_constant<std::size_t, width(v)> count;
        store_part<count>(to + y * s::columns + v * lanes, join(sums[y][v], row + y, column + v * lanes, count));
      });
    });
  }
};

namespace detail {

/// A product of matrices and a chain of ops behind it as a region.
template <class A, class B, class Indices, class... Tail>
struct product_chain;
template <class A, class B, std::size_t... I, class... Tail>
struct product_chain<A, B, std::index_sequence<I...>, Tail...> {
  using product = matmul_op::output<std::tuple<A, B>>;
  using type =
      op_region<type_list<A, B>, region_op<matmul_op, std::tuple<A, B>, 0, 1>, region_op<Tail, product, I + 2>...>;
};

}  // namespace detail

/// A product whose results go through functions of one element.
template <class Arch, class A, class B, class... Tail>
  requires(sizeof...(Tail) > 0) && op_takes<matmul_op, std::tuple<A, B>> &&
          (detail::element_op<Tail> && ...) && detail::run_takes<std::tuple<A, B>, matmul_op, Tail...> && requires {
            sizeof(simd_region_kernel<
                   Arch, typename detail::product_chain<A, B, std::index_sequence_for<Tail...>, Tail...>::type>);
          }
struct simd_kernel<Arch, std::tuple<A, B>, matmul_op, Tail...>
    : simd_region_kernel<Arch, typename detail::product_chain<A, B, std::index_sequence_for<Tail...>, Tail...>::type> {
  using simd_region_kernel<
      Arch, typename detail::product_chain<A, B, std::index_sequence_for<Tail...>, Tail...>::type>::simd_region_kernel;
};

}  // namespace levada
