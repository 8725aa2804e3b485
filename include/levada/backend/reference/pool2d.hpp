// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/pool2d.hpp: pools as their definitions.

#include <levada/backend/define_pools.hpp>
#include <levada/backend/reference/definition.hpp>
