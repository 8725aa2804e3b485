// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/fork.hpp: branches. The item before a fork goes to each branch, and what the branches give is joined:
//
//   a | fork(b | c, identity) | join<"mix">(f)     f(const C&, const A&); or an op of several inputs: ... | nn::add
//   a | tee(b | sink<"log">(g)) | c                a branch that gives nothing back
//
//   graph(port<"x", T>, node<"a", "x">(f), node<"b", "a", "x">(join(g)), output<"y", "b">)     any graph
//
// A graph may have several ports and outputs: in a larger one it joins and forks, and a pipeline of its own takes and
// gives `named_items`. All nest. What lies between a fork and its join is a tuple of which each part stays where it was
// made.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/node_order.hpp>
#include <levada/graph/detail/params.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {

/// A branch without stages: the item as it is.
struct identity_part {};
inline constexpr identity_part identity{};

namespace detail {

/// Parts side by side.
template <class... Parts>
struct part_pack;
template <class First>
struct part_pack<First> {
  First first;
};
template <class First, class... Rest>
struct part_pack<First, Rest...> {
  First first;
  part_pack<Rest...> rest;
};

template <class Part>
[[gnu::always_inline]] constexpr auto make_pack(Part&& part) {
  return part_pack<Part>{std::move(part)};
}
template <class First, class Second, class... Rest>
[[gnu::always_inline]] constexpr auto make_pack(First&& first, Second&& second, Rest&&... rest) {
  return part_pack<First, Second, Rest...>{std::move(first), make_pack(std::move(second), std::move(rest)...)};
}
template <std::size_t I, class... Parts>
constexpr auto& pack_at(part_pack<Parts...>& pack) {
  if constexpr (I == 0)
    return pack.first;
  else
    return pack_at<I - 1>(pack.rest);
}

}  // namespace detail

/// Branches of one item.
template <class... Branches>
struct fork_part {
  detail::part_pack<Branches...> branches;
};

/// A branch beside the line.
template <class Branch>
struct tee_part {
  Branch branch;
};

namespace detail {

template <>
inline constexpr bool is_part<identity_part> = true;
template <class... B>
inline constexpr bool is_part<fork_part<B...>> = true;
template <class B>
inline constexpr bool is_part<tee_part<B>> = true;

template <class... Given>
struct first_no_part;
template <class First, class... Rest>
struct first_no_part<First, Rest...> : std::conditional_t<is_part<First>, first_no_part<Rest...>, type_tag<First>> {};
template <>
struct first_no_part<> {};

}  // namespace detail

/// The item goes to each branch; a join, or an op of several inputs, follows. At most `most_inputs` branches.
template <class... Branches>
  requires(sizeof...(Branches) >= 2 && sizeof...(Branches) <= most_inputs && (pipeline_part<Branches> && ...))
[[gnu::always_inline]] constexpr auto fork(Branches... branches) {
  return fork_part<Branches...>{detail::make_pack(std::move(branches)...)};
}
template <class... Given, class Mistake = fork_takes_two_to_eight_branches<sizeof...(Given)>>
  requires(sizeof...(Given) < 2 || sizeof...(Given) > most_inputs)
auto fork(const Given&... branches);
template <class... Given, class Mistake = no_part_of_a_pipeline_write_stage_with_a_name_around_it<
                              typename detail::first_no_part<Given...>::type>>
auto fork(const Given&... branches);

/// What enters a graph, by name.
template <fixed_string Name, class T>
struct port_part {};
template <fixed_string Name, class T>
inline constexpr port_part<Name, T> port{};

/// A part as a node of a graph.
template <class Part, fixed_string Name, fixed_string... From>
struct node_part {
  Part part;
};
/// `node<"m3", "m1", "x">(part)` takes what the nodes or ports "m1" and "x" give; several are joined. Of a node that is
/// a graph of several outputs, "m1.y" is one.
template <fixed_string Name, fixed_string... From, pipeline_part Part>
[[gnu::always_inline]] constexpr auto node(Part part) {
  return node_part<Part, Name, From...>{std::move(part)};
}

/// What leaves a graph: what that node gives.
template <fixed_string Name, fixed_string From>
struct output_part {};
template <fixed_string Name, fixed_string From>
inline constexpr output_part<Name, From> output{};

/// Nodes that take what others before them give: any graph without a cycle.
template <class... Parts>
struct graph_part {
  detail::part_pack<Parts...> parts;
};

