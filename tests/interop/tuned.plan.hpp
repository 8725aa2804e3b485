// The partition of an app, saved on some machine
// by the costs of a made-up one.
#pragma once

#include <levada/core/detail/fixed_string.hpp>

// clang-format off
inline constexpr levada::fixed_string tuned_plan{"levada plan 1: 256 slots | cpu: reference(\"relu\") simd(\"softmax\") reference(\"relu\")"};
