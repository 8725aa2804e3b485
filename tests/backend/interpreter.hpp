// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/interpreter.hpp: a backend as a user writes it, whose kernel goes through the ops of any region one after the
// other: negative, absolute value, relu, sum, difference and product of float tensors of equal extents. It gives bit by
// bit what `reference` gives.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include <levada/backend/prepared.hpp>
#include <levada/graph/detail/op_info.hpp>

namespace levada::test {

/// Computes regions for a backend that says itself which it takes.
template <class Backend>
struct interpreter {
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = 0;  // no chain
  static constexpr std::array<std::string_view, 6> kinds{"neg", "abs", "relu", "add", "sub", "mul"};

  /// It can go through these ops.
  static constexpr bool knows(const region_info& region) {
    for (const op_info& op : region.ops()) {
      if (std::find(kinds.begin(), kinds.end(), op.kind) == kinds.end()) return false;
      for (const tensor_info& in : op.takes)
        if (in.type != element::f32 || !(in.extents == op.gives.extents)) return false;
      if (op.takes.size() > 2) return false;
    }
    return true;
  }

  struct step {
    std::size_t kind, first, second;  ///< numbers of values: inputs, and behind these what ops give
  };
  struct ready {
    std::size_t inputs = 0, elements = 0;
    std::vector<step> steps;
    std::vector<std::size_t> outputs;  ///< numbers of ops
  };
  /// All outputs are alike.
  static constexpr std::size_t scratch_bytes(const region_info& region) {
    return region.size() * region.gives().bytes();
  }
  static ready prepare(const region_info& region, parameter_values) {
    std::vector<std::size_t> inputs;
    for (std::size_t op = 0; op < region.size(); ++op)
      for (std::size_t k = 0; k < region[op].from.size(); ++k)
        if (region.producer(op, k) == region_info::outside &&
            std::find(inputs.begin(), inputs.end(), region[op].from[k]) == inputs.end())
          inputs.push_back(region[op].from[k]);
    ready made{inputs.size(), region.gives().extents.elements(), {}, {}};
    const auto number_of = [&](std::size_t op, std::size_t k) {
      const std::size_t maker = region.producer(op, k);
      if (maker != region_info::outside) return inputs.size() + maker;
      return static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), region[op].from[k]) - inputs.begin());
    };
    for (std::size_t op = 0; op < region.size(); ++op)
      made.steps.push_back(
          {static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), region[op].kind) - kinds.begin()),
           number_of(op, 0), number_of(op, region[op].from.size() - 1)});
    for (std::size_t i = 0; i < region.outputs(); ++i) made.outputs.push_back(region.output(i));
    return made;
  }

  static float computed(std::size_t kind, float a, float b) {
    switch (kind) {
      case 0:
        return -a;
      case 1:
        return std::abs(a);
      case 2:
        return a < 0 ? 0 : a;
      case 3:
        return a + b;
      case 4:
        return a - b;
      default:
        return a * b;
    }
  }
  /// All that the ops give, one behind the other in the scratchpad.
  static const float* compute(const ready& r, const void* const* inputs, std::byte* scratch) {
    auto* const made = reinterpret_cast<float*>(scratch);
    const auto value = [&](std::size_t number) {
      return number < r.inputs ? static_cast<const float*>(inputs[number]) : made + (number - r.inputs) * r.elements;
    };
    for (std::size_t op = 0; op < r.steps.size(); ++op) {
      const step& s = r.steps[op];
      for (std::size_t i = 0; i < r.elements; ++i)
        made[op * r.elements + i] = computed(s.kind, value(s.first)[i], value(s.second)[i]);
    }
    return made;
  }
  static void run(const ready& r, const void* const* inputs, void* output, std::byte* scratch) {
    const float* const made = compute(r, inputs, scratch);
    std::copy_n(made + (r.steps.size() - 1) * r.elements, r.elements, static_cast<float*>(output));
  }

  /// Of several outputs.
  static void run(const ready& r, const void* const* inputs, void* const* outputs, std::byte* scratch) {
    const float* const made = compute(r, inputs, scratch);
    for (std::size_t i = 0; i < r.outputs.size(); ++i)
      std::copy_n(made + r.outputs[i] * r.elements, r.elements, static_cast<float*>(outputs[i]));
  }

  template <class Region>
  using region_kernel = prepared_region_kernel<Backend, Region>;
};

}  // namespace levada::test