namespace detail {

template <class... B>
inline constexpr bool is_part<graph_part<B...>> = true;

template <class T>
inline constexpr bool is_port = false;
template <fixed_string Name, class T>
inline constexpr bool is_port<port_part<Name, T>> = true;
template <class T>
inline constexpr bool is_node = false;
template <class Part, fixed_string Name, fixed_string... From>
inline constexpr bool is_node<node_part<Part, Name, From...>> = sizeof...(From) <= most_inputs;
template <class T>
inline constexpr bool is_output = false;
template <fixed_string Name, fixed_string From>
inline constexpr bool is_output<output_part<Name, From>> = true;

template <class Flat>
struct ops_in;
template <class... Flat>
struct ops_in<type_list<Flat...>> {
  static constexpr bool only = (requires { typename Flat::part::op_type; } && ...);
  static constexpr bool at_end = [] {
    bool is_op = false;
    ((is_op = is_stage<typename Flat::part> ? requires { typename Flat::part::op_type; } : is_op), ...);
    return is_op;
  }();
};

template <class Part>
inline constexpr graph_name named_part{};
template <fixed_string Name, class T>
inline constexpr graph_name named_part<port_part<Name, T>>{Name.view()};
template <fixed_string Name, fixed_string From>
inline constexpr graph_name named_part<output_part<Name, From>>{{}, {From.view()}, 1};
template <class Part, fixed_string Name, fixed_string... From>
inline constexpr graph_name named_part<node_part<Part, Name, From...>>{
    Name.view(),
    {From.view()...},
    sizeof...(From),
    ops_in<typename flatten<Part, void>::type>::only,
    ops_in<typename flatten<Part, void>::type>::at_end};

template <class... Parts>
consteval auto order_of_nodes() {
  constexpr graph_name names[] = {named_part<Parts>...};
  return node_order<sizeof...(Parts)>(names);
}

/// Ports, then nodes, then outputs; at most `most_inputs` of either rim.
template <class... Parts>
consteval bool are_parts_of_a_graph() {
  constexpr std::size_t ports = (std::size_t{0} + ... + is_port<Parts>);
  constexpr std::size_t outputs = (std::size_t{0} + ... + is_output<Parts>);
  if (ports == 0 || outputs == 0 || ports > most_inputs || outputs > most_inputs) return false;
  std::size_t at = 0;
  bool in_order = true;
  ((in_order = in_order && (at < ports                        ? is_port<Parts>
                            : at < sizeof...(Parts) - outputs ? is_node<Parts>
                                                              : is_output<Parts>),
    ++at),
   ...);
  return in_order;
}

}  // namespace detail

/// `graph(port<"x", T>, node<"a", "x">(f), node<"b", "a", "x">(g), output<"y", "b">)`: ports, nodes in an order in
/// which each follows those it takes from, and what leaves. It is a part, and a pipeline of its own. The nodes keep
/// their order, but for ops that take what one node gives to them alone: these follow it at once
/// (graph/detail/node_order.hpp).
template <class... Parts>
  requires(detail::are_parts_of_a_graph<Parts...>())
[[gnu::always_inline]] constexpr auto graph(Parts... parts) {
  constexpr auto order = detail::order_of_nodes<Parts...>();
  if constexpr (order.as_written) {
    return graph_part<Parts...>{detail::make_pack(std::move(parts)...)};
  } else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      const auto all = std::forward_as_tuple(parts...);
      return graph_part<type_at<type_list<Parts...>, order.at[I]>...>{
          detail::make_pack(std::move(std::get<order.at[I]>(all))...)};
    }
    (std::index_sequence_for<Parts...>{});
  }
}
template <class... Given, class Mistake = graph_is_ports_then_nodes_then_outputs<type_list<Given...>>>
  requires(!detail::are_parts_of_a_graph<Given...>())
auto graph(const Given&... given);

/// The item goes into a branch, which ends in a sink, and on.
template <pipeline_part Branch>
[[gnu::always_inline]] constexpr auto tee(Branch branch) {
  return tee_part<Branch>{std::move(branch)};
}

namespace detail {

/// What flows behind a fork: where the parts of each item are.
template <class... T>
struct branch_items {
  const void* at[sizeof...(T)];

