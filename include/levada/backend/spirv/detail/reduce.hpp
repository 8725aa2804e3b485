// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/reduce.hpp: any axes joined into one number each, with the element-wise ops behind it at its
// end.

#include <limits>

#include <levada/backend/spirv/detail/element_wise.hpp>
#include <levada/backend/spirv/detail/rows.hpp>
#include <levada/nn/reduce.hpp>

namespace levada {

namespace detail {

/// Some axes of a tensor as one: the place of its `index`-th element. Axes that lie side by side count as one.
struct joined_axes {
  std::array<std::size_t, shape::max_rank> extents{}, steps{};
  std::size_t count = 0;

  constexpr joined_axes(const shape& in, std::size_t mask) {
    std::size_t last = shape::max_rank;
    for (std::size_t axis = 0; axis < in.rank; ++axis) {
      if ((mask >> axis & 1) == 0) continue;
      const std::size_t step = strides_of(in)[axis];
      if (count > 0 && last + 1 == axis) {
        extents[count - 1] *= in[axis];
        steps[count - 1] = step;
      } else {
        extents[count] = in[axis];
        steps[count++] = step;
      }
      last = axis;
    }
  }

  template <class V>
  constexpr V place(const V& zero, const V& index) const {
    V at = zero, rest = index;
    for (std::size_t i = count; i-- > 0;) {
      const int extent = static_cast<int>(extents[i]);
      at += (i == 0 ? rest : rest % extent) * static_cast<int>(steps[i]);
      if (i != 0) rest = rest / extent;
    }
    return at;
  }
};

template <reduction How>
struct reduced_by {
  using enum reduction;
  static constexpr float none = How == max    ? -std::numeric_limits<float>::infinity()
                                : How == min  ? std::numeric_limits<float>::infinity()
                                : How == prod ? 1.0f
                                              : 0.0f;

  template <class V>
  static constexpr V of(const V& x) {
    if constexpr (How == l1)
      return abs(x);
    else
      return How == l2 || How == sum_square ? x * x : x;
  }
  template <class V>
  static constexpr V joined(const V& y, const V& x) {
    if constexpr (How == max)
      return select((x > y) | is_nan(x), x, y);
    else if constexpr (How == min)
      return select((x < y) | is_nan(x), x, y);
    else if constexpr (How == prod)
      return y * x;
    else
      return y + x;
  }
  template <class V>
  static constexpr V finished(const V& y, int count) {
    if constexpr (How == mean)
      return y / static_cast<float>(count);
    else if constexpr (How == l2)
      return sqrt(y);
    else if constexpr (How == log_sum)
      return log(y);
    else
      return y;
  }
};

template <const shape& Shape, std::size_t Mask, reduction How, class Team, class End>
struct reduce_source {
  [[no_unique_address]] End end;

  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    constexpr joined_axes kept(Shape, ~Mask), reduced(Shape, Mask);
    using by = reduced_by<How>;
    const auto zero = g.value(0);
    const auto from = kept.place(zero, zero + Team::row(g));
    const auto y = Team::fold(
        g, by::none, [&](auto i, auto s) { return by::joined(s, by::of(in(from + reduced.place(g.value(0), i)))); },
        [](auto s, auto t) { return by::joined(s, t); });
    Team::once(g, [&] { out(Team::row(g)) = end(by::finished(y, Team::length)); });
  }
};

}  // namespace detail

template <class In, reduction How, reduced_axes Kept, std::ptrdiff_t... Axes, class... End>
  requires op_takes<reduce_op<How, Kept, Axes...>, In> && std::same_as<typename In::value_type, float> &&
           (How != reduction::log_sum_exp) &&
           (detail::give_words<float, typename reduce_op<How, Kept, Axes...>::template output<In>, End...>) &&
           detail::pushable<detail::fused_t<End...>>
struct spirv_kernel<In, reduce_op<How, Kept, Axes...>, End...> : dispatch_kernel {
  using op_type = reduce_op<How, Kept, Axes...>;
  using made = typename op_type::template output<In>;
  using out_type = run_output_t<made, End...>;

  spirv_kernel(const op_type&, const End&... end, parameter_values) {
    using team = detail::row_team<made::elements, In::elements / made::elements>;
    using source = detail::reduce_source<shape_of<In>, op_type::template mask<In>, How, team, detail::fused_t<End...>>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(out_type);
    add_grid<"reduce", tensor<float, In::elements>, tensor<typename out_type::value_type, made::elements>,
             typename team::over>(*this, source{detail::fused<End...>::of(end...)});
  }
};

}  // namespace levada
