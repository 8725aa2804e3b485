// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/move.hpp: ops that move elements. One kernel for all that are separable: each axis adds its part
// to the place, as a multiple of the index where it is one, else from a table. concat and split copy a run for each
// step of the outer axes.

#include <bit>
#include <cstring>
#include <vector>

#include <levada/backend/spirv/detail/elements.hpp>
#include <levada/backend/spirv/detail/transform.hpp>
#include <levada/image/crop.hpp>
#include <levada/nn/concat.hpp>
#include <levada/nn/move.hpp>

namespace levada {

namespace detail {

/// Elements as words or narrow unsigned numbers, with their bits; those of eight bytes are two words.
template <class T>
using moved_element =
    std::conditional_t<sizeof(T) == 1, std::uint8_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>;
template <class T>
inline constexpr int moved_words = sizeof(T) == 8 ? 2 : 1;
template <any_tensor Tensor>
using moved_row = tensor<moved_element<typename Tensor::value_type>,
                         Tensor::elements* static_cast<std::size_t>(moved_words<typename Tensor::value_type>)>;

template <std::ptrdiff_t... Axes>
struct element_wise<squeeze_op<Axes...>> {
  using function = same_value;
  static constexpr function of(squeeze_op<Axes...>) { return {}; }
};
template <std::ptrdiff_t... Axes>
struct element_wise<unsqueeze_op<Axes...>> {
  using function = same_value;
  static constexpr function of(unsqueeze_op<Axes...>) { return {}; }
};

/// How an axis of the output adds to the place in the input: `first + step * index`, or by a table.
struct axis_part {
  bool is_linear = false;
  std::ptrdiff_t first = 0, step = 0;
  std::size_t table = 0;  ///< where it begins among those of all axes
};

template <class In, class Op>
struct move_plan {
  static constexpr shape in = shape_of<In>, out = Op::result(in);

  static constexpr std::array<axis_part, shape::max_rank> parts = [] {
    std::array<axis_part, shape::max_rank> all{};
    std::size_t table = 0;
    for (std::size_t axis = 0; axis < out.rank; ++axis) {
      axis_part& p = all[axis];
      p.first = Op::part(in, axis, 0);
      p.step = out[axis] > 1 ? Op::part(in, axis, 1) - p.first : 0;
      p.is_linear = out[axis] <= 4096 && p.first >= 0;  // longer ones would take long to compile
      for (std::size_t i = 0; i < out[axis] && p.is_linear; ++i)
        p.is_linear = Op::part(in, axis, i) == p.first + static_cast<std::ptrdiff_t>(i) * p.step;
      p.table = table;
      if (!p.is_linear) table += out[axis];
    }
    return all;
  }();
  static constexpr std::size_t table_size = [] {
    std::size_t size = 0;
    for (std::size_t axis = 0; axis < out.rank; ++axis) size += parts[axis].is_linear ? 0 : out[axis];
    return size;
  }();

  /// Places as int32: what lies outside stays negative whatever is added to it.
  static std::vector<std::int32_t> tables() {
    std::vector<std::int32_t> all;
    for (std::size_t axis = 0; axis < out.rank; ++axis)
      for (std::size_t i = 0; !parts[axis].is_linear && i < out[axis]; ++i) {
        const std::ptrdiff_t part = Op::part(in, axis, i);
        all.push_back(part < 0 ? -(1 << 30) : static_cast<std::int32_t>(part));
      }
    return all;
  }
};

/// The table is there where an axis needs one.
template <class In, class Op, class Fill>
struct move_source {
  [[no_unique_address]] Fill fill;

  using plan = move_plan<In, Op>;
  static constexpr int words = moved_words<typename In::value_type>;

