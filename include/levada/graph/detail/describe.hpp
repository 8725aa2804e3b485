// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/describe.hpp: from types to values. The pipeline is flattened once, each place is looked at once, and
// what is known of it is written into a graph_info. The first mistake found on the way is the pipeline's mistake.

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/axes.hpp>
#include <levada/graph/detail/feedback.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/missing.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/on_backend.hpp>
#include <levada/graph/detail/pipeline.hpp>

namespace levada {
namespace detail {

/// What flows behind a mistake: nothing more is said about it.
struct unknown_item {};

/// What a sink gives: a following stage is a mistake.
struct nothing_more {};

/// What `for_each` gives to `collect`: graph/detail/for_each.hpp.
template <class T>
inline constexpr bool is_uncollected = false;

/// Ahead of the first part.
struct before_all {
  using out = void;
  using mistake = no_mistake;
  static constexpr fixed_string name = "input";
};

/// One part of the flattened pipeline in its place: what comes in, what goes out, in which form, or the mistake.
template <class Parts, std::size_t I>
struct place;

template <class Parts, std::size_t I>
consteval auto find_place_before() {
  if constexpr (order_of_parts<Parts>::is_line)
    return type_tag<place<Parts, I - 1>>{};
  else
    return type_tag<place<Parts, order_of_parts<Parts>::value.from[I][0]>>{};
}
template <class Parts, std::size_t I>
struct place_before : decltype(find_place_before<Parts, I>()) {};
template <class Parts>
struct place_before<Parts, 0> : type_tag<before_all> {};

template <class T>
concept fine_item = std::is_move_constructible_v<T> || is_tensor<T>;

/// A part that is no stage: the item passes by.
template <class Part, class Before>
struct at_part {
  using out = typename Before::out;
  using mistake = no_mistake;
  static constexpr auto name = Before::name;
  using behind = Before;
  using passes = void;
};

template <class T, class Before>
struct at_part<input_part<T>, Before> {
  static constexpr bool agrees = std::is_void_v<typename Before::out> || std::same_as<typename Before::out, T> ||
                                 std::same_as<typename Before::out, unknown_item>;
  using out = T;
  using mistake =
      std::conditional_t<!agrees,
                         nested_pipeline_declares_another_input_than_it_gets<
                             Before::name, gives_item<typename Before::out>, wants_item<T>>,
                         std::conditional_t<fine_item<T>, no_mistake, item_cannot_be_moved<Before::name, T>>>;
  static constexpr auto name = Before::name;
};
template <class T, class Before>
  requires(!std::is_object_v<T> || std::is_const_v<T> || std::is_volatile_v<T>)
struct at_part<input_part<T>, Before> {
  using out = unknown_item;
  using mistake = input_is_not_a_plain_object_type<T>;
  static constexpr auto name = Before::name;
};
/// Behind a sink the next stage says the mistake.
template <class T, class Before>
  requires(std::same_as<typename Before::out, nothing_more> && std::is_object_v<T> && !std::is_const_v<T> &&
           !std::is_volatile_v<T>)
struct at_part<input_part<T>, Before> {
  using out = nothing_more;
  using mistake = no_mistake;
  static constexpr auto name = Before::name;
};

/// What comes in by several ports: items by their names, or the branches of a fork; at the head of a pipeline it is
/// stated.
template <class... Named, class Before>
struct at_part<ports_part<Named...>, Before> {
  using items = named_items<Named...>;
  using before = typename Before::out;
  static constexpr bool agrees = std::is_void_v<before> || std::derived_from<before, items> ||
                                 std::same_as<before, branch_items<typename Named::item...>> ||
                                 std::same_as<before, unknown_item>;
  static constexpr bool fine = (fine_item<typename Named::item> && ...);
  using out = std::conditional_t<std::is_void_v<before>, items, std::conditional_t<agrees, before, unknown_item>>;
  using mistake =
      std::conditional_t<!agrees, graph_of_several_ports_takes_other_items<gives_item<before>, wants<items>>,
                         std::conditional_t<fine, no_mistake, item_cannot_be_moved<Before::name, items>>>;
  static constexpr auto name = Before::name;
};
/// One of them.
template <fixed_string Name, class T, std::size_t Index, class Before>
struct at_part<block_port<Name, T, Index>, Before> {
  using out = std::conditional_t<std::same_as<typename Before::out, unknown_item>, unknown_item, T>;
  using mistake = no_mistake;
  static constexpr auto name = Name;
};

/// What the branches of a fork give, ahead of its join.
template <class... Ends>
struct joined_places {
  static constexpr bool known = !(std::same_as<typename Ends::out, unknown_item> || ...);
  static consteval auto first_sink() {
    constexpr bool sinks[] = {std::same_as<typename Ends::out, nothing_more>...};
    constexpr std::size_t at = [] {
      std::size_t i = 0;
      while (i < sizeof...(Ends) && !sinks[i]) ++i;
      return i;
    }();
    if constexpr (at < sizeof...(Ends))
      return branch_ends_in_a_sink_and_gives_nothing_to_join<type_at<type_list<Ends...>, at>::name>{};
    else
      return no_mistake{};
  }
  using mistake = decltype(first_sink());
  using out = std::conditional_t<known && !mistake::is_mistake, branch_items<typename Ends::out...>, unknown_item>;
  static constexpr fixed_string name = "fork";
};
template <class Parts, std::size_t I, std::size_t... K>
joined_places<place<Parts, order_of_parts<Parts>::value.from[I][K]>...> joined_at(std::index_sequence<K...>);
template <class Parts, std::size_t I>
concept gathers_items = !order_of_parts<Parts>::is_line && order_of_parts<Parts>::value.takes[I] > 1;

/// What leaves by several outputs, by their names.
template <class Part, class Out>
struct named_outputs : type_tag<Out> {};
template <fixed_string... Name, class From, class... T>
struct named_outputs<graph_end<text_list<Name...>, From>, branch_items<T...>>
    : type_tag<named_items<named_item<Name, T>...>> {};
/// The item that leaves a pipeline.
template <class Parts>
using item_behind = typename named_outputs<typename type_at<Parts, Parts::size - 1>::part,
                                           typename place<Parts, Parts::size - 1>::out>::type;

/// Behind the branch of a tee the item goes on.
template <class Before, class End>
struct teed_place {
  static constexpr bool ends =
      std::same_as<typename End::out, nothing_more> || std::same_as<typename End::out, unknown_item>;
  using mistake = std::conditional_t<ends, no_mistake, tee_has_to_end_in_a_sink<End::name, typename End::out>>;
  using out = typename Before::out;
  static constexpr auto name = Before::name;
};

template <class Stage, class Before>
consteval auto form_at() {
  using in = typename Before::out;
  if constexpr (std::same_as<in, unknown_item>)
    return call_form<form::map, unknown_item>{};
  else if constexpr (std::is_void_v<in>) {
    if constexpr (requires { Stage::form_written; }) {
      if constexpr (Stage::form_written == written::source)
        return form_of_source<Stage::name, typename Stage::callable_type>();
      else
        return pipeline_starts_without_input_or_source<Stage::name>{};
    } else
      return pipeline_starts_without_input_or_source<Stage::name>{};
  } else
    return stage_form<Stage, Before::name, in>{};
}

template <class Form, fixed_string Name>
struct outcome {
  using out = unknown_item;
  using mistake = Form;
};
template <form F, class Out, fixed_string Name>
struct outcome<call_form<F, Out>, Name> {
  using out = Out;
  using mistake = std::conditional_t<fine_item<Out> || std::same_as<Out, unknown_item>, no_mistake,
                                     item_cannot_be_moved<Name, Out>>;
};
template <fixed_string Name>
struct outcome<call_form<form::sink, void>, Name> {
  using out = nothing_more;
  using mistake = no_mistake;
};

template <class Stage, class Before>
  requires is_stage<Stage>
struct at_part<Stage, Before> {
  static constexpr bool after_sink = std::same_as<typename Before::out, nothing_more>;
  static consteval auto found() {
    if constexpr (after_sink)
      return nothing_can_follow_a_sink<Before::name, Stage::name>{};
    else if constexpr (is_uncollected<typename Before::out>)
      return for_each_is_followed_by_no_collect<Before::name>{};
    else if constexpr (is_branch_items<typename Before::out> && !joins<Stage> && !requires { typename Stage::op_type; })
      return stage_behind_a_fork_has_to_join_its_branches<Stage::name>{};
    else if constexpr (joins<Stage> && !is_branch_items<typename Before::out> &&
                       !std::same_as<typename Before::out, unknown_item>)
      return join_has_no_fork_before_it<Stage::name, gives_item<typename Before::out>>{};
    else if constexpr (requires { typename refused_state<Stage, typename Before::out>::type; })
      return feedback_body_gives_another_state_than_the_initial_one<
          Stage::name, Before::name, gives_item<typename Before::out>,
          wants_item<typename refused_state<Stage, typename Before::out>::type>>{};
    else if constexpr (requires(typename Stage::callable_type& f, missing why) {
                         f.missed(why);
                         requires !noexcept(f.missed(why));
                       })
      return stage_is_told_of_missing_items_by_a_member_that_has_to_be_noexcept<Stage::name>{};
    else if constexpr (says_axes_wrong<Stage, Before>)
      return mistaken_axes<Stage, Before>();
    else
      return form_at<Stage, Before>();
  }
  using call = decltype(found());
  using out = typename outcome<call, Stage::name>::out;
  using mistake = typename outcome<call, Stage::name>::mistake;
  static constexpr auto name = Stage::name;
  using behind = Before;
};

template <class Parts, std::size_t I>
struct place : at_part<typename type_at<Parts, I>::part, typename place_before<Parts, I>::type> {
  using part = typename type_at<Parts, I>::part;
  using device = typename type_at<Parts, I>::device;
  using in = typename place_before<Parts, I>::type::out;
};

template <class Parts, std::size_t I>
  requires gathers_items<Parts, I>
struct place<Parts, I>
    : decltype(joined_at<Parts, I>(std::make_index_sequence<order_of_parts<Parts>::value.takes[I]>{})) {};
template <class Parts, std::size_t I>
  requires std::same_as<typename type_at<Parts, I>::part, tee_end>
struct place<Parts, I>
    : teed_place<typename place_before<Parts, I>::type, place<Parts, order_of_parts<Parts>::value.branch_end[I]>> {};

/// A pipeline with such a part need not have a stage.
template <class Part>
inline constexpr bool may_be_empty = false;

template <class Part>
inline constexpr std::size_t port_index = ~std::size_t{0};
template <fixed_string Name, class T, std::size_t Index>
inline constexpr std::size_t port_index<block_port<Name, T, Index>> = Index;
template <class Part>
concept is_port_of_block = port_index<Part> != ~std::size_t{0};

template <class Part>
inline constexpr bool is_split_after = false;
template <std::size_t... Stages>
inline constexpr bool is_split_after<split_after_part<Stages...>> = true;

template <class Stage>
inline constexpr bool is_source = false;
template <fixed_string Name, class F, concurrency C, class Out>
inline constexpr bool is_source<callable_stage<Name, F, C, written::source, Out>> = true;

template <class T>
consteval device_id pin_of() {
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return T::id;
}

template <class T>
constexpr value_info value_of(std::size_t producer) {
  value_info v{sizeof(T), alignof(T), element::other, {}, std::is_trivially_copyable_v<T>, producer};
  if constexpr (any_tensor<T> || is_batch_tensor<T>) {
    v.type = element_of<typename T::value_type>;
    v.extents = shape(std::span<const std::size_t>(T::extents));
  }
  return v;
}

/// A view of all that the input has, in another shape.
template <class Op, class In>
consteval bool shows_all() {
  return Op::template output<In>::elements == In::elements;
}

/// What an op says of the memory of its output. Of a batch only what holds for all of its items together.
template <class Op, class In>
constexpr void describe_reuse(node_info& node) {
  using item = item_of<In>;
  constexpr bool is_batch = items_of<In> != 0;
  if constexpr (requires { Op::in_place; }) {
    node.reuses = Op::in_place ? reuse::in_place : reuse::none;
  } else if constexpr (requires { Op::template view_at<item>; }) {
    constexpr std::ptrdiff_t at = Op::template view_at<item>;
    if constexpr (at >= 0 && (!is_batch || shows_all<Op, item>())) {
      node.reuses = reuse::view;
      node.view_offset = static_cast<std::size_t>(at) * sizeof(typename item::value_type);
    }
  } else if constexpr (requires { Op::template joins_in_a_row<item>; }) {
    node.reuses = Op::template joins_in_a_row<item> && !is_batch ? reuse::joins : reuse::none;
  }
}

template <class Place>
constexpr node_info node_of() {
  using stage_type = typename Place::part;
  node_info node;
  node.name = stage_type::name.view();
  node.how = Place::call::value;
  node.pin = pin_of<typename Place::device>();
  if constexpr (Place::call::value == form::op) {
    using op_type = typename stage_type::op_type;
    node.kind = op_type::kind;
    node.fuses_as = op_kind_of<op_type>();
    using in = op_input_t<typename Place::in>;
    using item = item_of<in, op_type>;
    constexpr std::size_t items = items_of<in, op_type>;
    node.flops = static_cast<double>(op_type::template flops<item>) * (items == 0 ? 1 : items);
    for (const parameter_info& p : op_type::template parameters<item>)
      node.parameter_bytes += p.extents.elements() * size_of(p.type);
    if constexpr (!is_bounded_tensor<in>) describe_reuse<op_type, in>(node);
    if constexpr (requires { op_type::template order<item>; }) node.order = op_type::template order<item>;
    if constexpr (requires { op_type::template holds<item>(); }) node.holds = op_type::template holds<item>();
  } else {
    node.kind = "callable";
    node.order = stage_type::how;
    node.border = border_of<stage_type>;
    using callable = typename stage_type::callable_type;
    node.beside = observes_missing<callable> || sides_of<callable, Place::call::value>::type::size != 0;
  }
  return node;
}

template <class Call, class Stage>
consteval auto stage_sides() {
  if constexpr (Call::is_mistake)
    return type_list<>{};
  else if constexpr (requires { typename Stage::callable_type; })
    return typename sides_of<typename Stage::callable_type, Call::value>::type{};
  else
    return type_list<>{};
}

template <class Parts, class Indices = std::make_index_sequence<Parts::size>>
struct flat_pipeline;

/// The flattened pipeline: its places, its mistake or its values.
template <class Parts, std::size_t... I>
struct flat_pipeline<Parts, std::index_sequence<I...>> {
  static constexpr std::size_t parts = Parts::size;
  template <std::size_t J>
  using part = typename type_at<Parts, J>::part;