  /// Calls `f` with all parts.
  template <class F>
  [[gnu::always_inline]] constexpr decltype(auto) apply(F&& f) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return f(*static_cast<const T*>(at[I])...);
    }(std::index_sequence_for<T...>{});
  }
};
template <class T>
inline constexpr bool is_branch_items = false;
template <class... T>
inline constexpr bool is_branch_items<branch_items<T...>> = true;

template <class... T>
struct op_input<branch_items<T...>> : type_tag<std::tuple<T...>> {};
template <class... T, template <class...> class Role>
struct shown<branch_items<T...>, Role> : type_tag<Role<T...>> {};

/// A callable of several items as one of what flows behind a fork.
template <class F>
struct joining {
  [[no_unique_address]] F callable;

  constexpr explicit joining(F&& f) : callable(std::move(f)) {}  // clang 16 cannot generate it as an aggregate

  template <class... T>
    requires std::is_invocable_v<F&, const T&...>
  constexpr decltype(auto) operator()(const branch_items<T...>& items) {
    return items.apply([&](const T&... t) -> decltype(auto) { return callable(t...); });
  }
  template <class Out, class... T>
    requires std::is_invocable_v<F&, const T&..., Out&>
  constexpr decltype(auto) operator()(const branch_items<T...>& items, Out& out) {
    return items.apply([&](const T&... t) -> decltype(auto) { return callable(t..., out); });
  }

  void missed(missing why) noexcept(told_without_throwing<F>)
    requires observes_missing<F>
  {
    callable.missed(why);
  }
};
/// What it takes of each branch, where it says that.
template <class F, template <class...> class Role>
struct shown<joining<F>, Role> : type_tag<Role<F>> {};
template <plain_callable F, template <class...> class Role>
struct shown<joining<F>, Role> {
  template <class... P>
  static Role<P...> of(type_list<P...>);
  using type = decltype(of(typename decltype(signature_for<F, void>())::arguments{}));
};
template <class Stage>
inline constexpr bool joins = false;
template <fixed_string Name, class F, concurrency C, written W, class Out>
inline constexpr bool joins<callable_stage<Name, joining<F>, C, W, Out>> = true;
template <fixed_string Name, class F, std::size_t Again, concurrency C, written W, class Out>
inline constexpr bool joins<retried_stage<Name, joining<F>, Again, C, W, Out>> = true;

template <class F>
struct bare_callable<joining<F>> : type_tag<F> {};

template <class F>
[[gnu::always_inline]] constexpr auto as_join(F&& f) {
  return joining<F>(std::move(f));
}
template <class F, std::size_t Again>
constexpr auto as_join(retried<F, Again>&& f) {
  return retried<joining<F>, Again>{joining<F>(std::move(f.callable))};
}

template <fixed_string Name, class Out, class F, concurrency Stated>
[[gnu::always_inline]] constexpr auto make_join(with_concurrency<F, Stated>&& f) {
  constexpr written how = std::is_void_v<Out> ? written::nothing : written::destination;
  using callable = decltype(as_join(std::move(f.callable)));
  return make_stage<Name, how, Out>(with_concurrency<callable, Stated>{as_join(std::move(f.callable))});
}
template <fixed_string Name, class Out, class F>
[[gnu::always_inline]] constexpr auto make_join(F&& f) {
  return make_join<Name, Out>(with_concurrency<F, natural_concurrency<F>>{std::move(f)});
}

}  // namespace detail

/// `Out f(const A&, const B&, ...)` behind a fork whose branches give A, B, ...; `std::optional<Out>` filters.
template <fixed_string Name = "join", class F>
[[gnu::always_inline]] constexpr auto join(F f) {
  return detail::make_join<Name, void>(std::move(f));
}
/// `void f(const A&, const B&, ..., Out&)` writes into its destination.
template <fixed_string Name, class Out, class F>
  requires(!std::is_same_v<Out, F>)
[[gnu::always_inline]] constexpr auto join(F f) {
  return detail::make_join<Name, Out>(std::move(f));
}

/// A callable is a stage of the node's name, or, of several nodes, a join.
template <fixed_string Name, fixed_string... From, class F>
  requires(!pipeline_part<F>)
[[gnu::always_inline]] constexpr auto node(F f) {
  if constexpr (sizeof...(From) == 1)
    return node<Name, From...>(stage<Name>(std::move(f)));
  else
    return node<Name, From...>(join<Name>(std::move(f)));
}

