// SPDX-License-Identifier: Apache-2.0
#pragma once
// benchmarks/isa/networks.hpp: the same networks, compiled in several ways: by the flags of this machine, for several
// instruction sets, and for the least of them alone.

#include <cstdint>
#include <string>

#include <levada/core/tensor.hpp>
#include <levada/run/any_pipeline.hpp>

namespace isa_networks {

using picture = levada::tensor<std::uint8_t, 1, 28, 28>;
using planes = levada::tensor<float, 64, 56, 56>;

struct compiled {
  std::string set;                             ///< the instruction set of its kernels
  levada::any_pipeline<int(picture)> fashion;  ///< the demo's network
  levada::any_pipeline<planes(planes)> block;  ///< one of the sixteen blocks of ResNet-18, the largest
};
compiled by_native();
compiled by_sets();
compiled by_least();

}  // namespace isa_networks
