// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/residual.hpp: a body and the way around it (He and others, 2015).

#include <utility>

#include <levada/graph/detail/fork.hpp>
#include <levada/nn/broadcast.hpp>

namespace levada {

/// The item plus what `body` makes of it, a tensor of the same shape or one that broadcasts: `residual<"add1">(body)`.
template <fixed_string Name = "add", pipeline_part Body>
[[gnu::always_inline]] constexpr auto residual(Body body) {
  return fork(std::move(body), identity) | named<Name>(nn::add);
}

}  // namespace levada