  static constexpr bool stage_flags[parts] = {is_stage<part<I>>...};
  /// Nodes: the stages that are no source.
  static constexpr bool node_flags[parts] = {(is_stage<part<I>> && !is_source<part<I>>)...};

  static constexpr std::size_t count(const bool (&flags)[parts]) {
    std::size_t n = 0;
    for (bool f : flags) n += f ? 1u : 0u;
    return n;
  }
  static constexpr std::size_t stages = count(stage_flags);
  static constexpr std::size_t nodes = count(node_flags);
  using result = item_behind<Parts>;
  /// Values that no node gives: parts of another, and the whole of several outputs.
  static constexpr std::size_t parts_of_values = [] {
    if constexpr (order_of_parts<Parts>::is_line)
      return std::size_t{0};
    else
      return (std::size_t{0} + ... + (is_port_of_block<part<I>> ? 1 : 0)) + (is_named_items<result> ? 1 : 0);
  }();

  /// The index among the parts of the `n`-th flagged one.
  static constexpr std::size_t nth(const bool (&flags)[parts], std::size_t n) {
    for (std::size_t i = 0; i < parts; ++i)
      if (flags[i] && n-- == 0) return i;
    return parts;
  }

  template <std::size_t Node>
  using node_place = place<Parts, nth(node_flags, Node)>;

