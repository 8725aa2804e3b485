// SPDX-License-Identifier: Apache-2.0
// The unit for which <levada/levada.hpp> is precompiled for the examples.
