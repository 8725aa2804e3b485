// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/push_result.hpp: the outcome of a push. Light: consumers of an any_pipeline see it.

#include <cstdint>

namespace levada {

/// The owner of an item behind its push.
enum class push_outcome : std::uint8_t {
  refused,  ///< the caller's, who may push it again; counted beside the items where there was no room
  dropped,  ///< nobody's: the session counts it as pushed and dropped
  taken     ///< the pipeline's
};

/// The same, true where the pipeline has the item. An item that is moved in is moved from there alone: one that was
/// refused or dropped is as it was.
class push_result {
 public:
  constexpr push_result() = default;
  constexpr push_result(push_outcome what) : what_(what) {}  // NOLINT: it is one

  constexpr operator bool() const { return what_ == push_outcome::taken; }  // NOLINT: what pushes are asked
  constexpr push_outcome what() const { return what_; }
  friend constexpr bool operator==(push_result a, push_outcome b) { return a.what_ == b; }

 private:
  push_outcome what_ = push_outcome::refused;
};

}  // namespace levada
