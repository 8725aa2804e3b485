// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/generated_regions.hpp: what the graphs of tools/generate_region_graphs.py are made of, and how each is compared
// with the same graph computed op by op.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <levada/backend/reference.hpp>
#include <levada/backend/reference/ops.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/simulated.hpp>

#include <backend/interpreter.hpp>

namespace levada::test {

using small_item = tensor<float, 5>;
using two_devices = target<cpu<2>, simulated<0>>;

inline small_item doubled(const small_item& in) {
  small_item out;
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
  return out;
}

/// Takes two in three of all regions, by chance: by what they compute, and how they are connected.
template <unsigned Seed, std::size_t Longest, std::size_t Outputs>
struct some_regions : interpreter<some_regions<Seed, Longest, Outputs>> {
  static constexpr std::string_view name = Seed % 2 == 0 ? "some" : "others";
  static constexpr std::size_t longest_region = Longest, most_outputs = Outputs;

  static constexpr bool takes(const region_info& region) {
    if (!some_regions::knows(region)) return false;
    std::uint32_t hash = Seed * 2654435761u + 1;
    const auto mix = [&hash](std::size_t x) {
      hash = (hash ^ static_cast<std::uint32_t>(x)) * 16777619u;
      hash ^= hash >> 15;
    };
    for (std::size_t op = 0; op < region.size(); ++op) {
      for (const char c : region[op].kind) mix(static_cast<unsigned char>(c));
      for (std::size_t k = 0; k < region[op].from.size(); ++k) mix(region.producer(op, k));
    }
    return hash % 3 != 0;
  }
};

// Regions are cheaper than their ops, unless these are moved for it.
inline constexpr roofline generated_lines[] = {
    {"reference", 1e9, 1e10, 2e-6}, {"some", 1e9, 1e10, 2.1e-6}, {"others", 1e9, 1e10, 1.9e-6}};
inline constexpr transfer_cost generated_ways[] = {{cpu<2>::id, simulated<0>::id, 1e-6, 1e-10},
                                                   {simulated<0>::id, cpu<2>::id, 1e-6, 1e-10}};
inline constexpr cost_table generated_costs{
    .machine = "nobody measured", .transfers = generated_ways, .rooflines = generated_lines};

template <class App, class Expected>
void gives_the_same(const App& app, const Expected& expected) {
  std::vector<small_item> items(12);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t k = 0; k < small_item::elements; ++k)
      items[i][k] = static_cast<float>(static_cast<int>((i * 57 + k * 11) % 23) - 11) / 4;
  std::size_t i = 0;
  for (auto&& r : app.stream(items)) CHECK(r.value() == expected(items[i++]));
  CHECK(i == items.size());
}

/// By preference and by costs.
template <class First, class Second, class Pipeline>
void gives_what_reference_gives(const Pipeline& pipeline) {
  const auto expected = deploy<two_devices, backends<reference>>(pipeline);
  const auto preferred = deploy<two_devices, backends<First, Second, reference>>(pipeline);
  static_assert(preferred.plan.units <= expected.plan.units);
  gives_the_same(preferred, expected);
  const auto by_cost = deploy<two_devices, backends<reference, First, Second>, costs<generated_costs>>(pipeline);
  static_assert(by_cost.plan.units <= expected.plan.units);
  gives_the_same(by_cost, expected);
}

}  // namespace levada::test
