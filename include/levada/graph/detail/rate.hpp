// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/rate.hpp: parts that take so many items and give so many others: synchronous dataflow (Lee and
// Messerschmitt, 1987).
//
//   chunks | window<400, 160> | log_mel | batch<8> | model | unbatch | ...
//
// Where a pipeline changes its rate, one region ends and the next begins: each runs at its own rate, in slots of its
// own, and items pass between them in order. An item that fails passes in its place: what was begun ahead of it is
// given as at the end, and the next begins behind it.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/buffer_capacity.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/rate_bounds.hpp>

namespace levada {

/// So many items are taken for so many that are given.
struct rate_ratio {
  std::size_t takes = 1, gives = 1;
  friend constexpr bool operator==(const rate_ratio&, const rate_ratio&) = default;
};

/// How a rate gives what it gives: in whole groups, where it does not say otherwise.
template <class Rate, class In>
inline constexpr rate_rule rule_of_rate{rate_rule::groups, static_cast<std::int64_t>(Rate::template ratio<In>.takes),
                                        static_cast<std::int64_t>(Rate::template ratio<In>.gives)};
template <class Rate, class In>
  requires requires { Rate::template rule<In>; }
inline constexpr rate_rule rule_of_rate<Rate, In> = Rate::template rule<In>;

/// How many items a rate has given by when.
template <class Rate, class In>
inline constexpr rate_bounds bounds_of_rate = rule_of_rate<Rate, In>.bounds();
template <class Rate, class In>
  requires requires { Rate::template bounds<In>; }
inline constexpr rate_bounds bounds_of_rate<Rate, In> = Rate::template bounds<In>;

/// How many it has given of `n`; `ended`: with what is given short.
template <class Rate, class In>
constexpr std::int64_t given_by_rate(std::int64_t n, bool ended) {
  if constexpr (requires { Rate::template given<In>(n, ended); })
    return Rate::template given<In>(n, ended);
  else
    return rule_of_rate<Rate, In>.given(n, ended);
}

/// What becomes of items that do not fill a batch or a window when no more come: filled up with zeros (or `T{}`), or
/// dropped and counted.
enum class partial : std::uint8_t { pad, drop };

/// What is not whole after that long, by the session's clock, is given as at the end.
struct timeout_option {
  duration after{};
  friend constexpr bool operator==(const timeout_option&, const timeout_option&) = default;
};
template <duration After>
inline constexpr timeout_option timeout{After};

/// What a step of a rate did.
struct rate_step {
  bool took = false;        ///< it is through with the item
  bool gave = false;        ///< there is an item at `out`
  std::uint32_t parts = 0;  ///< of a padded batch: how many of its items are some; 0: all
};

/// A part that changes the rate.
///
/// `Rate` has a name, `output<In>`, `ratio<In>`, and `state<In>` with `rate_step step(In&, std::uint32_t parts, void*
/// out)`, called until it took the item, and `rate_step end(void* out)`, called until it gave nothing, at the end and,
/// where there is a `timeout`, so long after the first item of what is begun; `out` stays where it is until something
/// was given, `abandon(out)` ends what was begun there.
template <class Rate>
struct rate_part {
  [[no_unique_address]] Rate rate;
};

namespace detail {

/// Of the state of a rate that holds no item: its place among those that it takes together or gives one by one.
class position_in_items {
 public:
  rate_step end(void*) { return {}; }
  std::size_t waiting() const { return 0; }
  void abandon(void*) { at_ = 0; }

 protected:
  std::size_t at_ = 0;
};

template <class R>
inline constexpr bool is_part<rate_part<R>> = true;

template <class Rate, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(rate_part<Rate>& part, Visit& visit) {
  visit(part);
}

/// A rate that was written wrongly: `Mistake` says how, and nothing is known of what it gives.
template <fixed_string Name, class Mistake>
struct wrong_rate {
  static constexpr fixed_string name = Name;
  template <class In>
  static consteval auto mistake_in() {
    return Mistake{};
  }
};
/// `Rate` if these are all above 0.
template <class Rate, fixed_string Name, std::size_t... Numbers>
using counting_rate = std::conditional_t<((Numbers > 0) && ...), Rate,
                                         wrong_rate<Name, rate_takes_and_gives_one_item_or_more<Name, Numbers...>>>;

}  // namespace detail
}  // namespace levada
