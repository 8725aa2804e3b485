#pragma once

#include <levada/plan/cost_table.hpp>

inline constexpr levada::cost_table resnet18_costs{};
