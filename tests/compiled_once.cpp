// SPDX-License-Identifier: Apache-2.0
// What compiled_once.hpp lists, behind a precompiled header in which the list is `extern`.
#define LEVADA_COMPILED_HERE
#include "compiled_once.hpp"