namespace detail {

// ---- in the flattened pipeline: a block of nodes between marks ----

/// A block begins: what comes in goes by that name.
template <fixed_string Name>
struct block_begin {};
/// A node of the block, which takes what those names stand for.
template <fixed_string Name, fixed_string... From>
struct block_node {};
struct join_end {};  ///< the block gives what all its nodes give
struct tee_end {};   ///< the block gives what came in
/// One of several ports: it stands for that part of what comes in.
template <fixed_string Name, class T, std::size_t Index>
struct block_port {};
/// What comes in is that of several ports.
template <class... Ports>
struct ports_part {};
/// The block gives what those names stand for.
template <class Names, class From>
struct graph_end {};
template <fixed_string... Text>
struct text_list {};

/// A mark as a value.
struct block_mark {
  enum kind_type : std::uint8_t { none, begin, port, node, join, tee, output } kind = none;
  std::string_view name{};
  std::string_view from[most_inputs]{};
  std::size_t takes = 0;
  std::string_view outputs[most_inputs]{};  ///< their names, at the end of a graph
  bool passes = false;                      ///< no mark and no stage
  bool opens_params = false, changes_rate = false;
};
inline constexpr block_mark no_mark{};
template <class Part>
inline constexpr const block_mark& mark_of = no_mark;
template <>
inline constexpr block_mark mark_of<split_here_part>{.passes = true};
template <std::size_t... Stages>
inline constexpr block_mark mark_of<split_after_part<Stages...>>{.passes = true};
template <fixed_string Name>
inline constexpr block_mark mark_of<params_begin<Name>>{.passes = true, .opens_params = true};
template <>
inline constexpr block_mark mark_of<params_end>{.passes = true};
template <fixed_string Name>
inline constexpr block_mark mark_of<block_begin<Name>>{block_mark::begin, Name.view()};
template <fixed_string Name, fixed_string... From>
inline constexpr block_mark mark_of<block_node<Name, From...>>{
    block_mark::node, Name.view(), {From.view()...}, sizeof...(From)};
template <>
inline constexpr block_mark mark_of<join_end>{block_mark::join};
template <>
inline constexpr block_mark mark_of<tee_end>{block_mark::tee};
template <fixed_string Name, class T, std::size_t Index>
inline constexpr block_mark mark_of<block_port<Name, T, Index>>{block_mark::port, Name.view()};
template <fixed_string Name, fixed_string... Names, fixed_string... From>
inline constexpr block_mark mark_of<graph_end<text_list<Name, Names...>, text_list<From...>>>{
    block_mark::output, Name.view(), {From.view()...}, sizeof...(From), {Name.view(), Names.view()...}};

template <class Device, class... Marks>
using flat_marks = type_list<flat_part<Marks, Device>...>;

template <class Pack, class Device>
struct flatten_branches;
template <class... B, class Device>
struct flatten_branches<part_pack<B...>, Device>
    : type_tag<decltype((type_list<>{} + ... +
                         (flat_marks<Device, block_node<"", "">>{} + typename flatten<B, Device>::type{})))> {};
template <class... B, class Device>
struct flatten<fork_part<B...>, Device>
    : type_tag<decltype(flat_marks<Device, block_begin<"">>{} +
                        typename flatten_branches<part_pack<B...>, Device>::type{} + flat_marks<Device, join_end>{})> {
};
template <class B, class Device>
struct flatten<tee_part<B>, Device>
    : type_tag<decltype(flat_marks<Device, block_begin<"">>{} +
                        typename flatten_branches<part_pack<B>, Device>::type{} + flat_marks<Device, tee_end>{})> {};

template <class Part, fixed_string Name, fixed_string... From, class Device>
struct flatten<node_part<Part, Name, From...>, Device>
    : type_tag<decltype(flat_marks<Device, block_node<Name, From...>>{} + typename flatten<Part, Device>::type{})> {};

/// The two rims of a graph.
template <class Part>
struct graph_rim {
  using ports = type_list<>;
  using names = text_list<>;
  using from = text_list<>;
};
template <fixed_string Name, class T>
struct graph_rim<port_part<Name, T>> : graph_rim<void> {
  using ports = type_list<port_part<Name, T>>;
};
template <fixed_string Name, fixed_string From>
struct graph_rim<output_part<Name, From>> : graph_rim<void> {
  using names = text_list<Name>;
  using from = text_list<From>;
};
template <fixed_string... A, fixed_string... B>
text_list<A..., B...> operator+(text_list<A...>, text_list<B...>);

template <class Device, fixed_string Name, class T>
flat_marks<Device, input_part<T>, block_begin<Name>> flat_ports(type_list<port_part<Name, T>>);
template <class Device, fixed_string... Name, class... T, std::size_t... I>
flat_marks<Device, ports_part<named_item<Name, T>...>, block_begin<"">, block_port<Name, T, I>...> flat_ports_of(
    type_list<port_part<Name, T>...>, std::index_sequence<I...>);
template <class Device, class First, class Second, class... Rest>
decltype(flat_ports_of<Device>(type_list<First, Second, Rest...>{}, std::index_sequence_for<First, Second, Rest...>{}))
    flat_ports(type_list<First, Second, Rest...>);

template <class Part, class Device>
struct flatten_node : flatten<Part, Device> {};
template <fixed_string Name, class T, class Device>
struct flatten_node<port_part<Name, T>, Device> : type_tag<type_list<>> {};
template <fixed_string Name, fixed_string From, class Device>
struct flatten_node<output_part<Name, From>, Device> : type_tag<type_list<>> {};
template <class Device, class... Parts>
struct flat_graph
    : type_tag<decltype((decltype(flat_ports<Device>((type_list<>{} + ... + typename graph_rim<Parts>::ports{}))){} +
                         ... + typename flatten_node<Parts, Device>::type{}) +
                        flat_marks<Device,
                                   graph_end<decltype((text_list<>{} + ... + typename graph_rim<Parts>::names{})),
                                             decltype((text_list<>{} + ... + typename graph_rim<Parts>::from{}))>>{})> {
};
template <class... Parts, class Device>
struct flatten<graph_part<Parts...>, Device> : flat_graph<Device, Parts...> {};

template <class Part, fixed_string Name, fixed_string... From, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(node_part<Part, Name, From...>& node, Visit& visit) {
  for_each_stage(node.part, visit);
}
template <class First, class... Rest, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(part_pack<First, Rest...>& parts, Visit& visit) {
  for_each_stage(parts.first, visit);
  if constexpr (sizeof...(Rest) > 0) for_each_stage(parts.rest, visit);
}
template <class... B, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(fork_part<B...>& fork, Visit& visit) {
  for_each_stage(fork.branches, visit);
}
template <class... P, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(graph_part<P...>& graph, Visit& visit) {
  for_each_stage(graph.parts, visit);
}
template <class B, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(tee_part<B>& tee, Visit& visit) {
  for_each_stage(tee.branch, visit);
}

/// What is wrong with the names of a graph.
enum class wiring_error : std::uint8_t { none, unknown, itself, later, twice, nothing, only_input, output_twice };

/// How the parts of a flattened pipeline are connected.
template <std::size_t N>
struct part_order {
  static constexpr std::size_t none = ~std::size_t{0};

