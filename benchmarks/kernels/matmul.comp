#version 450
// SPDX-License-Identifier: Apache-2.0
// The products stand one by one: glslc -O loses `precise` where it unrolls a loop, and fuses what it must not.
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#include "meaning.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { float result[]; };

const int size = 256, tile = 32, stride = 16, block = 4, across = tile / block;

shared float left[tile * stride];
shared float right[stride * tile];

#define ROW(i)           \
  sums[i][0] += l##i * r0; \
  sums[i][1] += l##i * r1; \
  sums[i][2] += l##i * r2; \
  sums[i][3] += l##i * r3

void main() {
  int lx = int(gl_LocalInvocationID.x), ly = int(gl_LocalInvocationID.y);
  int row = int(gl_WorkGroupID.y) * tile, column = int(gl_WorkGroupID.x) * tile;
  int local = ly * across + lx;
  precise float sums[block][block];
  [[unroll]] for (int i = 0; i < block; ++i)
    [[unroll]] for (int j = 0; j < block; ++j) sums[i][j] = 0.0;
  for (int k = 0; k < size / stride; ++k) {
    [[unroll]] for (int i = 0; i < tile * stride / (across * across); ++i) {
      int at = local + i * (across * across);
      left[at] = a[(row + at / stride) * size + k * stride + at % stride];
      right[at] = b[(k * stride + at / tile) * size + column + at % tile];
    }
    barrier();
    for (int kk = 0; kk < stride; ++kk) {
      int l = ly * block * stride + kk, r = kk * tile + lx * block;
      float l0 = left[l], l1 = left[l + stride], l2 = left[l + 2 * stride], l3 = left[l + 3 * stride];
      float r0 = right[r], r1 = right[r + 1], r2 = right[r + 2], r3 = right[r + 3];
      ROW(0);
      ROW(1);
      ROW(2);
      ROW(3);
    }
    barrier();
  }
  [[unroll]] for (int i = 0; i < block; ++i)
    [[unroll]] for (int j = 0; j < block; ++j)
      result[(row + ly * block + i) * size + column + lx * block + j] = sums[i][j];
}
