// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/ops.hpp: the reference backend with the ops of <levada/ops.hpp>.

#include <levada/backend/detail/define/along_axis.hpp>
#include <levada/backend/detail/define/attention.hpp>
#include <levada/backend/detail/define/bfloat16.hpp>
#include <levada/backend/detail/define/boxes.hpp>
#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/conv.hpp>
#include <levada/backend/detail/define/grid_sample.hpp>
#include <levada/backend/detail/define/integers.hpp>
#include <levada/backend/detail/define/more_norms.hpp>
#include <levada/backend/detail/define/moves.hpp>
#include <levada/backend/detail/define/norms.hpp>
#include <levada/backend/detail/define/parameters.hpp>
#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/detail/define/recurrent.hpp>
#include <levada/backend/detail/define/scatter.hpp>
#include <levada/backend/detail/define/sequence.hpp>
#include <levada/backend/detail/define/signals.hpp>
#include <levada/backend/detail/define/sums.hpp>
#include <levada/backend/reference.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/nn/element_wise.hpp>

namespace levada::detail {
template <>
inline constexpr bool has_all_kernels<reference> = true;
}  // namespace levada::detail