  /// Whether a part stands inside a group of parameters, of that name or, for none, of any.
  template <fixed_string Group>
  static consteval std::array<bool, (nodes > 0 ? nodes : 1)> nodes_in_group() {
    constexpr std::string_view begun[] = {begun_group<part<I>>...};
    constexpr bool ends[] = {std::same_as<part<I>, params_end>...};
    std::array<bool, (nodes > 0 ? nodes : 1)> in{};
    std::string_view open[parts + 1]{};
    std::size_t depth = 0, node = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      if (!begun[i].empty()) open[depth++] = begun[i];
      if (ends[i]) --depth;
      if (!node_flags[i]) continue;
      for (std::size_t d = 0; d < depth; ++d) in[node] = in[node] || Group.empty() || open[d] == Group.view();
      ++node;
    }
    return in;
  }
  static constexpr bool has_groups = (mark_of<part<I>>.opens_params || ...);

  /// The regions that are given to backends, and these.
  static constexpr bool gives_regions = (gives_region<part<I>> || ...);
  using given_backends = decltype((type_list<>{} + ... + typename given_backend<part<I>>::type{}));

  template <class Graph>
  static constexpr void mark_regions(Graph& graph) {
    constexpr std::string_view begun[] = {region_backend<part<I>>...};
    constexpr bool begins[] = {gives_region<part<I>>...};
    constexpr bool ends[] = {std::same_as<part<I>, given_end>...};
    std::size_t number[parts]{}, open[parts + 1]{}, depth = 0, node = 0, regions = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      if (begins[i]) {
        number[i] = begun[i].empty() ? 0 : ++regions;
        open[depth++] = i;
      }
      if (ends[i] && depth != 0) --depth;
      if (!node_flags[i]) continue;
      if (depth != 0) {
        graph.nodes[node].backend = begun[open[depth - 1]];
        graph.nodes[node].region = static_cast<std::uint16_t>(number[open[depth - 1]]);
      }
      ++node;
    }
  }

