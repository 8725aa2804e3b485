#pragma once

#include <levada/plan/cost_table.hpp>

inline constexpr levada::cost_table mobilenet_costs{};
