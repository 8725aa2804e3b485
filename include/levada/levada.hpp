// SPDX-License-Identifier: Apache-2.0
#pragma once
// levada.hpp: static pipelines. The umbrella of core, graph, plan, the op libraries, the simd backend and the run time.
// It declares every op and has the kernels that most programs need; the error of one that is missing names its header.
// Other backends, interop and the ONNX reader are headers of their own.

#include <levada/backend/simd.hpp>
#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/core/detail/version.hpp>
#include <levada/image.hpp>
#include <levada/nn.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/deploy/for_each.hpp>
#include <levada/run/detail/deploy/rated_graph.hpp>
#include <levada/run/detail/deploy/rated_tee.hpp>
#include <levada/run/detail/deploy/route.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/signal.hpp>

namespace levada {

/// Ops are computed by `simd` where no option says otherwise.
template <>
struct default_backends<void> {
  using type = backends<simd>;
};

}  // namespace levada
