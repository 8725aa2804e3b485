// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/profiled_values.hpp: the values of one item on its way through a pipeline that is measured.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>

#include <levada/core/detail/storage.hpp>
#include <levada/graph/detail/graph_info.hpp>

namespace levada::detail {

/// The values of one item on its way, each in memory of its own.
template <std::size_t N>
class profiled_values {
 public:
  explicit profiled_values(const graph_info<N>& graph) : graph_(graph), memory_(graph.values.size()) {
    std::minstd_rand random(2026);
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      const value_info& value = graph.values[v];
      if (is_part_value(value)) continue;
      memory_[v] = arena_bytes(value.bytes, std::max<std::size_t>(value.alignment, 64));
      // What nobody computes here: numbers between -1 and 1.
      std::memset(memory_[v].get(), 0, value.bytes);
      if (value.type == element::f32)
        for (std::size_t i = 0; i < value.extents.elements(); ++i)
          reinterpret_cast<float*>(memory_[v].get())[i] = static_cast<float>(random()) * 0x1p-30f - 1;
    }
  }

  std::byte* operator[](std::size_t v) const {
    const value_info& value = graph_.values[v];
    return is_part_value(value) ? memory_[value.part_of].get() + value.part_offset : memory_[v].get();
  }

 private:
  const graph_info<N>& graph_;
  fixed_array<arena_bytes> memory_;
};

}  // namespace levada::detail
