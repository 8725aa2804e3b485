// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/version.hpp: the version of these headers, as CMake's project and packages say it; CMakeLists.txt
// compares the two.

/// 10000 for each major version, 100 for each minor one, 1 for each patch: `#if LEVADA_VERSION >= 200` asks for 0.2.0.
#define LEVADA_VERSION 100
