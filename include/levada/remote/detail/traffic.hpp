// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/traffic.hpp: a bound on the bytes that go between machines for an item, checked while compiling:
//
//   deploy<box, version<"1">, budget<traffic<64_KiB>>>(pipeline, endpoints<"edge">{...})

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/rate_bounds.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/plan/detail/budget.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/remote/detail/mistakes.hpp>
#include <levada/remote/detail/parts.hpp>
#include <levada/remote/detail/wire.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>

namespace levada {

/// For `budget`: at most so many bytes between the driver and other machines for each item that comes in, there and
/// back: the longest wire forms of the items and results of all parts there. What a transport adds is not counted.
template <std::size_t Most>
struct traffic {};
template <std::size_t Most>
struct budget<traffic<Most>> {};

/// What all parts on other machines take and give for an item, what is allowed, and the part with most of it.
template <class Needed, class Allowed, class Most>
struct items_take_more_bytes_between_machines_than_their_budget : detail::mistake {};
template <fixed_string Device, fixed_string Rate>
struct budget_of_traffic_cannot_be_checked_behind_a_rate_that_depends_on_its_items : detail::mistake {};

namespace detail {

template <std::size_t Most>
inline constexpr bool is_bound<traffic<Most>> = true;

inline constexpr std::size_t any_traffic = ~std::size_t{0};

template <class Bound>
inline constexpr std::size_t traffic_allowed = any_traffic;
template <std::size_t Most>
inline constexpr std::size_t traffic_allowed<traffic<Most>> = Most;
template <class Option>
inline constexpr std::size_t traffic_allowed_by = any_traffic;
template <class... Bounds>
inline constexpr std::size_t traffic_allowed_by<budget<Bounds...>> =
    std::min({any_traffic, traffic_allowed<Bounds>...});

/// Of a part, or of all parts of a line.
struct expected_traffic {
  std::size_t bytes = 0;
  std::size_t most = 0;           ///< of them those of one part
  std::string_view most_at{};     ///< its device
  std::string_view unknown_at{};  ///< a device whose items are as many as they are; empty: none
  std::string_view unknown_rate{};

  constexpr expected_traffic& operator+=(const expected_traffic& part) {
    bytes += part.bytes;
    if (part.most > most) most = part.most, most_at = part.most_at;
    if (!part.unknown_at.empty()) unknown_at = part.unknown_at, unknown_rate = part.unknown_rate;
    return *this;
  }
};

/// How many items come to the end of a line for each that comes in; `unknown`: the rate that does not say.
struct items_at_end {
  rational times{1};
  std::string_view unknown{};
};
template <class Parts, std::size_t R = 0>
constexpr items_at_end items_behind_rates() {
  if constexpr (R == rates_of<Parts>.count) {
    return {};
  } else {
    using here = region<Parts, R>;
    constexpr auto ratio = here::rate::template ratio<typename here::out>;
    items_at_end found = items_behind_rates<Parts, R + 1>();
    if constexpr (ratio.takes == 0 || ratio.gives == 0)
      found.unknown = here::rate::name.view();
    else
      found.times =
          found.times * rational(static_cast<std::int64_t>(ratio.gives), static_cast<std::int64_t>(ratio.takes));
    return found;
  }
}

template <class Place, class Before>
constexpr expected_traffic traffic_of_place() {
  constexpr items_at_end items = items_behind_rates<typename flatten<Before, void>::type>();
  constexpr std::size_t each =
      wire<typename Place::in>::most_bytes + wire<items_behind<typename Place::pipeline>>::most_bytes;
  constexpr auto n = static_cast<std::size_t>(items.times.n), d = static_cast<std::size_t>(items.times.d);
  expected_traffic found{(each * n + d - 1) / d, (each * n + d - 1) / d, Place::name.view()};
  if constexpr (!items.unknown.empty()) found.unknown_at = Place::name.view(), found.unknown_rate = items.unknown;
  return found;
}

/// Of a line whose parts on other machines are right.
template <class Line>
constexpr expected_traffic traffic_of() {
  if constexpr (is_pipeline<Line>) {
    return traffic_of<typename Line::parts_type>();
  } else if constexpr (is_link<Line>) {
    using last = decltype(Line::right);
    if constexpr (remote_pin<last>::is_one) {
      using found = remote_places<Line>;
      expected_traffic all = traffic_of<typename found::before>();
      return all += traffic_of_place<typename found::place, typename found::before>();
    } else {
      return traffic_of<decltype(Line::left)>();
    }
  } else {
    return {};
  }
}

/// The mistake of a pipeline whose parts on other machines are right, by a driver's options.
template <class Pipeline, class... Options>
consteval auto traffic_mistake() {
  constexpr std::size_t allowed = std::min({any_traffic, traffic_allowed_by<Options>...});
  if constexpr (allowed == any_traffic) {
    return no_mistake{};
  } else {
    constexpr expected_traffic found = traffic_of<Pipeline>();
    if constexpr (!found.unknown_at.empty())
      return budget_of_traffic_cannot_be_checked_behind_a_rate_that_depends_on_its_items<
          as_fixed_string<found.unknown_at.size()>(found.unknown_at),
          as_fixed_string<found.unknown_rate.size()>(found.unknown_rate)>{};
    else if constexpr (found.bytes > allowed)
      return items_take_more_bytes_between_machines_than_their_budget<
          needs_bytes<found.bytes>, allows_bytes<allowed>,
          most_bytes_at<as_fixed_string<found.most_at.size()>(found.most_at), found.most>>{};
    else
      return no_mistake{};
  }
}

}  // namespace detail
}  // namespace levada
