// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/trial.hpp: a program as a call that is timed, as an app on one thread calls it.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include <levada/interop/profile/machine.hpp>
#include <levada/run/inline_call.hpp>

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

}  // namespace levada::detail
