// SPDX-License-Identifier: Apache-2.0
// A library that holds no pipeline.

extern "C" [[gnu::visibility("default")]] int something_else();
int something_else() { return 1; }
