// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/promises.hpp: for docs/promises.md.
#include <cstdio>
#include <string>

#include <levada/interop/report.hpp>

#include "common.hpp"