  /// What the stages take beside their items.
  template <std::size_t J>
  static consteval auto sides_at() {
    if constexpr (node_flags[J])
      return stage_sides<typename place<Parts, J>::call, part<J>>();
    else
      return type_list<>{};
  }
  static constexpr std::size_t side_count = (std::size_t{0} + ... + decltype(sides_at<I>())::size);
  static constexpr bool has_sides = side_count != 0;
  static consteval auto sides() {
    return lay_out_sides(wanted_places(decltype((sides_at<I>() + ... + type_list<>{})){}));
  }
  static consteval auto mistaken_sides() {
    constexpr std::size_t unattached = sides().unattached;
    if constexpr (unattached == side_count)
      return no_mistake{};
    else {
      constexpr std::size_t at = [] {
        std::size_t before = 0, found = parts;
        ((found = found == parts && unattached < before + decltype(sides_at<I>())::size ? I : found,
          before += decltype(sides_at<I>())::size),
         ...);
        return found;
      }();
      return stage_reads_side_data_that_no_stage_before_it_attached<part<at>::name>{};
    }
  }

  static consteval auto first_mistake() {
    if constexpr (decltype(wiring_mistake<Parts>())::is_mistake)
      return wiring_mistake<Parts>();
    else
      return mistake_of_parts();
  }
  static consteval auto mistake_of_parts() {
    constexpr bool wrong[] = {place<Parts, I>::mistake::is_mistake...};
    constexpr std::size_t at = [&] {
      for (std::size_t i = 0; i < parts; ++i)
        if (wrong[i]) return i;
      return parts;
    }();
    if constexpr (at < parts)
      return typename place<Parts, at>::mistake{};
    else if constexpr (is_uncollected<result>)
      return for_each_is_followed_by_no_collect<place<Parts, parts - 1>::name>{};
    else if constexpr (!order_of_parts<Parts>::is_line && nodes != 0)
      return mistaken_branches();
    else
      return mistaken_marks();
  }