  template <class G, class From, class... Rest>
  constexpr void operator()(const G& g, const From& in, const Rest&... rest) const {
    using each = each_element<plan::out>;
    const auto& out = std::get<sizeof...(Rest) - 1>(std::tie(rest...));
    const auto at = each::sum(g, [&](std::size_t axis, const auto& index) {
      const axis_part& p = plan::parts[axis];
      if constexpr (plan::table_size != 0)
        if (!p.is_linear) return std::get<0>(std::tie(rest...))(index + static_cast<int>(p.table));
      return index * static_cast<int>(p.step) + static_cast<int>(p.first);
    });
    const auto to = each::place(g);
    for (int word = 0; word < words; ++word) {
      if constexpr (plan::table_size != 0)
        out(to * words + word) = fill.where(at >= 0, in(select(at >= 0, at, 0) * words + word), word);
      else
        out(to * words + word) = in(at * words + word);
    }
  }
};

struct zero_fill {
  template <class Condition, class V>
  constexpr auto where(const Condition& inside, const V& x, int) const {
    return select(inside, x, 0);
  }
};
/// The bits of the element that stands outside.
template <int Words>
struct pushed_fill {
  std::array<uniform<std::uint32_t>, static_cast<std::size_t>(Words)> bits;

  template <class Condition, class V>
  constexpr auto where(const Condition& inside, const V& x, int word) const {
    const uniform<std::uint32_t> own = bits[static_cast<std::size_t>(word)];
    if constexpr (std::same_as<typename V::element, std::uint32_t>)
      return select(inside, x, own);
    else
      return select(inside, x, to_int(kernel_detail::lift<std::uint32_t>(x, own)));
  }
};

template <class T>
pushed_fill<moved_words<T>> fill_of(T value) {
  pushed_fill<moved_words<T>> fill{};
  std::memcpy(&fill, &value, sizeof value);
  return fill;
}

template <fixed_string Name, class In, class Op, class Fill>
void add_move(dispatch_kernel& to, const Fill& fill) {
  using plan = move_plan<In, Op>;
  using out = tensor<moved_element<typename In::value_type>,
                     plan::out.elements() * static_cast<std::size_t>(moved_words<typename In::value_type>)>;
  using over = typename each_element<plan::out>::over;
  const move_source<In, Op, Fill> source{fill};
  if constexpr (plan::table_size != 0)
    add_grid<Name, moved_row<In>, out, over, tensor<std::int32_t, plan::table_size>>(to, source,
                                                                                     {plan::tables().data()});
  else
    add_grid<Name, moved_row<In>, out, over>(to, source);
}

/// Places are computed as int32.
template <class In>
concept movable_tensor = any_tensor<In> && (In::elements < (1u << 28));

/// A crop as a separable move.
template <std::size_t Y, std::size_t X, std::size_t Height, std::size_t Width, layout Layout>
struct crop_move {
  static constexpr shape result(const shape& in) {
    return Layout == layout::chw ? shape(in[0], Height, Width) : shape(Height, Width, in[2]);
  }
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    const std::size_t row = Layout == layout::chw ? 1 : 0;
    return offset(index + (axis == row ? Y : axis == row + 1 ? X : 0), strides_of(in)[axis]);
  }
};

}  // namespace detail

template <class In, class Op>
  requires moves_separably<Op, In> && detail::movable_tensor<In> && (!detail::element_wise_run<In, Op>)
struct spirv_kernel<In, Op> : dispatch_kernel {
  using value = typename In::value_type;

  static constexpr std::size_t weight_bytes = detail::move_plan<In, Op>::table_size * 4;

  spirv_kernel(const Op& op, parameter_values) {
    in_bytes = sizeof(In);
    out_bytes = sizeof(typename Op::template output<In>);
    if constexpr (requires { op.value; })
      detail::add_move<"pad", In, Op>(*this, detail::fill_of(static_cast<value>(op.fill())));
    else
      detail::add_move<"move", In, Op>(*this, detail::zero_fill{});
  }
};

namespace detail {

struct copy_source {
  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    out(g.x()) = in(g.x());
  }
};

/// Only the shape becomes another one.
template <class Op>
inline constexpr bool keeps_order = std::same_as<Op, flatten_op>;
template <std::size_t... Dims>
inline constexpr bool keeps_order<reshape_op<Dims...>> = true;

}  // namespace detail

/// Of elements that kernels do not compute with, else it fuses.
template <class In, class Op>
  requires(detail::keeps_order<Op> && op_takes<Op, In> && !detail::element_wise_run<In, Op>)
