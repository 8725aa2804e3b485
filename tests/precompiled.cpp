// SPDX-License-Identifier: Apache-2.0
// The unit for which tests/CMakeLists.txt precompiles <levada/levada.hpp> and doctest; the units of several layers use
// it.
