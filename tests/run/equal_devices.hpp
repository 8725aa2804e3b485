// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/equal_devices.hpp: items through two equal devices against a loop, on any executor.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include <levada/run/any_of.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/simulated.hpp>

#include "items.hpp"

namespace levada::test {

using either_device = any_of<simulated<0>, simulated<1>>;

/// How both devices behave while this lives.
struct equal_devices_that {
  equal_devices_that(std::int64_t delay_ns, std::size_t window) {
    for (simulation* s : {&simulated_device<0>(), &simulated_device<1>()}) {
      s->delay_ns = delay_ns;
      s->reorder_window = window;
    }
  }
  ~equal_devices_that() {
    simulated_device<0>().reset();
    simulated_device<1>().reset();
  }
};

inline bool fails_there(int v) { return v % 7 == 3; }

/// In the middle, on the devices, items fail and are filtered; the last stage has a state, whose order shows.
inline auto through_equal_devices() {
  return input<tracked<0>> | stage<"first">([](const tracked<0>& v) { return tracked<1>(v.checked() + 1); }) |
         replicate<2>(stage<"middle">([](tracked<1>&& v) -> std::optional<tracked<1>> {
                        if (v.checked() % 5 == 0) return std::nullopt;
                        return tracked<1>(v.value * 2);
                      }) |
                      stage<"second">([](const tracked<1>& v) {
                        if (fails_there(v.checked())) throw std::runtime_error("second");
                        return tracked<2>(v.value);
                      })) |
         stage<"last">([seen = 0](const tracked<2>& v) mutable { return v.checked() * 1000 + ++seen; });
}
/// Of `count` items 0, 1, ...; -1: failed.
inline std::vector<int> in_a_loop(int count) {
  std::vector<int> all;
  for (int i = 0, seen = 0; i < count; ++i) {
    if ((i + 1) % 5 == 0) continue;
    const int doubled = (i + 1) * 2;
    all.push_back(fails_there(doubled) ? -1 : doubled * 1000 + ++seen);
  }
  return all;
}

template <class Executor>
void streams_through_equal_devices(int count) {
  const nothing_leaks guard;
  const auto app = deploy<target<cpu<2>, either_device>, run_by<Executor>>(through_equal_devices());
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(plan.segments == 3 && plan.segment[1].device == either_device::id);
  std::vector<tracked<0>> items;
  for (int i = 0; i < count; ++i) items.emplace_back(i);
  for (const std::size_t window : {1u, 4u, 9u}) {
    CAPTURE(window);
    const equal_devices_that behave(2000, window);
    std::vector<int> found;
    for (auto&& r : app.stream(items)) found.push_back(r ? *r : -1);
    CHECK(found == in_a_loop(count));
  }
}

}  // namespace levada::test
