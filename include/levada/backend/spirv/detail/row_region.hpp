// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/row_region.hpp: reductions along the last axis with the element-wise ops around them, as softmax
// and the norms are when they are written as their parts, as one dispatch. What is a number of each row is computed
// once; what is a row is made again for each pass over it, of the inputs, and never written.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/backend/detail/region_function.hpp>
#include <levada/backend/detail/region_kind.hpp>
#include <levada/backend/spirv/detail/kernel_end.hpp>
#include <levada/backend/spirv/detail/reduce.hpp>
#include <levada/backend/spirv/detail/region.hpp>

namespace levada {

namespace detail {

/// What an op makes of a row: a reduction, or the function of elements.
template <class Op>
struct row_function : type_tag<function_of<Op>> {
  static constexpr const auto& of(const Op& op) { return op.function; }
};
template <reduction How, reduced_axes Kept, std::ptrdiff_t... Axes>
struct row_function<reduce_op<How, Kept, Axes...>> : type_tag<reduced_by<How>> {
  static constexpr reduced_by<How> of(const reduce_op<How, Kept, Axes...>&) { return {}; }
};
template <class F>
inline constexpr bool is_reduction = false;
template <reduction How>
inline constexpr bool is_reduction<reduced_by<How>> = true;

/// A function at a place of its own, so that one that captures nothing takes no room however often it is there: what a
/// kernel captures lies side by side.
template <class F, std::size_t Place>
class function_at {
 public:
  constexpr function_at(F f) : kept_(std::move(f)) {}
  constexpr const F& get() const { return kept_; }

 private:
  F kept_;
};
template <class F, std::size_t Place>
  requires std::is_empty_v<F> && std::is_default_constructible_v<F>
class function_at<F, Place> {
 public:
  function_at() = default;
  constexpr function_at(const F&) {}
  static constexpr F get() { return {}; }
};

/// Functions side by side.
template <class... F>
struct function_list {};
template <class F, class... Rest>
struct function_list<F, Rest...> {
  [[no_unique_address]] function_at<F, sizeof...(Rest)> first;
  [[no_unique_address]] function_list<Rest...> rest;

  template <std::size_t I>
  constexpr decltype(auto) get() const {
    if constexpr (I == 0)
      return first.get();
    else
      return rest.template get<I - 1>();
  }
};
constexpr function_list<> list_functions() { return {}; }
template <class F, class... Rest>
constexpr function_list<F, Rest...> list_functions(F f, Rest... rest) {
  return {std::move(f), list_functions(std::move(rest)...)};
}

/// Rows and numbers of each row, in the order of a region: inputs, then what its ops give.
template <class Region>
struct row_values;
template <class... In, class... RegionOps>
struct row_values<op_region<type_list<In...>, RegionOps...>> {
  static constexpr std::size_t inputs = sizeof...(In), ops = sizeof...(RegionOps);
  static constexpr shape all = rows_of(region_info(infos_of_region<op_region<type_list<In...>, RegionOps...>>::value));
  static constexpr std::size_t length = all[all.rank - 1], rows = all.elements() / length;

  template <class T>
  static constexpr operand_layout layout = layout_beside(shape_of<T>, all, 1);
  static constexpr std::array<operand_layout, inputs + ops> layouts{layout<In>...,
                                                                    layout<typename RegionOps::out_type>...};
  static constexpr bool is_row(std::size_t value) {
    return layouts[value] == operand_layout::full || layouts[value] == operand_layout::by_place;
  }

  template <std::size_t... From>
  static constexpr bounded<std::size_t, most_inputs> listed(std::index_sequence<From...>) {
    return {From...};
  }
  static constexpr std::array<bounded<std::size_t, most_inputs>, ops> origins{listed(typename RegionOps::origins{})...};

  /// Which values an element of that one is made of.
  static constexpr std::array<bool, inputs + ops> needed_for(std::size_t value) {
    std::array<bool, inputs + ops> needed{};
    needed[value] = true;
    for (std::size_t v = value + 1; v-- > inputs;)
      if (needed[v] && is_row(v))
        for (const std::size_t from : origins[v - inputs]) needed[from] = true;
    return needed;
  }
};

template <class Region, class Team, class... F>
struct row_region_source {
  using v = row_values<Region>;
  /// In the place of a value that is not known, or not needed.
  struct nothing {};

  [[no_unique_address]] function_list<F...> functions;

  template <class G, class... Buffer>
  constexpr void operator()(const G& g, const Buffer&... buffers) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto all = std::tie(buffers...);
      run<0>(g, all, number_of<I>(g, std::get<I>(all))...);
    }(std::make_index_sequence<v::inputs>());
  }

 private:
  template <std::size_t Op>
  using function = type_at<type_list<F...>, Op>;
  template <std::size_t Op>
  using origins = typename type_at<typename Region::op_list, Op>::origins;

  template <std::size_t I, class G, class Buffer>
  static constexpr auto number_of([[maybe_unused]] const G& g, [[maybe_unused]] const Buffer& buffer) {
    if constexpr (v::is_row(I))
      return nothing();
    else
      return operand_element<v::layouts[I]>(buffer, Team::row(g), 0);
  }

