// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/retry.hpp: a callable that is called again when it throws.
//
//   stage<"ask">(retry<2>(f))      at most three calls; what the last one throws is the item's
//
// Each call gets the item as it came, and a fresh output; a state of `f` stays as the failed call left it. So `f` may
// be a map, a filter, a destination stage, a join or a sink, and may not consume or change its item.

#include <cstddef>
#include <utility>

#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {

/// A callable and how often it is called again.
template <class F, std::size_t Again>
struct retried {
  static constexpr std::size_t again = Again;
  [[no_unique_address]] F callable;

  void missed(missing why) noexcept(detail::told_without_throwing<F>)
    requires observes_missing<F>
  {
    callable.missed(why);
  }
};

/// `f`, called up to `Again` times more where it throws; where it is a callable of that kind, each of its calls is its
/// own.
template <std::size_t Again, class F>
constexpr auto retry(F f) {
  return retried<F, Again>{std::move(f)};
}
template <std::size_t Again, class F, std::size_t Before>
constexpr auto retry(retried<F, Before> f) {
  return retried<F, (Again + 1) * (Before + 1) - 1>{std::move(f.callable)};
}
template <std::size_t Again, class F, concurrency Stated>
constexpr auto retry(with_concurrency<F, Stated> f) {
  return with_concurrency<decltype(retry<Again>(std::move(f.callable))), Stated>{retry<Again>(std::move(f.callable))};
}

/// A stage whose callable is called again. A template of its own: other stages need not ask whether they are one.
template <fixed_string Name, class F, std::size_t Again, concurrency Concurrency, written Written, class Out>
struct retried_stage : detail::held_callable<retried<F, Again>> {
  using callable_type = retried<F, Again>;
  static constexpr auto name = Name;
  static constexpr auto how = Concurrency;
  static constexpr auto form_written = Written;
};

template <fixed_string Name, class F, std::size_t Again, concurrency C, written W, class Out>
inline constexpr bool is_stage<retried_stage<Name, F, Again, C, W, Out>> = true;

/// A source has no item that it could be called with again.
template <fixed_string Name, class F, std::size_t Again>
mistake_found<only_a_stage_that_leaves_its_item_as_it_is_can_be_retried<Name, void>> source(retried<F, Again>);

namespace detail {

template <fixed_string Name, written Written, class Out, class F, std::size_t Again>
constexpr auto make_stage(retried<F, Again>&& f) {
  return retried_stage<Name, F, Again, natural_concurrency<F>, Written, Out>{
      held_callable<retried<F, Again>>{std::move(f)}};
}
template <fixed_string Name, written Written, class Out, class F, std::size_t Again, concurrency Stated>
constexpr auto make_stage(with_concurrency<retried<F, Again>, Stated>&& f) {
  return retried_stage<Name, F, Again, Stated, Written, Out>{held_callable<retried<F, Again>>{std::move(f.callable)}};
}

/// The form of a call of its own, where that leaves the item for the next.
template <fixed_string Before, class In, fixed_string Name, class F, std::size_t Again, concurrency C, written W,
          class Out>
consteval auto form_in(type_tag<retried_stage<Name, F, Again, C, W, Out>>) {
  using call = decltype(form_in<Before, In>(type_tag<callable_stage<Name, F, C, W, Out>>{}));
  if constexpr (call::is_mistake)
    return call{};
  else if constexpr (call::value == form::consume || call::value == form::consume_filter ||
                     call::value == form::in_place)
    return only_a_stage_that_leaves_its_item_as_it_is_can_be_retried<Name, In>{};
  else
    return call{};
}

}  // namespace detail
}  // namespace levada
