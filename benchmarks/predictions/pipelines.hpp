// SPDX-License-Identifier: Apache-2.0
#pragma once
// predictions/pipelines.hpp: random pipelines of stages that keep a processor busy for so many microseconds, and the
// table of what they cost: chains, forks and batches, serial and parallel stages, on one thread and on two.

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "prediction.hpp"

namespace predictions {

/// By the clock, so that it takes as long on any machine.
template <unsigned Us>
struct busy {
  template <class... T>
  int operator()(const int& first, const T&...) const {
    keep_busy(std::chrono::microseconds(Us));
    return first + 1;
  }
  int operator()(const std::array<int, 4>& four) const {
    keep_busy(std::chrono::microseconds(Us));
    return four[0];
  }

 private:
  static void keep_busy(std::chrono::nanoseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < until) {
    }
  }
};

inline constexpr lv::kernel_cost kernels[] = {
    {"callable", "busy20(4 bytes) -> 4 bytes", 20e-6},     {"callable", "busy50(4 bytes) -> 4 bytes", 50e-6},
    {"callable", "busy100(4 bytes) -> 4 bytes", 100e-6},   {"callable", "busy200(4 bytes) -> 4 bytes", 200e-6},
    {"callable", "batch400(16 bytes) -> 4 bytes", 400e-6}, {"callable", "join20(4 bytes, 4 bytes) -> 4 bytes", 20e-6},
};
inline constexpr lv::cost_table costs{
    .machine = "stages that go by the clock", .kernels = kernels, .date = "2026-11-25"};

/// A linear congruential generator.
struct dice {
  unsigned state;
  constexpr unsigned roll(unsigned faces) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % faces;
  }
};

/// What stands at one place of a pipeline.
struct place {
  enum { stage, forked, batched } kind = stage;
  unsigned which = 0;  ///< of the lengths
  bool serial = false;
};
struct plan_of_pipeline {
  std::array<place, 6> places{};
  std::size_t count = 0;
  bool on_two = false;
};
constexpr plan_of_pipeline plan_of(unsigned seed) {
  dice d{seed * 2654435761u + 12345u};
  plan_of_pipeline p;
  p.on_two = d.roll(2) == 1;
  p.count = 2 + d.roll(4);
  for (std::size_t i = 0; i < p.count; ++i) {
    const unsigned kind = d.roll(8);
    p.places[i].kind = kind == 0 ? place::forked : kind == 1 && i + 1 == p.count ? place::batched : place::stage;
    p.places[i].which = d.roll(4);
    p.places[i].serial = d.roll(2) == 1;
  }
  return p;
}

template <lv::fixed_string Name, unsigned Us, bool Serial>
constexpr auto stage_of() {
  if constexpr (Serial)
    return lv::stage<Name>(lv::serial(busy<Us>{}));
  else
    return lv::stage<Name>(lv::parallel(busy<Us>{}));
}
template <unsigned Which, bool Serial>
constexpr auto stage_that_takes() {
  if constexpr (Which == 0)
    return stage_of<"busy20", 20, Serial>();
  else if constexpr (Which == 1)
    return stage_of<"busy50", 50, Serial>();
  else if constexpr (Which == 2)
    return stage_of<"busy100", 100, Serial>();
  else
    return stage_of<"busy200", 200, Serial>();
}

template <unsigned Seed, std::size_t At, class Part>
constexpr auto continued(Part part) {
  constexpr plan_of_pipeline plan = plan_of(Seed);
  if constexpr (At == plan.count) {
    return part;
  } else {
    constexpr place here = plan.places[At];
    if constexpr (here.kind == place::forked)
      return continued<Seed, At + 1>(std::move(part) |
                                     lv::fork(stage_that_takes<here.which, here.serial>(),
                                              stage_that_takes<(here.which + 1) % 4, !here.serial>()) |
                                     lv::join<"join20">(lv::parallel(busy<20>{})));
    else if constexpr (here.kind == place::batched)
      return std::move(part) | lv::batch<4> | stage_of<"batch400", 400, here.serial>();
    else
      return continued<Seed, At + 1>(std::move(part) | stage_that_takes<here.which, here.serial>());
  }
}

/// What the plan of that pipeline promises, and what it takes here.
template <unsigned Seed>
prediction predict() {
  constexpr plan_of_pipeline plan = plan_of(Seed);
  const auto app =
      lv::deploy<lv::target<lv::cpu<plan.on_two ? 2 : 1>>, lv::costs<costs>,
                 lv::budget<lv::interval<lv::duration{1'000'000'000}>>>(continued<Seed, 0>(lv::input<int>));
  const lv::verification v = app.verify(7, 100);
  prediction result{"cpu<" + std::to_string(plan.on_two ? 2 : 1) + ">", v.latency, v.interval};
  constexpr unsigned lengths[] = {20, 50, 100, 200};
  for (std::size_t i = 0; i < plan.count; ++i) {
    const place& p = plan.places[i];
    const std::string order = p.serial ? "s" : "p";
    if (p.kind == place::forked)
      result.pipeline += " fork " + order + std::to_string(lengths[p.which]) + " " + (p.serial ? "p" : "s") +
                         std::to_string(lengths[(p.which + 1) % 4]) + " join p20";
    else if (p.kind == place::batched)
      result.pipeline += " batch 4 " + order + "400";
    else
      result.pipeline += " " + order + std::to_string(lengths[p.which]);
  }
  return result;
}
template <unsigned First, unsigned... I>
void predict_from(std::vector<prediction>& all, std::integer_sequence<unsigned, I...>) {
  (all.push_back(predict<First + I>()), ...);
}

inline constexpr unsigned in_a_unit = 10;
void first_ten(std::vector<prediction>& all);
void second_ten(std::vector<prediction>& all);
void third_ten(std::vector<prediction>& all);
void fourth_ten(std::vector<prediction>& all);
void fifth_ten(std::vector<prediction>& all);

}  // namespace predictions
