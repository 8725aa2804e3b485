// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/tiled.hpp: a backend of kernels that are divided: each computes some of its tiles by a scratch of its own. A hook
// is called for each part.

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <levada/core/tensor.hpp>
#include <levada/graph/detail/tile_range.hpp>
#include <levada/nn/activation.hpp>
#include <levada/plan/detail/cost.hpp>

namespace levada::test {

template <class Hook, class In, class... Ops>
struct tiled_kernel;

/// The maximum of each element and 0, in tiles of four; a part by way of the scratch.
template <class Hook, std::size_t N>
struct tiled_kernel<Hook, tensor<float, N>, relu_op> {
  static constexpr std::size_t scratch_bytes = N * sizeof(float), tiles = N / 4;
  static_assert(N % 4 == 0);

  tiled_kernel(const relu_op&, parameter_values) {}

  void operator()(const tensor<float, N>& in, tensor<float, N>& out, std::byte* scratch) const {
    of_tiles(in, out, scratch, {0, tiles});
  }
  void of_tiles(const tensor<float, N>& in, tensor<float, N>& out, std::byte* scratch, detail::tile_range some) const {
    auto* const kept = reinterpret_cast<float*>(scratch);
    std::copy(in.data() + 4 * some.begin, in.data() + 4 * some.end, kept);
    const Hook hook(some, tiles);
    for (std::size_t i = 4 * some.begin; i < 4 * some.end; ++i) out[i] = std::max(kept[i - 4 * some.begin], 0.0f);
  }
};

/// Each element takes so long, by what it says.
template <class Hook>
struct tiled {
  static constexpr std::string_view name = "tiled";
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = 1;
  static constexpr levada::roofline roofline{name, 1e5, 1e5};

  template <class In, class... Ops>
  using kernel = tiled_kernel<Hook, In, Ops...>;
};

}  // namespace levada::test
