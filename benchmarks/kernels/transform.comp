#version 450
// SPDX-License-Identifier: Apache-2.0
#extension GL_GOOGLE_include_directive : require
#include "meaning.glsl"
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer In { float x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { float y[]; };
layout(push_constant) uniform Push {
  float mean, scale;
  uint count;
};

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  precise float v = (x[i] - mean) * scale;
  y[i] = smaller(larger(v, -1.0), 1.0);
}
