#pragma once

#include <levada/plan/cost_table.hpp>

inline constexpr levada::cost_table page_lines_costs{};
