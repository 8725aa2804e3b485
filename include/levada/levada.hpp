// SPDX-License-Identifier: Apache-2.0
#pragma once
// levada.hpp: static pipelines. The umbrella of core, graph, plan, the op libraries, the simd backend and the run time.
// Other backends, interop and the ONNX reader are headers of their own.

#include <levada/backend/simd.hpp>
#include <levada/core/bounded.hpp>
#include <levada/core/units.hpp>
#include <levada/image.hpp>
#include <levada/nn.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/for_each.hpp>
#include <levada/run/rated_graph.hpp>
#include <levada/run/rated_tee.hpp>
#include <levada/run/report.hpp>
#include <levada/run/route.hpp>
#include <levada/run/tbb_executor.hpp>

namespace levada {

/// Ops are computed by `simd` where no option says otherwise.
template <>
struct default_backends<void> {
  using type = backends<simd>;
};

}  // namespace levada
