// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/row_region.hpp: reductions along the last axis with the element-wise ops around them, as softmax
// and the norms are when they are written as their parts. Row after row goes through all ops: what lies between them is
// a row or a number in the first cache, and the region reads its inputs once and writes its output once.

#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <tuple>
#include <utility>

#include <levada/backend/simd/detail/activation.hpp>
#include <levada/backend/simd/detail/broadcast.hpp>
#include <levada/backend/simd/detail/join.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/reduce.hpp>
#include <levada/graph/detail/op_info.hpp>
#include <levada/graph/detail/op_region.hpp>

namespace levada {

namespace detail {

/// The op on a row of `Length`, or on a number of each row. `In`: rows or numbers.
template <class Arch, std::size_t Length, class Op, class... In>
struct row_op;
template <class Arch, std::size_t Length, reduction How, reduced_axes Kept, std::ptrdiff_t... Axes>
struct row_op<Arch, Length, reduce_op<How, Kept, Axes...>, tensor<float, Length>> {
  using op_type = reduce_op<How, reduced_axes::keep>;
  using out_type = tensor<float, 1>;
  using kernel = simd_kernel<Arch, tensor<float, Length>, op_type>;

  explicit row_op(const reduce_op<How, Kept, Axes...>&) : kernel_({}, no_parameters()) {}
  void operator()(const tensor<float, Length>& in, out_type& out) const { kernel_(in, out, nullptr); }

 private:
  static parameter_values no_parameters() { return parameter_values(std::span<const void* const>()); }
  kernel kernel_;
};
template <class Arch, std::size_t Length, class Op, class... In>
  requires element_op<Op>
struct row_op<Arch, Length, Op, In...> {
  using op_type = broadcast_op<function_of<Op>>;
  using out_type = run_output_t<std::tuple<In...>, op_type>;
  using kernel = simd_kernel<Arch, std::tuple<In...>, op_type>;

  explicit row_op(const Op& op) : kernel_(op_type(op.function), parameter_values(std::span<const void* const>())) {}
  void operator()(const In&... in, out_type& out) const { kernel_(std::tie(in...), out, nullptr); }

 private:
  kernel kernel_;
};

/// A row, or a number of each row, of a tensor of the region.
template <class T, std::size_t Length>
using region_row = tensor<float, T::extents[T::rank == 0 ? 0 : T::rank - 1] == Length ? Length : 1>;

}  // namespace detail

template <class Arch, class Region, class Inputs, class Ops>
class simd_row_kernel;

template <class Arch, class... In, class... RegionOps, std::size_t... I, std::size_t... O>
class simd_row_kernel<Arch, op_region<type_list<In...>, RegionOps...>, std::index_sequence<I...>,
                      std::index_sequence<O...>> {
  using region = op_region<type_list<In...>, RegionOps...>;
  using out_type = typename region::out_type;

  // ---- shapes ----
  template <class T>
  static constexpr void look_at(shape& largest) {
    if (T::elements > largest.elements()) largest = shape_of<T>;
  }
  static constexpr shape all = [] {
    shape largest = shape_of<out_type>;
    (look_at<In>(largest), ...);
    (look_at<typename RegionOps::out_type>(largest), ...);
    return largest;
  }();
  static constexpr std::size_t length = all[all.rank - 1], rows = all.elements() / length;

  /// What one row of a value is: inputs first, then what the ops give.
  template <std::size_t V>
  using value_type = type_at<type_list<In..., typename RegionOps::out_type...>, V>;
  template <std::size_t V>
  using row_type = detail::region_row<value_type<V>, length>;
  template <class RegionOp, std::size_t... From>
  static detail::row_op<Arch, length, typename RegionOp::op_type, row_type<From>...> op_of(
      std::index_sequence<From...>);
  template <class RegionOp>
  using op_on_rows = decltype(op_of<RegionOp>(typename RegionOp::origins{}));

  // ---- memory: a place for each row and number ----
  static constexpr std::size_t values = sizeof...(In) + sizeof...(RegionOps);
  static constexpr std::array<std::size_t, values + 1> offsets = [] {
    std::array<std::size_t, values + 1> at{};
    const std::size_t sizes[] = {sizeof(row_type<I>)..., sizeof(row_type<sizeof...(In) + O>)...};
    for (std::size_t v = 0; v < values; ++v) at[v + 1] = at[v] + detail::round_up(sizes[v], 64);
    return at;
  }();

 public:
  static constexpr std::size_t scratch_bytes = offsets[values];

  simd_row_kernel(const typename RegionOps::op_type&... ops, parameter_values) : ops_(op_on_rows<RegionOps>(ops)...) {}

  void operator()(const auto& given, out_type& out, std::byte* scratch) const {
    const auto in = detail::all_inputs(given);
    (::new (static_cast<void*>(scratch + offsets[I])) row_type<I>, ...);
    (::new (static_cast<void*>(scratch + offsets[sizeof...(In) + O])) row_type<sizeof...(In) + O>, ...);
    (fetch_shared<I>(std::get<I>(in), scratch), ...);
    constexpr std::size_t last = row_type<values - 1>::elements;
    for (std::size_t r = 0; r < rows; ++r) {
      (fetch<I>(std::get<I>(in), r, scratch), ...);
      (run<O>(scratch, typename RegionOps::origins{}), ...);
      std::memcpy(out.data() + r * last, place<values - 1>(scratch).data(), last * sizeof(float));
    }
  }

 private:
  template <std::size_t V>
  static row_type<V>& place(std::byte* scratch) {
    return *std::launder(reinterpret_cast<row_type<V>*>(scratch + offsets[V]));
  }
  /// The same for all rows.
  template <class T>
  static constexpr bool is_shared = T::elements == detail::region_row<T, length>::elements && rows != 1;
  template <std::size_t V>
  static void fetch_shared(const value_type<V>& in, std::byte* scratch) {
    if constexpr (is_shared<value_type<V>>)
      std::memcpy(place<V>(scratch).data(), in.data(), sizeof(float) * row_type<V>::elements);
  }
  template <std::size_t V>
  static void fetch(const value_type<V>& in, std::size_t row, std::byte* scratch) {
    constexpr std::size_t elements = row_type<V>::elements;
    if constexpr (!is_shared<value_type<V>>)
      std::memcpy(place<V>(scratch).data(), in.data() + row * elements, sizeof(float) * elements);
  }
  template <std::size_t Op, std::size_t... From>
  void run(std::byte* scratch, std::index_sequence<From...>) const {
    std::get<Op>(ops_)(place<From>(scratch)..., place<sizeof...(In) + Op>(scratch));
  }

  std::tuple<op_on_rows<RegionOps>...> ops_;
};

/// Reductions of rows with the element-wise ops around them.
template <class Arch, class... In, class... RegionOps>
  requires(
      !(detail::element_op<typename RegionOps::op_type> && ...) &&
      detail::is_row_region(region_info(detail::infos_of_region<op_region<type_list<In...>, RegionOps...>>::value)))
struct simd_region_kernel<Arch, op_region<type_list<In...>, RegionOps...>>
    : simd_row_kernel<Arch, op_region<type_list<In...>, RegionOps...>, std::index_sequence_for<In...>,
                      std::index_sequence_for<RegionOps...>> {
  using simd_row_kernel<Arch, op_region<type_list<In...>, RegionOps...>, std::index_sequence_for<In...>,
                        std::index_sequence_for<RegionOps...>>::simd_row_kernel;
};

}  // namespace levada
