// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/accuracy.hpp: a bound on the loss of accuracy by regions of a pipeline: the loss measured with
// labelled items when the region was calibrated (nn/quantize.hpp), checked while compiling.

#include <cstddef>
#include <limits>
#include <type_traits>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/plan/detail/options.hpp>

namespace levada {

/// At most so many points of accuracy lost, for `budget`: `budget<accuracy_loss<0.5_points>>`.
template <points Most>
struct accuracy_loss {};
template <points Most>
struct budget<accuracy_loss<Most>> {};
/// Several bounds, of which each has to hold.
template <class First, class Second, class... More>
struct budget<First, Second, More...> {};

/// The stages from one to another, and thousandths of a point: lost when it was calibrated, and allowed.
template <fixed_string First, fixed_string Last, std::int64_t Lost, std::int64_t Allowed>
struct quantized_stages_lose_more_accuracy_than_their_budget : detail::mistake {};
/// Its scales were found without labelled items.
template <fixed_string First, fixed_string Last>
struct quantized_stages_have_no_measured_accuracy_calibrate_with_labelled_items : detail::mistake {};

namespace detail {

inline constexpr points any_loss{std::numeric_limits<std::int64_t>::max()};

template <class Bound>
inline constexpr points loss_allowed = any_loss;
template <points Most>
inline constexpr points loss_allowed<accuracy_loss<Most>> = Most;

/// The smallest loss that a deployment's options allow.
template <class Option>
inline constexpr points loss_allowed_by = any_loss;
template <class... Bounds>
inline constexpr points loss_allowed_by<budget<Bounds...>> = [] {
  points least = any_loss;
  ((least = loss_allowed<Bounds> < least ? loss_allowed<Bounds> : least), ...);
  return least;
}();

/// The mistake of a region that begins with an op and is known to lose something.
template <class Op, points Allowed>
consteval auto region_mistake() {
  if constexpr (requires { Op::region::first; }) {
    using region = typename Op::region;
    if constexpr (!region::is_measured)
      return quantized_stages_have_no_measured_accuracy_calibrate_with_labelled_items<region::first, region::last>{};
    else if constexpr (region::loss > Allowed)
      return quantized_stages_lose_more_accuracy_than_their_budget<region::first, region::last,
                                                                   region::loss.thousandths, Allowed.thousandths>{};
    else
      return no_mistake{};
  } else {
    return no_mistake{};
  }
}
template <class Stage, points Allowed>
consteval auto stage_accuracy_mistake() {
  if constexpr (requires { typename Stage::op_type; })
    return region_mistake<typename Stage::op_type, Allowed>();
  else
    return no_mistake{};
}

/// The first of a flattened pipeline.
template <class Flat, points Allowed, std::size_t Node = 0>
consteval auto accuracy_mistake() {
  if constexpr (Allowed == any_loss || Node == Flat::nodes) {
    return no_mistake{};
  } else {
    using found = decltype(stage_accuracy_mistake<typename Flat::template node_place<Node>::part, Allowed>());
    if constexpr (found::is_mistake)
      return found{};
    else
      return accuracy_mistake<Flat, Allowed, Node + 1>();
  }
}

}  // namespace detail
}  // namespace levada
