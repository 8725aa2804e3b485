// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/quantize_bfloat16.hpp: a part of a pipeline of float computed with bfloat16: its conv2d and dense as those of
// nn/bfloat16.hpp, with bfloat16 between them where nothing but relus, clips, sums, pools and moves stands there, and
// float otherwise. It needs no calibration. The part may be a line, a graph, have forks and residual sums.
//
//   quantize<bfloat16>(nn::conv2d<"conv1", 8, size<5>>(w) | nn::relu | ... | nn::dense<"fc", 10>(w))

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <levada/graph/detail/rebuilt.hpp>
#include <levada/graph/detail/wiring.hpp>
#include <levada/nn/bfloat16.hpp>
#include <levada/nn/broadcast.hpp>
#include <levada/nn/concat.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/nn/quantize.hpp>
#include <levada/nn/reduce.hpp>

namespace levada {

namespace detail {

/// An op with weights as one of bfloat16.
template <class Op>
struct form_of_bfloat16;
template <std::size_t Filters, class... Options>
struct form_of_bfloat16<conv2d_op<Filters, Options...>> {
  template <class To>
  static constexpr bfloat16_conv2d_op<Filters, To, Options...> make(const result_range& range) {
    return {{}, range};
  }
};
template <std::size_t Outputs, class... Options>
struct form_of_bfloat16<dense_op<Outputs, Options...>> {
  template <class To>
  static constexpr bfloat16_dense_op<Outputs, To, Options...> make(const result_range& range) {
    return {range};
  }
};

/// What a part is to tensors of bfloat16.
enum class bfloat16_role : std::uint8_t {
  weighs,  ///< conv2d, dense: takes either, gives either
  sums,    ///< computed in float and rounded once
  limits,  ///< a relu or a clip: the range of what is before it, or computed so
  same,    ///< takes and gives either: a max pool, a move
  fills,   ///< the same, with numbers of its own: what limits it cannot be taken by what is before it
  joins,   ///< a mark behind which several values are one
  passes,  ///< a mark that items pass
  other    ///< float
};
template <class Part>
inline constexpr bfloat16_role bfloat16_role_of = [] {
  constexpr const block_mark& mark = mark_of<Part>;
  if (std::same_as<Part, identity_part> || mark.passes) return bfloat16_role::passes;
  if (mark.kind == block_mark::none || mark.changes_rate || is_port_of_block<Part>) return bfloat16_role::other;
  if (mark.kind == block_mark::output && mark.from.size() > 1) return bfloat16_role::other;
  return mark.kind == block_mark::join || mark.from.size() > 1 ? bfloat16_role::joins : bfloat16_role::passes;
}();

template <class Op>
inline constexpr bfloat16_role bfloat16_role_of_op = [] {
  if constexpr (requires { sizeof(form_of_bfloat16<Op>); })
    return bfloat16_role::weighs;
  else if constexpr (Op::kind == "pad" || Op::kind == "gather" || Op::kind == "trilu")
    return bfloat16_role::fills;
  else if constexpr (std::derived_from<Op, moving_op> || Op::kind == "max_pool2d")
    return bfloat16_role::same;
  else
    return bfloat16_role::other;
}();
template <>
inline constexpr bfloat16_role bfloat16_role_of_op<relu_op> = bfloat16_role::limits;
template <>
inline constexpr bfloat16_role bfloat16_role_of_op<transform_op<clip_between>> = bfloat16_role::limits;
template <>
inline constexpr bfloat16_role bfloat16_role_of_op<broadcast_op<sum_of_two>> = bfloat16_role::sums;
template <>
inline constexpr bfloat16_role bfloat16_role_of_op<broadcast_op<sum_of_all>> = bfloat16_role::sums;
template <class... Options>
inline constexpr bfloat16_role bfloat16_role_of_op<avg_pool2d_op<Options...>> = bfloat16_role::sums;
template <reduction How, reduced_axes Kept, std::ptrdiff_t... Axes>
  requires(How == reduction::mean || How == reduction::max)
inline constexpr bfloat16_role bfloat16_role_of_op<reduce_op<How, Kept, Axes...>> = bfloat16_role::sums;
template <fixed_string Name, class Op>
inline constexpr bfloat16_role bfloat16_role_of<op_stage<Name, Op>> = bfloat16_role_of_op<Op>;

/// Stages of a device that computes by itself stay what they are.
template <class Part, class Device>
inline constexpr bfloat16_role bfloat16_role_on = [] {
  if constexpr (!std::is_void_v<Device> && is_stage<Part>)
    return Device::id.kind == device_kind::cpu ? bfloat16_role_of<Part> : bfloat16_role::other;
  else
    return bfloat16_role_of<Part>;
}();

/// Which values of a flattened part are of bfloat16, and which op takes which range.
template <class Flat>
struct bfloat16_flow;
template <class... Part, class... Device>
struct bfloat16_flow<type_list<flat_part<Part, Device>...>> {
  using enum bfloat16_role;
  static constexpr std::size_t count = sizeof...(Part), none = ~std::size_t{0};
  static constexpr bfloat16_role role[count] = {bfloat16_role_on<Part, Device>...};
  static constexpr bool is_a_stage[count] = {is_stage<Part>...};
  static constexpr bool weighs_somewhere = any_true({(bfloat16_role_on<Part, Device> == weighs)...});

 private:
  using order = order_of_parts<type_list<flat_part<Part, Device>...>>;
  template <class Order>
  static consteval bool is_connected() {
    if constexpr (Order::is_line)
      return true;
    else
      return Order::value.wrong == wiring_error::none;
  }
  /// A loop goes on with what it gave, and what is wrongly connected is no graph.
  static constexpr bool flows = !any_true({(border_of<Part> != loop_border::none)...}) && is_connected<order>();

