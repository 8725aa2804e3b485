// SPDX-License-Identifier: Apache-2.0
// error: recording_keeps_items_that_are_copied_as_bytes
// place: recorder
//
// A recording is a file: an item that points to what it means would be read back as an address.

#include <levada/core/tensor.hpp>
#include <levada/interop/recording.hpp>

#ifndef LEVADA_CORRECT
#include <vector>
using item = std::vector<int>;
#else
using item = levada::tensor<int, 4>;
#endif

void keep(levada::recorder<item>&) {}
