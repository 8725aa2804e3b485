// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/one_of.hpp: whether an op is in a backend's list.

#include <span>
#include <string_view>

namespace levada::detail {

constexpr bool is_one_of(std::string_view kind, std::span<const std::string_view> kinds) {
  for (const std::string_view k : kinds)
    if (k == kind) return true;
  return false;
}

}  // namespace levada::detail
