// SPDX-License-Identifier: Apache-2.0
#pragma once
// predictions/prediction.hpp: what a plan promises of its time, and what it takes.

#include <string>

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace predictions {

namespace lv = levada;

struct prediction {
  std::string pipeline;
  lv::verified_time latency, interval;
};

}  // namespace predictions