  /// The parts whose output a part takes: one, but at an end of branches and at a node of several inputs.
  std::size_t from[N][most_inputs]{};
  std::size_t takes[N]{};
  std::size_t branch_end[N]{};  ///< of a node: its last part; of a `tee_end`: that of its branch
  bool untaken[N]{};            ///< a node, or what comes in, that no name of its graph asks for
  bool in_block[N]{};           ///< inside a block whose nodes meet again

  wiring_error wrong = wiring_error::none;
  std::size_t wrong_at = none;    ///< the mark
  std::size_t wrong_name = none;  ///< which of the names it takes
};

template <std::size_t N>
class part_connector {
 public:
  static constexpr std::size_t none = part_order<N>::none;

  constexpr explicit part_connector(const block_mark (&marks)[N]) : marks_(marks) {}

  constexpr part_order<N> connect() {
    for (std::size_t i = 0; i < N; ++i) {
      owner_[i] = none;
      switch (marks_[i].kind) {
        case block_mark::none:
          take(i, i - 1);
          break;
        case block_mark::begin:
          take(i, i - 1);
          open_[depth_++] = i;
          last_node_[depth_] = none;
          break;
        case block_mark::port:
        case block_mark::node:
          end_last_node(i);
          owner_[i] = open_[depth_ - 1];
          last_node_[depth_] = i;
          if (marks_[i].kind == block_mark::port) {
            take(i, owner_[i]);
            refuse_name_given_before(i);
          } else {
            connect_names(i);
          }
          break;
        default:
          end_last_node(i);
          end_block(i);
      }
    }
    return order_;
  }

