// SPDX-License-Identifier: Apache-2.0
// What the kernel language means, so that a twin gives the same bits. With LOOSE a twin may do as GLSL likes: fuse
// products and sums, take either operand of max beside a NaN, and use the driver's exp.
#ifdef LOOSE
#define precise
#define larger max
#define smaller min
#else
float larger(float a, float b) { return a < b ? b : a; }
float smaller(float a, float b) { return b < a ? b : a; }
#endif
