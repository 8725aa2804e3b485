// The partition of an app, saved on a machine.
#pragma once

#include <levada/core/detail/fixed_string.hpp>

// clang-format off
inline constexpr levada::fixed_string box_plan{"levada plan 1: 256 slots | cpu: simd(\"relu\") \"a \\\"\\\\n\\\" name\""};
