#version 450
// SPDX-License-Identifier: Apache-2.0
// The taps stand one by one: glslc -O loses `precise` where it unrolls a loop, and fuses what it must not.
#extension GL_GOOGLE_include_directive : require
#include "meaning.glsl"
layout(local_size_x = 32, local_size_y = 4) in;
layout(set = 0, binding = 0) readonly buffer In { float picture[]; };
layout(set = 0, binding = 1) readonly buffer Weight { float weight[]; };
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) writeonly buffer Out { float result[]; };

const int channels = 16, side = 64;

float pixel(int c, int y, int x) {
  bool inside = uint(y) < side && uint(x) < side;
  return inside ? picture[(c * side + y) * side + x] : 0.0;
}

#define TAP(ky, kx) sum += pixel(c, id.y + ky - 1, id.x + kx - 1) * weight[with + ky * 3 + kx]

void main() {
  ivec3 id = ivec3(gl_GlobalInvocationID);
  precise float sum = bias[id.z];
  for (int c = 0; c < channels; ++c) {
    int with = (id.z * channels + c) * 9;
    TAP(0, 0);
    TAP(0, 1);
    TAP(0, 2);
    TAP(1, 0);
    TAP(1, 1);
    TAP(1, 2);
    TAP(2, 0);
    TAP(2, 1);
    TAP(2, 2);
  }
  result[(id.z * side + id.y) * side + id.x] = larger(sum, 0.0);
}