struct spirv_kernel<In, Op> : dispatch_kernel {
  spirv_kernel(const Op&, parameter_values) {
    using row = detail::moved_row<In>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(typename Op::template output<In>);
    add_grid<"reshape", row, row, grid<row::elements>>(*this, detail::copy_source{});
  }
};

template <class In, std::size_t Y, std::size_t X, std::size_t Height, std::size_t Width, layout Layout>
  requires op_takes<crop_op<Y, X, Height, Width, Layout>, In> && detail::movable_tensor<In>
struct spirv_kernel<In, crop_op<Y, X, Height, Width, Layout>> : dispatch_kernel {
  using op_type = crop_op<Y, X, Height, Width, Layout>;

  spirv_kernel(const op_type&, parameter_values) {
    in_bytes = sizeof(In);
    out_bytes = sizeof(typename op_type::template output<In>);
    detail::add_move<"crop", In, detail::crop_move<Y, X, Height, Width, Layout>>(*this, detail::zero_fill{});
  }
};

namespace detail {

/// `Run` elements of each row of `from`, from place `From` on, to place `To` of a row of `to`.
template <std::size_t FromRow, std::size_t From, std::size_t ToRow, std::size_t To>
struct copy_run_source {
  uniform<std::int32_t> from_lead, to_lead;

  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    out(g.y() * static_cast<int>(ToRow) + static_cast<int>(To) + g.x() + to_lead) =
        in(g.y() * static_cast<int>(FromRow) + static_cast<int>(From) + g.x() + from_lead);
  }
};

/// A tensor of a tuple in moved elements, with what may lie in front of it.
template <any_tensor Tensor>
using led_moved_row = tensor<moved_element<typename Tensor::value_type>,
                             moved_row<Tensor>::elements + 192 / sizeof(moved_element<typename Tensor::value_type>)>;

/// What lies in front of the tensor, in moved elements.
template <any_tensor Tensor>
uniform<std::int32_t> lead_of(const place_in_tuple& place) {
  return {place.lead.value * moved_words<typename Tensor::value_type>};
}

/// How long a run of each tensor is, in moved elements, along `Axis`, and where it begins behind those before it.
template <std::ptrdiff_t Axis, any_tensor... T>
struct runs_along {
  using first = std::tuple_element_t<0, std::tuple<T...>>;
  static constexpr std::size_t words = static_cast<std::size_t>(moved_words<typename first::value_type>);
  static constexpr std::array<std::size_t, sizeof...(T)> lengths{run_from(shape_of<T>, axis_of(Axis, first::rank)) *
                                                                 words...};
  static constexpr std::size_t rows = moved_row<first>::elements / lengths[0];

  static constexpr std::size_t before(std::size_t index) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < index; ++i) sum += lengths[i];
    return sum;
  }
  static constexpr std::size_t all = before(sizeof...(T));
};

}  // namespace detail

template <class... T, std::ptrdiff_t Axis>
  requires op_takes<concat_op<Axis>, std::tuple<T...>>
struct spirv_kernel<std::tuple<T...>, concat_op<Axis>> : dispatch_kernel {
  static constexpr bool takes_several = true;
  using in_type = std::tuple<T...>;
  using out_type = typename concat_op<Axis>::template output<in_type>;

  spirv_kernel(const concat_op<Axis>&, parameter_values) {
    in_bytes = sizeof(in_type);
    out_bytes = sizeof(out_type);
    detail::add_for_tensors<in_type>(*this, [&](const auto& places) { add(places, std::index_sequence_for<T...>()); });
  }

 private:
  template <class Places, std::size_t... I>
  void add(const Places& places, std::index_sequence<I...>) {
    using runs = detail::runs_along<Axis, T...>;
    (add_bound_grid<"concat", std::tuple<detail::led_moved_row<T>>, std::tuple<detail::moved_row<out_type>>,
                    grid<runs::lengths[I], runs::rows>>(
         *this,
         detail::copy_run_source<runs::lengths[I], 0, runs::all, runs::before(I)>{detail::lead_of<T>(places[I]), {0}},
         {places[I].as(buffer_role::input), bound_tensor{buffer_role::output}}),
     ...);
  }
};

