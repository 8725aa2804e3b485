// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/ops.hpp: the reference backend with the ops of <levada/ops.hpp>.

#include <levada/backend/define_bfloat16.hpp>
#include <levada/backend/define_boxes.hpp>
#include <levada/backend/define_broadcast.hpp>
#include <levada/backend/define_conv.hpp>
#include <levada/backend/define_moves.hpp>
#include <levada/backend/define_norms.hpp>
#include <levada/backend/define_quantized.hpp>
#include <levada/backend/define_recurrent.hpp>
#include <levada/backend/define_signals.hpp>
#include <levada/backend/define_sums.hpp>
#include <levada/backend/reference.hpp>
#include <levada/backend/reference/definition.hpp>
#include <levada/nn/element_wise.hpp>
