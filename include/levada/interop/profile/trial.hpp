// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/trial.hpp: a program as a call that is timed, as an app on one thread calls it.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <levada/interop/profile/machine.hpp>
#include <levada/interop/profile/measure.hpp>
#include <levada/run/detail/program/unit.hpp>
#include <levada/run/detail/session/inline_call.hpp>

namespace levada::detail {

/// Runs the samples by turns, so many at once that the clock does not matter.
template <class In, class Out, class Samples>
class trial {
 public:
  trial(program code, const Samples& samples)
      : code_(std::move(code)), context_(code_), samples_(samples), next_(std::begin(samples)) {
    run();
    const double start = thread_seconds();
    run();
    const double once = thread_seconds() - start;
    calls_ = static_cast<std::size_t>(std::clamp(2e-3 / std::max(once, 1e-9), 1.0, 1000.0));
  }

  void run_once() { run(); }

  /// Seconds of an item.
  double operator()() {
    const double start = thread_seconds();
    for (std::size_t i = 0; i < calls_; ++i) run();
    return (thread_seconds() - start) / static_cast<double>(calls_);
  }

 private:
  void run() {
    if (next_ == std::end(samples_)) next_ = std::begin(samples_);
    const In& sample = *next_++;
    const void* item = std::addressof(sample);
    if (code_.owns_input) item = ::new (context_.input()) In(sample);
    const item_state state = context_.run(item);
    if (state == item_state::failed) {
      const std::exception_ptr failure = context_.error();
      context_.forget_error();
      std::rethrow_exception(failure);
    }
    if (const destroy_code destroy = destroy_code_of<Out>(); destroy != nullptr && state == item_state::value)
      destroy(context_.result());
  }

  program code_;
  inline_context context_;
  const Samples& samples_;
  decltype(std::begin(std::declval<const Samples&>())) next_;
  std::size_t calls_ = 1;
};

/// A unit that notes what it takes in its place, between the others of its program.
class noted_unit {
 public:
  void wrap(program_unit& unit) {
    object_ = std::exchange(unit.shared, this);
    run_ = std::exchange(unit.run, &run_noted);
  }
  bool wraps() const { return run_ != nullptr; }
  void keep(double clock) { seconds_.push_back(std::max(last_ - clock, 1e-10)); }
  cost taken() const { return summary_of(seconds_); }

 private:
  static void run_noted(unit_call& call) noexcept {
    noted_unit& unit = *static_cast<noted_unit*>(call.object);
    call.object = unit.object_;
    const auto start = std::chrono::steady_clock::now();
    unit.run_(call);
    unit.last_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void* object_ = nullptr;
  unit_code run_ = nullptr;
  double last_ = 0;
  std::vector<double> seconds_;
};

/// What the units of a program take in their places, those without a state of their own; unknown of others.
template <class In, class Out, class Samples>
std::vector<cost> times_in_place(program code, const Samples& samples, double seconds) {
  std::vector<noted_unit> units(code.units.size());
  for (std::size_t u = 0; u < units.size(); ++u)
    if (code.units[u].shared != nullptr) units[u].wrap(code.units[u]);
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto begin = now();
  for (int i = 0; i < 100; ++i) now();
  const double clock = std::chrono::duration<double>(now() - begin).count() / 101;
  trial<In, Out, Samples> whole(std::move(code), samples);
  for (std::size_t items = 0;
       items < 9 || (items < 1000 && std::chrono::duration<double>(now() - begin).count() < seconds); ++items) {
    whole.run_once();
    for (noted_unit& unit : units) unit.keep(clock);
  }
  std::vector<cost> taken(units.size());
  for (std::size_t u = 0; u < units.size(); ++u)
    if (units[u].wraps()) taken[u] = units[u].taken();
  return taken;
}

}  // namespace levada::detail
