// SPDX-License-Identifier: Apache-2.0
// What the consumers of twice.cpp see of it.
#pragma once

#include <levada/run/any_pipeline.hpp>

levada::any_pipeline<int(int)> make_twice();
