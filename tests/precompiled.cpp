// SPDX-License-Identifier: Apache-2.0
// The unit for which <levada/levada.hpp> is precompiled, with doctest for the units of several layers and without for
// the examples.
