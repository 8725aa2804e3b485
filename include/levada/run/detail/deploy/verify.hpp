// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/verify.hpp: runs some items through a deployment, and puts what they take beside its plan.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/detail/clock.hpp>
#include <levada/plan/detail/unit_costs.hpp>
#include <levada/run/detail/deploy/expected.hpp>
#include <levada/run/detail/measure/verification.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/workers/machine.hpp>

namespace levada::detail {

/// A sample is an item, or makes one.
template <class Item, class Sample>
decltype(auto) item_of_sample(const Sample& sample) {
  if constexpr (std::is_invocable_r_v<Item, const Sample&>)
    return sample();
  else
    return static_cast<const Item&>(sample);
}

/// So many times the same.
template <class Item, class Sample>
struct repeated_sample {
  const Sample* sample;
  std::size_t count;

  struct iterator {
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using reference = decltype(item_of_sample<Item>(std::declval<const Sample&>()));
    using pointer = void;
    using iterator_category = std::forward_iterator_tag;  // else the stream would wait for each as for a camera

    const Sample* sample = nullptr;
    std::size_t at = 0;

    reference operator*() const { return item_of_sample<Item>(*sample); }
    iterator& operator++() {
      ++at;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++at;
      return before;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.at == b.at; }
  };
  iterator begin() const { return {sample, 0}; }
  iterator end() const { return {sample, count}; }
};

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Items one by one, each done with before the next: the seconds of those that had a result behind them.
template <class App, class Sample>
std::vector<double> lone_times(const App& app, const Sample& sample, std::size_t items, session_statistics& measured) {
  auto session = app.template open<undivided>();
  std::vector<double> times;
  const std::size_t before = std::max<std::size_t>(items / 8, 2);
  for (std::size_t i = 0; i < before + items; ++i) {
    if (i == before) session.measure();
    const auto begin = std::chrono::steady_clock::now();
    session.push(item_of_sample<typename App::item>(sample));
    session.drain();
    const double seconds = seconds_since(begin);
    bool any = std::is_void_v<typename App::output>;
    while (auto result = session.try_pop()) result->value(), any = true;
    if (any && i >= before) times.push_back(seconds);
  }
  measured = session.statistics();
  return times;
}

/// Items without a gap: the mean of the seconds between two results; 0 where fewer came. Not from the first one on:
/// it may come when others are long finished. `lone` is what one takes that none is before.
template <class App, class Sample>
double time_between_results(const App& app, const Sample& sample, std::size_t items, double lone) {
  const repeated_sample<typename App::item, Sample> all{&sample, items};
  const auto begin = std::chrono::steady_clock::now();
  std::size_t results = 0;
  double seconds = 0;
  for (auto&& result : app.stream(all)) {
    result.value();
    ++results;
    seconds = seconds_since(begin);
  }
  return results > 1 ? std::max(seconds - lone, 0.0) / static_cast<double>(results - 1) : 0;
}

template <class Planning>
[[gnu::always_inline]] inline void add_parts_of(verification& all, const session_statistics& measured,
                                                std::size_t& stage, std::size_t& segment) {
  constexpr auto plan = Planning::plan;  // copies: the constants would become symbols that spell out the pipeline
  constexpr auto costs = unit_costs(Planning::plan, table_of_chooser<typename Planning::chooser>());
  add_parts(all, plan, {costs.data(), costs.size()}, measured, stage, segment);
}

/// `Timing` knows the plans of the regions, `promised` what they were expected to take.
template <class Timing, class App, class Sample>
verification verify_app(const App& app, const Sample& sample, std::size_t items, const promised_times& promised) {
  session_statistics measured;
  const std::vector<double> lone = lone_times(app, sample, items, measured);
  const double median = lone.empty() ? 0 : quantile_of(lone, 50);
  verification all = verified(promised, lone, time_between_results(app, sample, 4 * items, median));
  all.here = machine_text();
  [&]<std::size_t... R>(std::index_sequence<R...>) {
    std::size_t stage = 0, segment = 0;
    (add_parts_of<typename Timing::plannings::template planning<R>>(all, measured, stage, segment), ...);
  }(std::make_index_sequence<Timing::plannings::regions>());
  return all;
}

}  // namespace levada::detail
