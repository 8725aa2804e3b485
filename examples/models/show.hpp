// SPDX-License-Identifier: Apache-2.0
#pragma once
// models/show.hpp: what each of these examples does with its model: the plan, the same logits as the reference
// backend's, and how fast.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <levada/backend/reference/ops.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/plan/arena.hpp>

#include "random_weights.hpp"

namespace example::models {

namespace lv = levada;

using box = lv::target<lv::cpu<1, 16>>;

/// Logits may differ by this part of the largest of them: sums of some thousand floats in another order, some 20 layers
/// deep.
inline constexpr float tolerance = 1e-5f;

template <class Logits>
float largest_difference(const Logits& a, const Logits& b) {
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i]));
    difference = std::max(difference, std::isfinite(b[i]) ? std::abs(a[i] - b[i]) : INFINITY);
  }
  return difference / largest;
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median of one call's seconds, for about a second.
template <class App, class Picture>
double seconds_a_call(const App& app, const Picture& picture) {
  std::vector<double> calls;
  const auto start = std::chrono::steady_clock::now();
  while (calls.size() < 3 || seconds_since(start) < 1) {
    const auto call = std::chrono::steady_clock::now();
    app(picture);
    calls.push_back(seconds_since(call));
  }
  std::sort(calls.begin(), calls.end());
  return calls[calls.size() / 2];
}

/// How many pictures a second a stream takes, for about a second. Each gives the same as a call.
template <class App, class Picture>
double pictures_a_second(const App& app, const std::vector<Picture>& pictures) {
  using logits = decltype(app(pictures.front()));
  std::vector<logits> expected;
  for (const Picture& p : pictures) expected.push_back(app(p));
  std::size_t count = 0;
  const auto start = std::chrono::steady_clock::now();
  while (count == 0 || seconds_since(start) < 1)
    for (auto&& r : app.stream(pictures))
      if (!(*r == expected[count++ % expected.size()])) throw lv::error("a stream gives other logits than a call");
  return static_cast<double>(count) / seconds_since(start);
}

/// `make(weights)` is the model. Few slots: a picture's values take megabytes.
template <class Make>
int show(const char* name, Make make) {
  lv::parameter_map weights;
  set_randomly(weights, make, 2026);
  const auto app = lv::deploy<box, lv::slots<4>>([&] { return make(weights); });
  using app_type = decltype(app);
  constexpr std::size_t arena = lv::arena_size(app_type::plan), bound = lv::arena_bound(app_type::plan);
  static_assert(10 * arena <= 11 * bound, "a tenth more than the values that are alive together");
  std::printf("%s\n%s: the values of one picture take %.2f MiB, %.3f of the largest sum that is alive at once\n",
              lv::report(app).c_str(), name, static_cast<double>(arena) / (1 << 20),
              static_cast<double>(arena) / static_cast<double>(bound));

  std::vector<typename app_type::item> pictures(8);
  for (std::size_t i = 0; i < pictures.size(); ++i) fill_randomly(pictures[i], static_cast<std::uint32_t>(i));
  const float difference = [&] {
    const auto naive = lv::deploy<box, lv::slots<1>, lv::backends<lv::reference>>(make(weights));
    return largest_difference(naive(pictures.front()), app(pictures.front()));
  }();
  std::printf("  unlike the reference backend  %.1e of the largest logit (%.0e allowed)\n", difference, tolerance);
  if (!(difference <= tolerance)) throw lv::error("the logits are not those of the reference backend");

  std::printf("  one picture                   %.3f ms\n", 1e3 * seconds_a_call(app, pictures.front()));
  std::printf("  streamed                      %.1f pictures/s\n", pictures_a_second(app, pictures));
  return 0;
}

}  // namespace example::models
