// SPDX-License-Identifier: Apache-2.0
// A pipeline that cannot be deployed.

#include "answer.hpp"

#include <levada/interop/pipeline_library.hpp>

levada::any_pipeline<answer(int)> make() { throw no_answer(0, 3); }
LEVADA_EXPORT_PIPELINE(make);