 private:
  constexpr void take(std::size_t i, std::size_t from) {
    if (i != 0) order_.from[i][order_.takes[i]++] = from;
  }
  constexpr void end_last_node(std::size_t i) {
    if (last_node_[depth_] != none) order_.branch_end[last_node_[depth_]] = i - 1;
  }
  constexpr void end_block(std::size_t i) {
    const std::size_t begin = open_[depth_ - 1];
    if (marks_[i].kind == block_mark::tee) {
      take(i, begin);
      order_.branch_end[i] = i - 1;
    } else {
      for (std::size_t j = begin + 1; j < i; ++j) order_.in_block[j] = true;
    }
    if (marks_[i].kind == block_mark::join)
      for (std::size_t j = begin + 1; j < i; ++j)
        if (owner_[j] == begin) take(i, order_.branch_end[j]);
    if (marks_[i].kind == block_mark::output) {
      owner_[i] = begin;
      connect_names(i);
      for (std::size_t k = 0; k < marks_[i].takes && order_.wrong == wiring_error::none; ++k) {
        const std::size_t from = order_.from[i][k];
        if (from == begin || marks_[from].kind == block_mark::port) complain(wiring_error::only_input, i, k);
        for (std::size_t other = 0; other < k; ++other)
          if (order_.from[i][other] == from) complain(wiring_error::output_twice, i, k);
      }
      find_untaken(begin, i);
    }
    --depth_;
  }

  /// Names are those of the block around: what comes in, and its nodes.
  constexpr void connect_names(std::size_t i) {
    const block_mark& mark = marks_[i];
    if (mark.takes == 0) complain(wiring_error::nothing, i, 0);
    if (mark.kind == block_mark::node && !mark.name.empty()) refuse_name_given_before(i);
    for (std::size_t k = 0; k < mark.takes; ++k) take(i, find(i, k));
  }
  constexpr void refuse_name_given_before(std::size_t i) {
    const std::size_t begin = owner_[i];
    for (std::size_t j = begin; j < i; ++j)
      if ((j == begin || owner_[j] == begin) && marks_[j].name == marks_[i].name) complain(wiring_error::twice, i, 0);
  }
  /// What comes in by several ports has no name of its own.
  constexpr bool has_ports(std::size_t begin) const {
    return begin + 1 < N && marks_[begin + 1].kind == block_mark::port;
  }
  constexpr std::size_t find(std::size_t i, std::size_t k) {
    const std::string_view name = marks_[i].from[k];
    const std::size_t begin = owner_[i];
    if (marks_[begin].name == name && !has_ports(begin)) return begin;
    for (std::size_t j = begin + 1; j < i; ++j)
      if (owner_[j] == begin && marks_[j].name == name) return order_.branch_end[j];
    for (std::size_t j = begin + 1; j < i; ++j)
      if (const std::size_t from = owner_[j] == begin ? find_output(j, name) : none; from != none) return from;
    if (marks_[i].kind == block_mark::node && marks_[i].name == name)
      complain(wiring_error::itself, i, k);
    else
      complain(is_later(i, name) ? wiring_error::later : wiring_error::unknown, i, k);
    return begin;
  }
  /// "node.output" is one of several outputs of a graph in that node.
  constexpr std::size_t find_output(std::size_t node, std::string_view name) const {
    std::size_t end = order_.branch_end[node];
    while (marks_[end].passes) --end;
    if (!names_output_of(node, name) || marks_[end].kind != block_mark::output) return none;
    for (std::size_t k = 0; k < marks_[end].takes; ++k)
      if (marks_[end].outputs[k] == name.substr(marks_[node].name.size() + 1)) return order_.from[end][k];
    return none;
  }
  constexpr bool names_output_of(std::size_t node, std::string_view name) const {
    const std::string_view prefix = marks_[node].name;
    return !prefix.empty() && name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] == '.';
  }
  constexpr bool is_later(std::size_t i, std::string_view name) const {
    std::size_t depth = 0;
    for (std::size_t j = i + 1; j < N; ++j) {
      const auto kind = marks_[j].kind;
      if (kind == block_mark::begin) ++depth;
      if (kind == block_mark::node && depth == 0 && marks_[j].name == name) return true;
      if (kind > block_mark::node && depth-- == 0) return false;
    }
    return false;
  }
  /// A node of a graph that gives something which no name asks for.
  constexpr void find_untaken(std::size_t begin, std::size_t end) {
    for (std::size_t j = has_ports(begin) ? begin + 1 : begin; j < end; ++j) {
      if (j != begin && owner_[j] != begin) continue;
      bool taken = false;
      for (std::size_t i = begin + 1; i <= end; ++i)
        for (std::size_t k = 0; owner_[i] == begin && k < marks_[i].takes; ++k)
          taken = taken || marks_[i].from[k] == marks_[j].name || names_output_of(j, marks_[i].from[k]);
      order_.untaken[j] = !taken;
    }
  }
  constexpr void complain(wiring_error what, std::size_t at, std::size_t name) {
    if (order_.wrong != wiring_error::none) return;
    order_.wrong = what;
    order_.wrong_at = at;
    order_.wrong_name = name;
  }