  /// The ops from that one on. `known`: the numbers before it.
  template <std::size_t Op, class G, class Buffers, class... Known>
  constexpr void run(const G& g, const Buffers& buffers, const Known&... known) const {
    if constexpr (Op == v::ops) {
      write(g, buffers, known...);
    } else if constexpr (is_reduction<function<Op>>) {
      using by = function<Op>;
      const auto joined = [](const auto& s, const auto& t) { return by::joined(s, t); };
      const auto y = Team::fold(
          g, by::none,
          [&](const auto& i, const auto& s) {
            const auto x = element(origins<Op>{}, g, buffers, i, known...);
            return by::joined(s, by::of(x));
          },
          joined);
      run<Op + 1>(g, buffers, known..., by::finished(y, Team::length));
    } else if constexpr (v::is_row(v::inputs + Op)) {
      run<Op + 1>(g, buffers, known..., nothing());
    } else {
      run<Op + 1>(g, buffers, known..., made<Op>(origins<Op>{}, known...));
    }
  }

  template <class G, class Buffers, class... Known>
  constexpr void write(const G& g, const Buffers& buffers, const Known&... known) const {
    constexpr std::size_t last = v::inputs + v::ops - 1;
    const auto& out = std::get<v::inputs>(buffers);
    if constexpr (v::is_row(last))
      Team::each(g, [&](const auto& i) {
        out(Team::row(g), i) = element(std::index_sequence<last>{}, g, buffers, i, known...);
      });
    else
      Team::once(g, [&] { out(Team::row(g), 0) = value_at<last>(known...); });
  }

  /// The element `i` of a value.
  template <std::size_t Value, class G, class Buffers, class I, class... Known>
  constexpr auto element(std::index_sequence<Value>, const G& g, const Buffers& buffers, const I& i,
                         const Known&... known) const {
    return elements<Value>(g, buffers, i, std::tie(known...));
  }
  /// `at`: those of the values before.
  template <std::size_t Value, class G, class Buffers, class I, class Known, class... At>
  constexpr auto elements(const G& g, const Buffers& buffers, const I& i, const Known& known, const At&... at) const {
    constexpr std::size_t next = sizeof...(At);
    if constexpr (next > Value)
      return value_at<Value>(at...);
    else if constexpr (!v::needed_for(Value)[next])
      return elements<Value>(g, buffers, i, known, at..., nothing());
    else if constexpr (!v::is_row(next))
      return elements<Value>(g, buffers, i, known, at..., std::get<next>(known));
    else if constexpr (next < v::inputs)
      return elements<Value>(g, buffers, i, known, at...,
                             operand_element<v::layouts[next]>(std::get<next>(buffers), Team::row(g), i));
    else
      return elements<Value>(g, buffers, i, known, at..., made<next - v::inputs>(origins<next - v::inputs>{}, at...));
  }

  template <std::size_t Op, std::size_t... From, class... V>
  constexpr auto made(std::index_sequence<From...>, const V&... values) const {
    return as_value(functions.template get<Op>()(value_at<From>(values...)...), value_at<From>(values...)...);
  }
};

template <class Op>
inline constexpr bool reduces_on_device = element_op<Op>;
template <reduction How, reduced_axes Kept, std::ptrdiff_t... Axes>
inline constexpr bool reduces_on_device<reduce_op<How, Kept, Axes...>> = How != reduction::log_sum_exp;

template <class Region>
inline constexpr bool has_rows = is_row_region(region_info(infos_of_region<Region>::value));

}  // namespace detail

template <class... In, class... RegionOps>
  requires(!(detail::element_op<typename RegionOps::op_type> && ...)) &&
          (detail::has_rows<op_region<type_list<In...>, RegionOps...>>) &&
          (detail::reduces_on_device<typename RegionOps::op_type> && ...) && (sizeof...(In) < dispatch::most_buffers) &&
          detail::pushable<detail::function_list<typename detail::row_function<typename RegionOps::op_type>::type...>>
struct spirv_region_kernel<op_region<type_list<In...>, RegionOps...>>
    : detail::region_base<op_region<type_list<In...>, RegionOps...>> {
  using region = op_region<type_list<In...>, RegionOps...>;

  spirv_region_kernel(const typename RegionOps::op_type&... ops, parameter_values) {
    using v = detail::row_values<region>;
    using team = detail::row_team<v::rows, v::length>;
    using source =
        detail::row_region_source<region, team, typename detail::row_function<typename RegionOps::op_type>::type...>;
    std::size_t which = 0;
    add_bound_grid<"rows", std::tuple<detail::operand_tensor<v::template layout<In>, v::rows, v::length>...>,
                   std::tuple<detail::operand_tensor<v::layouts[v::inputs + v::ops - 1], v::rows, v::length>>,
                   typename team::over>(
        *this, source{detail::list_functions(detail::row_function<typename RegionOps::op_type>::of(ops)...)},
        {bound_tensor{buffer_role::input, 0, nullptr, sizeof(float) * In::elements, which++}...,
         bound_tensor{buffer_role::output}});
    this->finish();
  }
};

}  // namespace levada
