#version 450
// SPDX-License-Identifier: Apache-2.0
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#include "meaning.glsl"
layout(local_size_x = 32, local_size_y = 4) in;
layout(set = 0, binding = 0) readonly buffer In { float planes[]; };
layout(set = 0, binding = 1) writeonly buffer Out { float result[]; };

const int height = 129, halved = 64;

void main() {
  ivec3 id = ivec3(gl_GlobalInvocationID);
  int from = (id.z * height + id.y * 2) * height + id.x * 2;
  float most = planes[from];
  [[unroll]] for (int ky = 0; ky < 3; ++ky)
    [[unroll]] for (int kx = 0; kx < 3; ++kx)
      if (ky + kx > 0) most = larger(most, planes[from + ky * height + kx]);
  result[(id.z * halved + id.y) * halved + id.x] = most;
}
