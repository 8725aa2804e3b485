// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/beside_others.hpp: for docs/beside_others.md.
#include <oneapi/tbb/parallel_pipeline.h>
#include <cstdio>

#include "common.hpp"

float score(const picture& p);
