// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/join.hpp: what lies between a fork and its join, a tuple of which each part stays where it was made; and
// the stage that takes it, `join<"mix">(f)` with f(const A&, const B&).

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {
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
}  // namespace levada
