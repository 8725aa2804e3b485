// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/modules.hpp: for docs/modules.md.
#include <levada/run/any_pipeline.hpp>
#include <levada/run/hot_swap.hpp>
#include <levada/run/pipeline_library.hpp>

#include "common.hpp"
