#version 450
// SPDX-License-Identifier: Apache-2.0
// exp is the one of the kernel language: within 1 ulp, which Vulkan does not ask of a driver's.
#extension GL_GOOGLE_include_directive : require
#include "meaning.glsl"
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) readonly buffer In { float x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { float y[]; };

const int rows = 4096, length = 100;

#ifdef LOOSE
#define exponential exp
#else
float power_of_two(int n) { return intBitsToFloat((n + 127) << 23); }

float exponential(float v) {
  precise float clamped = smaller(larger(v, -104.0), 89.0);
  precise float n = roundEven(clamped * 1.44269502);
  precise float r = (clamped - n * 0.693145752) - n * 1.42860677e-06;
  precise float p = (((0.0013814496 * r + 0.00836878) * r + 0.041668393) * r + 0.1666652) * r + 0.49999994;
  precise float e = 1.0 + (r + r * r * p);
  int whole = int(n), first = whole >> 1;
  precise float result = e * power_of_two(first) * power_of_two(whole - first);
  return result;
}
#endif

void main() {
  int row = int(gl_GlobalInvocationID.x);
  if (row >= rows) return;
  int from = row * length;
  float largest = x[from];
  for (int i = 1; i < length; ++i) largest = larger(largest, x[from + i]);
  precise float sum = 0.0;
  for (int i = 0; i < length; ++i) sum += exponential(x[from + i] - largest);
  for (int i = 0; i < length; ++i) {
    precise float e = exponential(x[from + i] - largest);
    y[from + i] = e / sum;
  }
}