  /// In a pipeline of branches.
  static consteval auto mistaken_branches() {
    constexpr std::size_t filter = [] {
      std::size_t found = parts;
      ((found = found == parts && loses_items<I>() ? I : found), ...);
      return found;
    }();
    constexpr std::size_t untaken = [] {
      std::size_t found = parts;
      ((found = found == parts && gives_to_nobody<I>() ? I : found), ...);
      return found;
    }();
    if constexpr (is_branch_items<result>)
      return fork_is_joined_by_no_stage{};
    else if constexpr (untaken < parts)
      return nothing_in_the_graph_takes_what_this_gives<named_mark<part<untaken>>::name>{};
    else if constexpr (filter < parts)
      return filter_in_a_branch_would_leave_its_join_without_a_partner<part<filter>::name>{};
    else {
      constexpr std::size_t node = shared_and_changed(describe());
      constexpr std::size_t placed = placed_in_a_loop(describe()), split = split_in_a_loop(describe());
      if constexpr (node < nodes)
        return stage_changes_or_consumes_an_item_that_another_branch_takes_too<node_place<node>::name>{};
      else if constexpr (placed < nodes)
        return stage_inside_a_feedback_cannot_run_on_a_device_of_its_own<node_place<placed>::name,
                                                                         typename node_place<placed>::device>{};
      else if constexpr (split < nodes)
        return feedback_cannot_be_split_behind_a_stage_inside_it<node_place<split>::name>{};
      else
        return mistaken_marks();
    }
  }
  template <std::size_t J>
  static consteval bool gives_to_nobody() {
    constexpr const auto& order = order_of_parts<Parts>::value;
    if constexpr (!order.untaken[J])
      return false;
    else if constexpr (mark_of<part<J>>.kind < block_mark::node)
      return true;
    else
      return !std::same_as<typename place<Parts, order.branch_end[J]>::out, nothing_more>;
  }
  template <std::size_t J>
  static consteval bool loses_items() {
    if constexpr (is_stage<part<J>>)
      return order_of_parts<Parts>::value.in_block[J] &&
             (place<Parts, J>::call::value == form::filter || place<Parts, J>::call::value == form::consume_filter);
    else
      return false;
  }
  /// The first node that changes or consumes what is taken once more behind it.
  template <class Graph>
  static consteval std::size_t shared_and_changed(const Graph& graph) {
    constexpr std::size_t values = nodes + parts_of_values + 1;
    std::size_t last[values]{};
    for (std::size_t n = 0; n < nodes; ++n) for_each_input(graph.nodes[n], [&](std::size_t v) { last[v] = n; });
    if (!graph.ends_in_sink) last[graph.result] = nodes;
    const auto is_taken_behind = [&](std::size_t v, std::size_t n) {
      const std::size_t whole = graph.values[v].part_of;
      if (last[v] > n || (whole < graph.values.size() && last[whole] > n)) return true;
      for (std::size_t w = 0; w < graph.values.size(); ++w)
        if (graph.values[w].part_of == v && last[w] > n) return true;
      return false;
    };
    std::size_t at = 0;
    while (at < nodes && !(consumes(graph.nodes[at]) && is_taken_behind(graph.nodes[at].in, at))) ++at;
    return at;
  }

