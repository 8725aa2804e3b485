// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/input_iterator.hpp: the iterators of streams, which go over their results once.

#include <cstddef>
#include <iterator>

namespace levada::detail {

/// A base of theirs.
struct input_iterator {
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::input_iterator_tag;
};

}  // namespace levada::detail
