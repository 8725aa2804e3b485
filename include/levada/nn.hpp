// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn.hpp: the ops of neural networks and the element-wise `transform`.

#include <levada/nn/activation.hpp>
#include <levada/nn/bias.hpp>
#include <levada/nn/conv2d.hpp>
#include <levada/nn/dense.hpp>
#include <levada/nn/pool2d.hpp>
#include <levada/nn/reshape.hpp>
#include <levada/nn/top_k.hpp>
#include <levada/nn/transform.hpp>
