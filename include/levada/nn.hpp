// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn.hpp: the ops of neural networks and the element-wise `transform`.

#include <levada/nn/activation.hpp>
#include <levada/nn/bias.hpp>
#include <levada/nn/broadcast.hpp>
#include <levada/nn/cast.hpp>
#include <levada/nn/concat.hpp>
#include <levada/nn/conv1d.hpp>
#include <levada/nn/conv2d.hpp>
#include <levada/nn/conv_transpose2d.hpp>
#include <levada/nn/dense.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/nn/matmul.hpp>
#include <levada/nn/move.hpp>
#include <levada/nn/non_max_suppression.hpp>
#include <levada/nn/norm.hpp>
#include <levada/nn/number.hpp>
#include <levada/nn/pool2d.hpp>
#include <levada/nn/quantized.hpp>
#include <levada/nn/recurrent.hpp>
#include <levada/nn/reduce.hpp>
#include <levada/nn/reshape.hpp>
#include <levada/nn/residual.hpp>
#include <levada/nn/top_k.hpp>
#include <levada/nn/transform.hpp>