 public:
  /// The part before gives bfloat16. All values that ops without weights connect are alike: what one of them needs in
  /// float is float.
  static constexpr std::array<bool, count> narrow = [] {
    std::array<bool, count> all{};
    for (std::size_t i = 0; i + 1 < count; ++i) all[i] = flows && role[i] != other;
    for (bool changed = flows; changed;) {
      changed = false;
      const auto is_float = [&](std::size_t i) { changed = changed || all[i], all[i] = false; };
      for (std::size_t i = 1; i < count; ++i)
        for (std::size_t k = 0; k < order::takes(i) && role[i] != weighs; ++k) {
          if (!all[order::from(i, k)]) is_float(i);
          if (!all[i]) is_float(order::from(i, k));
        }
    }
    return all;
  }();

  /// The op that computes what a relu or a clip does, too: it is the only one that takes what comes from there.
  static constexpr std::array<std::size_t, count> limited = [] {
    std::array<std::size_t, count> takers{}, all{};
    for (std::size_t i = 1; i < count && flows; ++i)
      for (std::size_t k = 0; k < order::takes(i); ++k) ++takers[order::from(i, k)];
    for (std::size_t i = 0; i < count; ++i) {
      all[i] = none;
      if (role[i] != limits || !narrow[i]) continue;
      std::size_t at = order::from(i, 0);
      while (takers[at] == 1 && (role[at] == limits || role[at] == same || role[at] == passes)) at = order::from(at, 0);
      if (takers[at] == 1 && (role[at] == weighs || role[at] == sums)) all[i] = at;
    }
    return all;
  }();

  static constexpr std::size_t of_stage(std::size_t stage) {
    std::size_t i = 0;
    while (!is_a_stage[i] || stage-- != 0) ++i;
    return i;
  }
};

/// What comes in is float.
struct float_comes_in {};
template <class Part>
using bfloat16_flow_of =
    bfloat16_flow<decltype(type_list<flat_part<float_comes_in, void>>{} + typename flatten<Part, void>::type{})>;

template <class Part>
constexpr result_range range_of_stage(const Part&) {
  return {};
}
template <fixed_string Name>
constexpr result_range range_of_stage(const op_stage<Name, relu_op>&) {
  return not_below_zero;
}
template <fixed_string Name>
constexpr result_range range_of_stage(const op_stage<Name, transform_op<clip_between>>& clip) {
  return {clip.description.function.low.value, clip.description.function.high.value};
}

/// The ranges that ops are given by what is behind them.
template <class Flow>
struct collected_ranges {
  std::array<result_range, Flow::count> of{};

  template <std::size_t Stage, class Part>
  constexpr no_parts_yet operator()(const Part& part) {
    if constexpr (is_stage<Part>) {
      constexpr std::size_t to = Flow::limited[Flow::of_stage(Stage)];
      if constexpr (to != Flow::none) of[to] = of[to].then(range_of_stage(part));
    }
    return {};
  }
};

template <class Flow>
struct made_of_bfloat16 {
  const std::array<result_range, Flow::count>& range;

  template <std::size_t Stage, class Part>
  constexpr auto operator()(Part& part) const {
    if constexpr (is_op_stage<Part>)
      return of_op<Flow::of_stage(Stage)>(part);
    else
      return std::move(part);
  }

 private:
  template <std::size_t At, fixed_string Name, class Op>
  constexpr auto of_op(op_stage<Name, Op>& stage) const {
    using enum bfloat16_role;
    constexpr bfloat16_role role = Flow::role[At];
    if constexpr (role == weighs) {
      using to = std::conditional_t<Flow::narrow[At], bfloat16, float>;
      const auto made = form_of_bfloat16<Op>::template make<to>(range[At]);
      return op_stage<Name, std::remove_const_t<decltype(made)>>{made, stage.weights};
    } else if constexpr (Flow::limited[At] != Flow::none) {
      return no_parts_yet{};
    } else if constexpr (Flow::narrow[At] && (role == sums || role == limits)) {
      return op_stage<Name, in_bfloat16_op<Op>>{{{}, {}, stage.description, range[At]}, {}};
    } else {
      return std::move(stage);
    }
  }
};

template <class Part>
consteval auto find_bfloat16_mistake() {
  if constexpr (bfloat16_flow_of<Part>::weighs_somewhere)
    return no_mistake{};
  else
    return nothing_to_quantize_there_is_no_conv2d_and_no_dense{};
}
template <class Part>
using bfloat16_mistake = decltype(find_bfloat16_mistake<Part>());

}  // namespace detail

/// The part with each conv2d and dense computed with weights and inputs of bfloat16 and sums of float. What the part
/// gives is float.
template <std::same_as<bfloat16> To, pipeline_part Part>
  requires correct<detail::bfloat16_mistake<Part>>
constexpr auto quantize(Part part) {
  using flow = detail::bfloat16_flow_of<Part>;
  detail::collected_ranges<flow> ranges;
  detail::rebuilt<Part>::template with<0>(part, ranges);
  detail::made_of_bfloat16<flow> change{ranges.of};
  return detail::rebuilt<Part>::template with<0>(part, change);
}
template <std::same_as<bfloat16> To, pipeline_part Part>
  requires(detail::bfloat16_mistake<Part>::is_mistake)
mistake_found<detail::bfloat16_mistake<Part>> quantize(const Part&);

}  // namespace levada