  /// The first node of a feedback that would run elsewhere than on the processor, and that behind which it would be
  /// split.
  template <class Graph>
  static consteval std::size_t placed_in_a_loop(const Graph& graph) {
    std::size_t found = nodes;
    for_each_node_in_a_loop(graph.nodes, [&](std::size_t n) {
      if (found == nodes && graph.nodes[n].pin.kind != device_kind::cpu) found = n;
    });
    return found;
  }
  template <class Graph>
  static consteval std::size_t split_in_a_loop(const Graph& graph) {
    std::size_t depth = 0;
    for (std::size_t n = 0; n < nodes; ++n) {
      if (graph.nodes[n].border == loop_border::begins) ++depth;
      if (graph.nodes[n].border == loop_border::ends) --depth;
      if (depth != 0 && graph.nodes[n].split_after) return n;
    }
    return nodes;
  }

  template <std::size_t... S>
  static consteval auto mistaken_split(split_after_part<S...>) {
    constexpr std::size_t beyond = [] {
      std::size_t found = ~std::size_t{0};
      ((found = found == ~std::size_t{0} && S + 1 >= stages ? S : found), ...);
      return found;
    }();
    if constexpr (beyond != ~std::size_t{0})
      return split_after_names_no_stage<beyond, stages>{};
    else
      return no_mistake{};
  }

