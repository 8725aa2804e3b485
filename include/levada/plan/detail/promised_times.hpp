// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/promised_times.hpp: what a deployment promises of its time, and what its plan is expected to take.

#include <span>
#include <string_view>

#include <levada/core/detail/units.hpp>
#include <levada/plan/detail/pipeline_time.hpp>
#include <levada/plan/detail/time_words.hpp>

namespace levada {

/// Times are known to a nanosecond.
constexpr bool exceeds(double seconds, double most) { return seconds > most + 0.5e-9; }

/// A budget of time.
struct time_bound {
  bool of_latency = false;
  duration most{};
  quantile at = quantile::median;

  constexpr double expected(const pipeline_time& time) const { return of_latency ? time.latency : time.interval(); }
};

/// Of a deployment.
struct promised_times {
  pipeline_time time{};  ///< by the median of each kernel
  std::span<const expected_load> loads{};
  std::span<const time_bound> bounds{};
  std::span<const double> expected{};  ///< seconds of each bound, by its quantile
  std::string_view machine{}, date{};  ///< where the costs were measured; empty: nowhere
  bool drops = false;                  ///< its sessions drop what finds no room
};

namespace detail {

template <class Text>
constexpr void append_bound(Text& text, const time_bound& bound) {
  text += bound.of_latency ? std::string_view("latency ") : std::string_view("interval ");
  append_time(text, bound.most.seconds());
  if (bound.at == quantile::p95) text += " at p95";
}

}  // namespace detail
}  // namespace levada
