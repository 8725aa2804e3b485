// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the program and its libraries both know: a detector finds the light in a picture.

#include <cstdint>

#include <levada/core/tensor.hpp>
#include <levada/run/any_pipeline.hpp>

struct frame {
  int number;
  levada::tensor<std::uint8_t, 1, 48, 64> picture;
};

struct detection {
  int frame;
  int detector;  ///< its version
  int x, y;
};

using detector = levada::any_pipeline<detection(frame)>;