  const block_mark (&marks_)[N];
  part_order<N> order_;
  std::size_t owner_[N]{};
  std::size_t open_[N + 1]{}, last_node_[N + 2]{}, depth_ = 0;
};

template <class... Flat>
consteval auto order_of(type_list<Flat...>) {
  constexpr block_mark marks[] = {mark_of<typename Flat::part>...};
  return part_connector<sizeof...(Flat)>(marks).connect();
}

/// The order of a line is known without looking.
template <class Parts>
struct order_of_parts {
  static constexpr bool is_line = true;
};
template <class... Flat>
  requires((mark_of<typename Flat::part>.kind != block_mark::none) || ...)
struct order_of_parts<type_list<Flat...>> {
  static constexpr bool is_line = false;
  static constexpr auto value = order_of(type_list<Flat...>{});
};

template <fixed_string Text>
struct fixed_text {
  static constexpr auto value = Text;
};

template <class Part>
struct named_mark;
template <fixed_string Name>
struct named_mark<block_begin<Name>> {
  static constexpr auto name = Name;
};
template <fixed_string Name, fixed_string... From>
struct named_mark<block_node<Name, From...>> {
  static constexpr auto name = Name;
  template <std::size_t K>
  static consteval auto from() {
    return type_at<type_list<fixed_text<From>...>, K>::value;
  }
};
template <fixed_string Name, class T, std::size_t Index>
struct named_mark<block_port<Name, T, Index>> : named_mark<block_begin<Name>> {};
template <fixed_string... Name, fixed_string... From>
struct named_mark<graph_end<text_list<Name...>, text_list<From...>>> : named_mark<block_node<"", From...>> {
  template <std::size_t K>
  static consteval auto output() {
    return type_at<type_list<fixed_text<Name>...>, K>::value;
  }
};

/// The mistake in the names of a graph, if any.
template <class Parts>
consteval auto wiring_mistake() {
  if constexpr (order_of_parts<Parts>::is_line) {
    return no_mistake{};
  } else if constexpr (constexpr const auto& order = order_of_parts<Parts>::value; order.wrong == wiring_error::none) {
    return no_mistake{};
  } else {
    using mark = named_mark<typename type_at<Parts, order.wrong_at>::part>;
    constexpr wiring_error wrong = order.wrong;
    if constexpr (wrong == wiring_error::twice)
      return graph_has_two_nodes_of_that_name<mark::name>{};
    else if constexpr (wrong == wiring_error::nothing)
      return graph_node_takes_nothing<mark::name>{};
    else if constexpr (wrong == wiring_error::only_input)
      return graph_output_is_its_input<mark::template output<order.wrong_name>()>{};
    else if constexpr (wrong == wiring_error::output_twice)
      return graph_gives_the_same_by_two_names<mark::template output<order.wrong_name>(),
                                               mark::template from<order.wrong_name>()>{};
    else if constexpr (wrong == wiring_error::itself)
      return graph_node_takes_what_it_gives_itself<mark::name>{};
    else if constexpr (wrong == wiring_error::later)
      return graph_node_takes_what_a_node_behind_it_gives<mark::name, mark::template from<order.wrong_name>()>{};
    else if constexpr (requires { mark::template output<order.wrong_name>(); })
      return graph_has_no_node_or_port_of_that_name<mark::template output<order.wrong_name>(),
                                                    mark::template from<order.wrong_name>()>{};
    else
      return graph_has_no_node_or_port_of_that_name<mark::name, mark::template from<order.wrong_name>()>{};
  }
}

}  // namespace detail
}  // namespace levada
