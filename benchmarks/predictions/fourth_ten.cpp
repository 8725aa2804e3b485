// SPDX-License-Identifier: Apache-2.0
#include "pipelines.hpp"

void predictions::fourth_ten(std::vector<prediction>& all) {
  predict_from<30>(all, std::make_integer_sequence<unsigned, in_a_unit>());
}