namespace detail {

template <std::ptrdiff_t Axis, class In, class Out>
struct split_kernel;
template <std::ptrdiff_t Axis, class In, class... T>
struct split_kernel<Axis, In, std::tuple<T...>> : dispatch_kernel {
  split_kernel() {
    using runs = runs_along<Axis, T...>;
    in_bytes = sizeof(In);
    out_bytes = sizeof(std::tuple<T...>);
    const auto places = tensors_in<std::tuple<T...>>::places();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add_bound_grid<"split", std::tuple<moved_row<In>>, std::tuple<led_moved_row<T>>,
                      grid<runs::lengths[I], runs::rows>>(
           *this, copy_run_source<runs::all, runs::before(I), runs::lengths[I], 0>{{0}, lead_of<T>(places[I])},
           {bound_tensor{}, places[I].as(buffer_role::output)}),
       ...);
    }(std::index_sequence_for<T...>());
  }
};

}  // namespace detail

template <class In, std::ptrdiff_t Axis, std::size_t... Extents>
  requires op_takes<split_op<Axis, Extents...>, In>
struct spirv_kernel<In, split_op<Axis, Extents...>>
    : detail::split_kernel<Axis, In, typename split_op<Axis, Extents...>::template output<In>> {
  spirv_kernel(const split_op<Axis, Extents...>&, parameter_values) {}
};

namespace detail {

/// `Data` seen as outer x `Extent` x `run` moved elements; indices of `Words` words.
template <std::size_t Extent, std::size_t Run, std::size_t Indices, int Words>
struct gather_by_source {
  uniform<std::int32_t> data_lead, indices_lead;

  template <class G, class Data, class IndexBuffer, class Out>
  constexpr void operator()(const G& g, const Data& data, const IndexBuffer& indices, const Out& out) const {
    constexpr int extent = static_cast<int>(Extent), run = static_cast<int>(Run);
    const auto element = g.x(), which = g.y(), outer = g.z();
    const auto low = to_int(indices(which * Words + indices_lead));
    const auto from_front = select(low < 0, low + extent, low);
    auto inside = (from_front >= 0) & (from_front < extent);
    if constexpr (Words == 2) inside = inside & (to_int(indices(which * 2 + 1 + indices_lead)) == (low >> 31));
    const auto place = (outer * extent + select(inside, from_front, 0)) * run + element;
    out((outer * static_cast<int>(Indices) + which) * run + element) = select(inside, data(place + data_lead), 0);
  }
};

}  // namespace detail

template <class Data, class Indices, std::ptrdiff_t Axis>
  requires op_takes<gather_by_op<Axis>, std::tuple<Data, Indices>> && detail::movable_tensor<Data>
struct spirv_kernel<std::tuple<Data, Indices>, gather_by_op<Axis>> : dispatch_kernel {
  static constexpr bool takes_several = true;
  using in_type = std::tuple<Data, Indices>;
  using out_type = typename gather_by_op<Axis>::template output<in_type>;
  using index = typename Indices::value_type;

  spirv_kernel(const gather_by_op<Axis>&, parameter_values) {
    constexpr std::size_t axis = detail::axis_of(Axis, Data::rank), extent = Data::extents[axis];
    constexpr std::size_t run =
        detail::run_from(shape_of<Data>, axis) / extent * detail::moved_words<typename Data::value_type>;
    using words = std::conditional_t<sizeof(index) == 8, tensor<std::int32_t, 2 * Indices::elements>, Indices>;
    using led_indices = detail::led_row_of<words>;
    in_bytes = sizeof(in_type);
    out_bytes = sizeof(out_type);
    using over = grid<run, Indices::elements, detail::moved_row<Data>::elements / (extent * run)>;
    detail::add_for_tensors<in_type>(*this, [&](const auto& places) {
      add_bound_grid<"gather", std::tuple<detail::led_moved_row<Data>, led_indices>,
                     std::tuple<detail::moved_row<out_type>>, over>(
          *this,
          detail::gather_by_source<extent, run, Indices::elements, detail::moved_words<index>>{
              detail::lead_of<Data>(places[0]), detail::lead_of<Indices>(places[1])},
          {places[0].as(buffer_role::input), places[1].as(buffer_role::input), bound_tensor{buffer_role::output}});
    });
  }
};

}  // namespace levada
