// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/pool2d.hpp: pools as their definitions.

#include <levada/backend/detail/define/pools.hpp>
#include <levada/backend/reference/detail/definition.hpp>
