// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/feedback.hpp: recurrence. What a body makes of one item comes back with the next:
//
//   feedback<"mean">([](const float& x, float& mean) { return mean += (x - mean) / 8; }, 0.0f)
//   feedback<"fit">([](const float& x, const model& m) { return std::pair(m(x), m.seen(x)); }, model{})
//   feedback<"h">(nn::gru<"cell", 64>(weights), tensor<float, 64>{})      its output is its state
//   feedback<"h">(graph(port<"x", X>, port<"h", H>, ..., output<"y", "scores">, output<"h", "cell">), H{})
//
// A callable gets a state that it may change, or gives the new one behind its output. A part of a pipeline takes item
// and state as a join does; of several outputs that of the feedback's name comes back. An item that fails or is dropped
// leaves the state as it was; one that the callable gives nothing for, a filter, does not.
//
// The parts of a body are nodes of the graph around it like any other: between one that reads the state and one that
// writes it. The items go through these one after the other (plan/detail/plan.hpp).

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {

/// A state comes back so many items later.
template <std::size_t Items>
struct delay {};

namespace detail {

/// The states of the last items, the oldest of which is the next one's.
template <class State, std::size_t Items>
class delay_line {
 public:
  constexpr explicit delay_line(const State& initial) : states_(filled(initial, std::make_index_sequence<Items>())) {}

  constexpr const State& oldest() const { return states_[at_]; }
  template <class Next>
  constexpr void push(Next&& next) {
    states_[at_] = std::forward<Next>(next);
    at_ = (at_ + 1) % Items;
  }

 private:
  template <std::size_t... I>
  static constexpr std::array<State, Items> filled(const State& initial, std::index_sequence<I...>) {
    return {((void)I, initial)...};
  }

  std::array<State, Items> states_;
  std::size_t at_ = 0;
};

// ---- a callable ----

template <class T, class State>
inline constexpr bool gives_state = false;
template <class Out, class State>
inline constexpr bool gives_state<std::pair<Out, State>, State> = true;

/// A callable and the state that it is given.
template <class F, class State, std::size_t Items>
struct looped {
  [[no_unique_address]] F body;
  delay_line<State, Items> states;
  State next;  ///< what the body works on: an item that fails has changed nothing

  constexpr looped(F&& f, const State& initial) : body(std::move(f)), states(initial), next(initial) {}

  template <class In>
    requires(std::is_invocable_v<F&, const In&, State&> && !std::is_member_pointer_v<F>)
  constexpr auto operator()(const In& in) {
    using result = std::remove_cvref_t<std::invoke_result_t<F&, const In&, State&>>;
    next = states.oldest();
    if constexpr (gives_state<result, State>) {
      result made = body(in, next);
      states.push(std::move(made.second));
      return std::move(made.first);
    } else {
      result made = body(in, next);
      states.push(next);
      return made;
    }
  }

  /// The body may change the state in the place of an item that did not come.
  void missed(missing why) noexcept(noexcept(body.missed(why, next)))
    requires requires(F& f, State& state) { f.missed(why, state); }
  {
    next = states.oldest();
    body.missed(why, next);
    states.push(next);
  }
};

template <class F, class State, std::size_t Items>
struct bare_callable<looped<F, State, Items>> : type_tag<F> {};

// ---- parts of a pipeline ----

/// The stage at the head of a body.
template <class State, std::size_t Items>
struct loop_head {
  delay_line<State, Items> states;

  constexpr explicit loop_head(const State& initial) : states(initial) {}

  template <class In>
  constexpr const State& operator()(const In&) const {
    return states.oldest();
  }
};
/// The stage at its end, which writes to the states of that at the head: run/detail/program/unit.hpp.
template <class State, std::size_t Items>
struct loop_tail {
  constexpr void operator()(const State&) const {}
};

template <fixed_string Name, class State, std::size_t Items, class Body>
struct feedback_part {
  using head_stage = callable_stage<Name, loop_head<State, Items>, concurrency::serial>;
  using tail_stage = callable_stage<Name, loop_tail<State, Items>, concurrency::serial, written::sink>;

  head_stage head;
  Body body;
  tail_stage tail;

  [[gnu::always_inline]] constexpr feedback_part(head_stage&& begin, Body&& loop, tail_stage&& end)
      : head(std::move(begin)), body(std::move(loop)), tail(std::move(end)) {}
};
template <fixed_string Name, class State, std::size_t Items, class Body>
inline constexpr bool is_part<feedback_part<Name, State, Items, Body>> = true;

template <class Stage>
inline constexpr loop_border border_of = loop_border::none;
template <fixed_string Name, class State, std::size_t Items, concurrency C, written W, class Out>
inline constexpr loop_border border_of<callable_stage<Name, loop_head<State, Items>, C, W, Out>> = loop_border::begins;
template <fixed_string Name, class State, std::size_t Items, concurrency C, written W, class Out>
inline constexpr loop_border border_of<callable_stage<Name, loop_tail<State, Items>, C, W, Out>> = loop_border::ends;

struct unknown_item;

/// What a tail takes, if it does not take what the body gives.
template <class Stage, class Given>
struct refused_state {};
template <fixed_string Name, class State, std::size_t Items, concurrency C, written W, class Out, class Given>
  requires(!std::same_as<State, Given> && !std::same_as<Given, unknown_item>)
struct refused_state<callable_stage<Name, loop_tail<State, Items>, C, W, Out>, Given> : type_tag<State> {};

/// The names that a body has for what it takes and gives, if any. `Name` is that of the state.
template <class First, fixed_string Name>
struct body_ports {
  static constexpr bool are_named = false, begin_with_state = false;
};
template <class T, fixed_string Name>
struct body_ports<input_part<T>, Name> {
  static constexpr bool are_named = true, begin_with_state = false;
  using state_item = void;
};
template <class... Named, fixed_string Name>
struct body_ports<ports_part<Named...>, Name> {
  static constexpr bool are_named = true;
  static constexpr std::size_t index = index_of_name<Named...>(Name.view());
  static constexpr bool begin_with_state = index == 0;
  using state_item = typename type_at<type_list<Named..., named_item<"", void>>, index>::item;
};

template <fixed_string Output>
consteval auto output_of_body() {
  constexpr std::string_view prefix = "body.", name = Output.view();
  char text[prefix.size() + name.size() + 1]{};
  std::copy_n(name.data(), name.size(), std::copy_n(prefix.data(), prefix.size(), text));
  return fixed_string<sizeof text>(text);
}
/// Of several outputs those that do not come back.
template <fixed_string Name, fixed_string Output>
using if_other = std::conditional_t<Name.view() == Output.view(), type_list<>, type_list<fixed_text<Output>>>;
template <fixed_string Name, fixed_string Output>
using from_if_other =
    std::conditional_t<Name.view() == Output.view(), type_list<>, type_list<fixed_text<output_of_body<Output>()>>>;

template <class Last, fixed_string Name>
struct body_outputs {
  static constexpr bool have_state = true;
  static constexpr fixed_string state = "body";
  using end = graph_end<text_list<"output">, text_list<"body">>;
};
template <fixed_string... Output, class From, fixed_string Name>
  requires(sizeof...(Output) > 1)
struct body_outputs<graph_end<text_list<Output...>, From>, Name> {
  static constexpr bool have_state = ((Output.view() == Name.view()) || ...);
  static constexpr auto state = output_of_body<Name>();
  using end = graph_end<decltype(as_texts(concatenated<if_other<Name, Output>...>{})),
                        decltype(as_texts(concatenated<from_if_other<Name, Output>...>{}))>;
};

/// The first and the last part of a body, past marks that are none of a block.
template <class Parts>
struct body_ends;
template <class... Flat>
struct body_ends<type_list<Flat...>> {
  static constexpr std::size_t size = sizeof...(Flat);
  static constexpr bool passes[size] = {mark_of<typename Flat::part>.passes...};
  static constexpr std::size_t first = [] {
    std::size_t i = 0;
    while (i + 1 < size && passes[i]) ++i;
    return i;
  }();
  static constexpr std::size_t last = [] {
    std::size_t i = size - 1;
    while (i > 0 && passes[i]) --i;
    return i;
  }();
  using first_part = typename type_at<type_list<Flat...>, first>::part;
  using last_part = typename type_at<type_list<Flat...>, last>::part;
};

template <fixed_string Name, class Body>
struct feedback_wiring {
  using ends = body_ends<typename flatten<Body, void>::type>;
  using ports = body_ports<typename ends::first_part, Name>;
  using outputs = body_outputs<typename ends::last_part, Name>;
  using body_node = std::conditional_t<ports::begin_with_state, block_node<"body", "state", "item">,
                                       block_node<"body", "item", "state">>;
};

/// As the graph of an item, the state, the body, and what comes back.
template <fixed_string Name, class State, std::size_t Items, class Body, class Device>
struct flatten<feedback_part<Name, State, Items, Body>, Device>
    : type_tag<decltype(flat_marks<Device, block_begin<"item">, block_node<"state", "item">,
                                   typename feedback_part<Name, State, Items, Body>::head_stage,
                                   typename feedback_wiring<Name, Body>::body_node>{} +
                        typename flatten<Body, Device>::type{} +
                        flat_marks<Device, block_node<"", feedback_wiring<Name, Body>::outputs::state>,
                                   typename feedback_part<Name, State, Items, Body>::tail_stage,
                                   typename feedback_wiring<Name, Body>::outputs::end>{})> {};

template <fixed_string Name, class State, std::size_t Items, class Body, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(feedback_part<Name, State, Items, Body>& loop, Visit& visit) {
  visit(loop.head);
  for_each_stage(loop.body, visit);
  visit(loop.tail);
}

template <class Delay>
inline constexpr std::size_t items_of_delay = 0;
template <std::size_t Items>
inline constexpr std::size_t items_of_delay<delay<Items>> = Items;

/// What is wrong with a feedback before anything is known of its item.
template <fixed_string Name, class Delay, class Body, class State>
consteval auto feedback_mistake() {
  if constexpr (items_of_delay<Delay> == 0) {
    return feedback_comes_back_after_one_item_or_more<Name, Delay>{};
  } else if constexpr (!std::copyable<State>) {
    return feedback_state_cannot_be_copied<Name, State>{};
  } else if constexpr (pipeline_part<Body>) {
    using wiring = feedback_wiring<Name, Body>;
    if constexpr (!wiring::outputs::have_state)
      return feedback_body_has_no_output_of_that_name<Name>{};
    else if constexpr (!wiring::ports::are_named)
      return no_mistake{};
    else if constexpr (std::is_void_v<typename wiring::ports::state_item>)
      return feedback_body_has_no_port_of_that_name<Name>{};
    else if constexpr (!std::same_as<typename wiring::ports::state_item, State>)
      return feedback_body_takes_another_state_than_the_initial_one<Name, wants<typename wiring::ports::state_item>,
                                                                    gives<State>>{};
    else
      return no_mistake{};
  } else {
    return no_mistake{};
  }
}
template <fixed_string Name, class Delay, class Body, class State>
using feedback_mistake_t = decltype(feedback_mistake<Name, Delay, Body, State>());

}  // namespace detail

/// A part whose state comes back with the next item, or with `delay<N>` that many items later; the first items get
/// `initial`.
template <fixed_string Name, class Delay = delay<1>, class Body, class State>
  requires correct<detail::feedback_mistake_t<Name, Delay, Body, State>>
[[gnu::always_inline]] constexpr auto feedback(Body body, State initial) {
  constexpr std::size_t items = detail::items_of_delay<Delay>;
  if constexpr (pipeline_part<Body>) {
    return detail::feedback_part<Name, State, items, Body>(
        stage<Name>(serial(detail::loop_head<State, items>(initial))), std::move(body),
        sink<Name>(serial(detail::loop_tail<State, items>())));
  } else {
    return stage<Name>(serial(detail::looped<Body, State, items>(std::move(body), initial)));
  }
}
template <fixed_string Name, class Delay = delay<1>, class Body, class State,
          class Mistake = detail::feedback_mistake_t<Name, Delay, Body, State>>
  requires(Mistake::is_mistake)
auto feedback(const Body& body, const State& initial);

}  // namespace levada
