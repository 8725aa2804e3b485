// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/modules.hpp: for docs/modules.md.
#include <levada/interop/pipeline_library.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/hot_swap.hpp>

#include "common.hpp"
