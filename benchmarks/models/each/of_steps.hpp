// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/of_steps.hpp: a network of steps in a library that has programs: one for each of two threads, or one that
// takes both.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../network.hpp"
#include "steps.hpp"

namespace models {

/// A `Program` is made of steps, its threads and `arguments`. It takes an item's planes, runs, and has its output.
template <class Program, int Threads>
class of_steps final : public network {
 public:
  template <class... Arguments>
  explicit of_steps(const network_steps& steps, const Arguments&... arguments)
      : input_(steps.values[0].elements()), first_(steps, Threads, arguments...) {
    if constexpr (Threads == 1) second_.emplace(steps, Threads, arguments...);
  }

  std::vector<std::span<float>> inputs() override { return {input_}; }
  std::vector<std::span<const float>> outputs() override { return {first_.output()}; }
  void take_inputs() override {
    first_.take(input_);
    if (second_) second_->take(input_);
  }

  void run() override { first_.run(); }
  void run_on_two(std::size_t items) override {
    run_halves<Threads>(
        items, [&] { first_.run(); }, [&] { second_->run(); });
  }

 private:
  std::vector<float> input_;
  Program first_;
  std::optional<Program> second_;  ///< of the other thread, where each has its own
};

template <class Program, class... Arguments>
std::unique_ptr<network> made_of_steps(const network_steps& steps, int threads, const Arguments&... arguments) {
  if (threads == 1) return std::make_unique<of_steps<Program, 1>>(steps, arguments...);
  return std::make_unique<of_steps<Program, 2>>(steps, arguments...);
}

}  // namespace models
