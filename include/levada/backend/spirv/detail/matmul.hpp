// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/matmul.hpp: the batched matrix product, in tiles where the matrices fill them, else one
// invocation for each element; with the element-wise ops behind it at its end.

#include <levada/backend/spirv/detail/elements.hpp>
#include <levada/backend/spirv/detail/kernel_end.hpp>
#include <levada/backend/spirv/detail/product.hpp>
#include <levada/nn/matmul.hpp>

namespace levada {

namespace detail {

template <class A, class B, class End>
struct matmul_source {
  uniform<std::int32_t> left_lead, right_lead;
  [[no_unique_address]] End end;

  using s = matmul_shapes<A, B>;
  using tiles = tiled_product<s::rows, s::columns, s::inner, s::batch.elements()>;
  using over = std::conditional_t<tiles::pays, typename tiles::over, grid<s::columns, s::rows, s::batch.elements()>>;

  template <class G, class Left, class Right, class... Rest>
  constexpr void operator()(const G& g, const Left& a, const Right& b, const Rest&... rest) const {
    constexpr int rows = static_cast<int>(s::rows), inner = static_cast<int>(s::inner),
                  columns = static_cast<int>(s::columns);
    const auto a_at = matrix(g, s::left) * (rows * inner) + left_lead;
    const auto b_at = matrix(g, s::right) * (inner * columns) + right_lead;
    const auto left = [&](const auto& row, const auto& k) { return a(a_at + row * inner + k); };
    const auto right = [&](const auto& k, const auto& column) { return b(b_at + k * columns + column); };
    const auto store = [&, write = end.into(rest...)](const auto& row, const auto& column, const auto& sum) {
      write(g.z() * rows + row, column, sum);
    };
    if constexpr (tiles::pays) {
      tiles::run(
          g, [](const auto&) { return 0.0f; }, left, right, store);
    } else {
      const auto y = g.y(), x = g.x();
      store(y, x, g.fold(0, inner, 0.0f, [&](auto k, auto sum) { return sum + left(y, k) * right(k, x); }));
    }
  }

 private:
  /// Which of a tensor's matrices stands where the invocation does.
  template <class G>
  static constexpr auto matrix(const G& g, const shape& matrices) {
    auto at = g.value(0);
    auto rest = g.z();
    for (std::size_t axis = s::batch.rank; axis-- > 0;) {
      const int extent = static_cast<int>(s::batch[axis]);
      at += rest % extent * static_cast<int>(broadcast_step(batch_axes_of(matrices), s::batch, axis));
      rest = rest / extent;
    }
    return at;
  }
};

/// A product of matrices of float, of which `A` and `B` are bound as `left` and `right` say.
template <class A, class B>
struct matmul_base : dispatch_kernel {
  using s = matmul_shapes<A, B>;
  template <class F, operand_layout... Operands>
  using end_of = kernel_end<F, s::batch.elements() * s::rows, s::columns, Operands...>;

  static constexpr bool takes_several = true;

  /// Gives elements of that type.
  template <class Element, class End, std::size_t Operands>
  void add_with_end(const place_in_tuple& left, const place_in_tuple& right, const End& end,
                    const std::array<std::size_t, Operands>& operands) {
    using source = matmul_source<A, B, End>;
    add_bound_grid<"matmul", typename End::template inputs<led_row_of<A>, led_row_of<B>>,
                   typename End::template output<Element>, typename source::over>(
        *this, source{left.lead, right.lead, end},
        End::bound({left.as(buffer_role::input), right.as(buffer_role::input)}, operands));
  }
};

}  // namespace detail

template <class A, class B, class... End>
  requires op_takes<matmul_op, std::tuple<A, B>> && std::same_as<typename A::value_type, float> &&
           (detail::give_words<float, matmul_op::output<std::tuple<A, B>>, End...>) &&
           detail::pushable<detail::fused_t<End...>>
struct spirv_kernel<std::tuple<A, B>, matmul_op, End...> : detail::matmul_base<A, B> {
  using in_type = std::tuple<A, B>;
  using out_type = run_output_t<matmul_op::output<in_type>, End...>;

  spirv_kernel(const matmul_op&, const End&... end, parameter_values) {
    using end_type = typename spirv_kernel::template end_of<detail::fused_t<End...>>;
    this->in_bytes = sizeof(in_type);
    this->out_bytes = sizeof(out_type);
    detail::add_for_tensors<in_type>(*this, [&](const auto& places) {
      this->template add_with_end<typename out_type::value_type>(
          places[0], places[1], end_type{detail::fused<End...>::of(end...)}, std::array<std::size_t, 0>{});
    });
  }
};

}  // namespace levada