  template <std::size_t J>
  static consteval auto mistaken_mark() {
    if constexpr (std::same_as<part<J>, split_here_part>) {
      constexpr bool inner = [] {
        bool before = false, behind = false;
        for (std::size_t i = 0; i < parts; ++i) (i < J ? before : behind) |= stage_flags[i];
        return before && behind;
      }();
      return std::conditional_t<inner, no_mistake, split_here_has_no_stage_on_one_side>{};
    } else if constexpr (is_split_after<part<J>>)
      return mistaken_split(part<J>{});
    else
      return no_mistake{};
  }

  static consteval auto mistaken_marks() {
    if constexpr (nodes == 0) {
      return std::conditional_t<(may_be_empty<part<I>> || ...), no_mistake, pipeline_has_no_stage>{};
    } else {
      constexpr bool wrong[] = {decltype(mistaken_mark<I>())::is_mistake...};
      constexpr std::size_t at = [&] {
        for (std::size_t i = 0; i < parts; ++i)
          if (wrong[i]) return i;
        return parts;
      }();
      if constexpr (at < parts)
        return decltype(mistaken_mark<at>()){};
      else if constexpr (has_sides)
        return mistaken_sides();
      else
        return no_mistake{};
    }
  }

  template <std::size_t... S>
  static constexpr void mark(bool (&after)[parts + 1], split_after_part<S...>) {
    ((after[S] = true), ...);
  }
  template <class T>
  static constexpr void mark(bool (&)[parts + 1], T) {}

  /// The part that makes what flows out of part `at`; none where that is the pipeline's input.
  static constexpr std::size_t maker_of(std::size_t at) {
    if constexpr (order_of_parts<Parts>::is_line) {
      while (at < parts && !stage_flags[at]) --at;
    } else {
      constexpr bool makes[] = {(is_stage<part<I>> || gathers_items<Parts, I> || is_port_of_block<part<I>>)...};
      constexpr const auto& order = order_of_parts<Parts>::value;
      while (at < parts && !makes[at]) at = order.takes[at] == 0 ? parts : order.from[at][0];
    }
    return at;
  }

  /// What the stage at part `J` takes; `value_at` has what the parts before it give.
  template <std::size_t J>
  static constexpr void connect(node_info& node, const std::size_t (&value_at)[parts]) {
    constexpr std::size_t none = ~std::size_t{0};
    const auto value_from = [&](std::size_t from) { return from < parts ? value_at[from] : 0; };
    if constexpr (!order_of_parts<Parts>::is_line && is_branch_items<typename place<Parts, J>::in>) {
      constexpr const auto& order = order_of_parts<Parts>::value;
      const std::size_t join = maker_of(order.from[J][0]);
      node.in = join < parts ? none : 0;  // where it is what a stage around gives, that is one value
      for (std::size_t k = 0; join < parts && k < order.takes[join]; ++k) {
        const std::size_t v = value_from(maker_of(order.from[join][k]));
        if (node.in == none)
          node.in = v;
        else
          node.more.push_back(static_cast<std::uint16_t>(v));
      }
    } else if constexpr (order_of_parts<Parts>::is_line) {
      node.in = value_from(maker_of(J - 1));
    } else {
      node.in = value_from(maker_of(order_of_parts<Parts>::value.from[J][0]));
    }
  }

  /// The value that the port at part `J` stands for: one of those that branches before it give, or a part of one.
  template <std::size_t J, class Graph>
  static constexpr std::size_t value_of_port(Graph& graph, const std::size_t (&value_at)[parts]) {
    constexpr std::size_t index = port_index<part<J>>;
    constexpr const auto& order = order_of_parts<Parts>::value;
    constexpr std::size_t begin = order.from[J][0];
    constexpr std::size_t maker = maker_of(begin);
    using whole = typename place<Parts, begin>::out;
    if constexpr (is_branch_items<whole> && maker < parts) {
      const std::size_t from = maker_of(order.from[maker][index]);
      return from < parts ? value_at[from] : 0;
    } else if constexpr (is_branch_items<whole>) {
      value_info value = value_of<typename place<Parts, J>::out>(value_info::nobody);
      value.part_of = 0;
      value.part_offset = index * sizeof(void*);
      value.by_address = true;
      graph.values.push_back(value);
      return graph.values.size() - 1;
    } else {
      value_info value = value_of<typename place<Parts, J>::out>(value_info::nobody);
      value.part_of = maker < parts ? value_at[maker] : 0;
      value.part_offset = whole::template offset<index>();
      value.producer = graph.values[value.part_of].producer;
      graph.values.push_back(value);
      return graph.values.size() - 1;
    }
  }

