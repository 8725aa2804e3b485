// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/for_each.hpp: a pipeline for each part of an item that has some:
//
//   ... | for_each<64>(crop | classify) | collect                        bounded<T, M> -> bounded<R, 64>
//   ... | fork(identity, find) | for_each<64>(join<"crop">(f) | classify) | collect
//
// Of several items, behind a fork or in a tuple, one is bounded<T, M>; each of its parts goes in with the others beside
// it: `R f(const Picture&, const T&)` of a join, or by the ports of a graph.
// The parts of an item run one after the other, in order, in one scratchpad; several items at once, unless a stage
// inside is serial. A part that a stage inside filters is left out. The item fails where a part does, with what that
// part's stage threw.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/nested.hpp>
#include <levada/graph/detail/place.hpp>

namespace levada {

/// What becomes of an item with more parts than there is room for: it fails with `levada::error`, or the parts behind
/// are dropped.
enum class overflow_parts : std::uint8_t { fail, drop_last };

namespace detail {

/// What flows between `for_each` and `collect`: memory of a `bounded<R, N>`.
template <class R, std::size_t N>
struct uncollected : bounded<R, N> {};
template <class R, std::size_t N>
inline constexpr bool is_uncollected<uncollected<R, N>> = true;

template <class T>
inline constexpr bool is_bounded = false;
template <class T, std::size_t N>
inline constexpr bool is_bounded<bounded<T, N>> = true;

/// Which of the items has the parts, and what goes in for one of them; not there: none or several have.
template <class In>
struct parts_in {};
template <class T, std::size_t M>
struct parts_in<bounded<T, M>> {
  using given = T;
};
template <class... T>
  requires((std::size_t{0} + ... + is_bounded<T>) == 1)
struct parts_in<std::tuple<T...>> {
  static constexpr std::size_t index = first_true({is_bounded<T>...});
  template <class U>
  static consteval auto one_of() {
    if constexpr (is_bounded<U>)
      return type_tag<typename U::value_type>{};
    else
      return type_tag<U>{};
  }
  using given = branch_items<typename decltype(one_of<T>())::type...>;
};

template <class A, class B>
struct parts_in<std::pair<A, B>> : parts_in<std::tuple<A, B>> {};

template <fixed_string Name, std::size_t N, overflow_parts Beyond, class Part>
struct for_each_op {
  using holds_pipelines = void;
  static constexpr std::string_view kind = "for_each";
  static constexpr std::string_view expects = "bounded<T, N>, or one in a fork";
  static constexpr auto name = Name;
  static constexpr std::size_t bound = N;
  static constexpr overflow_parts beyond = Beyond;

  Part part;

  template <std::size_t>
  Part& inside() {
    return part;
  }
  template <class In>
  using pipeline = nested_pipeline<Part, typename parts_in<In>::given, Name>;
  template <class In>
  using pipelines = type_list<pipeline<In>>;
  template <class In>
  using output = uncollected<typename pipeline<In>::out, N>;
  template <class In>
  static constexpr std::array<parameter_info, 0> parameters{};
  template <class In>
  static constexpr double flops = static_cast<double>(N) * pipeline<In>::flops;
  template <class In>
  static constexpr concurrency order = pipeline<In>::is_serial ? concurrency::serial : concurrency::parallel;

  template <class In>
  static consteval std::string_view holds() {
    return names_inside(pipelines<In>{});
  }

  template <class In>
  static consteval auto mistake_in() {
    using of_part = typename pipeline<In>::mistake;
    if constexpr (N == 0)
      return for_each_has_room_for_one_part_or_more<Name>{};
    else if constexpr (of_part::is_mistake)
      return of_part{};
    else if constexpr (!std::is_default_constructible_v<typename pipeline<In>::out>)
      return what_for_each_collects_has_no_default_constructor<Name, typename pipeline<In>::out>{};
    else if constexpr (!std::is_move_assignable_v<typename pipeline<In>::out>)
      return what_for_each_collects_cannot_be_assigned<Name, typename pipeline<In>::out>{};
    else
      return no_mistake{};
  }
};

struct collect_part {};
template <>
inline constexpr bool is_part<collect_part> = true;

template <class Given, class Before>
struct collected_item {
  using out = unknown_item;
  using mistake = std::conditional_t<std::same_as<Given, unknown_item>, no_mistake,
                                     collect_has_no_for_each_before_it<Before::name, gives_item<Given>>>;
};
template <class R, std::size_t N, class Before>
struct collected_item<uncollected<R, N>, Before> {
  using out = bounded<R, N>;
  using mistake = no_mistake;
};
template <class Before>
struct at_part<collect_part, Before> : collected_item<typename Before::out, Before> {
  static constexpr auto name = Before::name;
};
template <>
inline constexpr block_mark mark_of<collect_part>{.passes = true};

}  // namespace detail

/// `part` for each part of an item, at most `N` of them; `collect` follows. Memory is planned for `N` results and for
/// one part at work.
template <std::size_t N, overflow_parts Beyond = overflow_parts::fail, pipeline_part Part>
[[gnu::always_inline]] constexpr auto for_each(Part part) {
  return op_stage<"for_each", detail::for_each_op<"for_each", N, Beyond, Part>>{{std::move(part)}, {}};
}
/// The same by a name of its own.
template <fixed_string Name, std::size_t N, overflow_parts Beyond = overflow_parts::fail, pipeline_part Part>
[[gnu::always_inline]] constexpr auto for_each(Part part) {
  return op_stage<Name, detail::for_each_op<Name, N, Beyond, Part>>{{std::move(part)}, {}};
}

/// Behind `for_each`: what its parts gave, in order, as `bounded<R, N>`.
inline constexpr detail::collect_part collect{};

}  // namespace levada
