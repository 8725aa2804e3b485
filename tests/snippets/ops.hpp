// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/ops.hpp: for docs/ops.md.
#include <levada/interop/safetensors.hpp>
#include <levada/ops.hpp>

#include "common.hpp"