  /// The value that leaves; that of several outputs is made of theirs.
  template <class Graph>
  static constexpr void find_result(Graph& graph, const std::size_t (&value_at)[parts]) {
    constexpr std::size_t last = maker_of(parts - 1);
    if constexpr (is_named_items<result> && is_branch_items<typename place<Parts, parts - 1>::out>) {
      graph.result = graph.values.size();
      value_info whole = value_of<result>(value_info::nobody);
      const auto add = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
        value_info& part = graph.values[value_at[maker_of(order_of_parts<Parts>::value.from[parts - 1][K])]];
        part.part_of = graph.result;
        part.part_offset = result::template offset<K>();
        whole.producer = part.producer;
      };
      [&]<std::size_t... K>(std::index_sequence<K...>) {
        (add(std::integral_constant<std::size_t, K>()), ...);
      }(std::make_index_sequence<result::size>());
      graph.values.push_back(whole);
    } else if constexpr (last < parts) {
      graph.result = value_at[last];
    }
  }

  static consteval auto describe() {
    graph_info<(nodes > 0 ? nodes : 1) + parts_of_values> graph;
    std::size_t value_at[parts]{};
    bool split[parts + 1]{};  // over stages
    std::size_t stage = 0;
    (
        [&] {
          using here = part<I>;
          if constexpr (is_stage<here>) ++stage;
          if constexpr (std::same_as<here, split_here_part>) split[stage - 1] = true;
          if constexpr (!is_stage<here> && std::is_empty_v<here>) mark(split, here{});
        }(),
        ...);
    stage = 0;
    (
        [&] {
          using at = place<Parts, I>;
          if constexpr (is_source<part<I>>) {
            graph.source = part<I>::name.view();
            graph.values.push_back(value_of<typename at::out>(value_info::nobody));
            ++stage;
          } else if constexpr (is_stage<part<I>>) {
            node_info node = node_of<at>();
            node.split_after = split[stage++];
            connect<I>(node, value_at);
            if constexpr (!std::same_as<typename at::out, nothing_more>)
              graph.values.push_back(value_of<typename at::out>(graph.nodes.size()));
            node.out = node.how == form::sink ? node.in : graph.values.size() - 1;
            value_at[I] = node.out;
            graph.nodes.push_back(node);
          } else if constexpr (is_port_of_block<part<I>>) {
            value_at[I] = value_of_port<I>(graph, value_at);
          } else if constexpr (!std::is_void_v<typename at::out>) {
            if (graph.values.empty()) graph.values.push_back(value_of<typename at::out>(value_info::nobody));
          }
        }(),
        ...);
    graph.ends_in_sink = std::same_as<typename place<Parts, parts - 1>::out, nothing_more>;
    find_result(graph, value_at);
    for_each_node_in_a_loop(graph.nodes, [&](std::size_t n) {
      if (!graph.nodes[n].pin) graph.nodes[n].pin = {device_kind::cpu};
      graph.nodes[n].order = concurrency::serial;
    });
    if constexpr (gives_regions) mark_regions(graph);
    if constexpr (has_sides) {
      graph.side_bytes = sides().bytes;
      graph.side_alignment = sides().alignment;
    }
    return graph;
  }
};

template <class Pipeline>
using flat = flat_pipeline<typename flatten<Pipeline, void>::type>;

}  // namespace detail

/// A pipeline of one rate as plain values.
template <pipeline_part Pipeline>
  requires correct<decltype(detail::flat<Pipeline>::first_mistake())>
consteval auto describe() {
  return detail::flat<Pipeline>::describe();
}

}  // namespace levada
