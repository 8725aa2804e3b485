// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/backends.hpp: for docs/backends.md.
#include <string>

#include "common.hpp"

extern const std::string bytes;
