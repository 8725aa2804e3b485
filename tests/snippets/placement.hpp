// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/placement.hpp: for docs/placement.md.
#include <cstdio>
#include <string>

#include <levada/backend/reference.hpp>
#include <levada/interop/plan_file.hpp>
#include <levada/interop/profile.hpp>
#include <levada/interop/save_plan.hpp>
#include <levada/interop/tune.hpp>
#include <levada/run/choose_deployment.hpp>

#include "common.hpp"

extern const decltype(classifier(weights)) pipeline;
extern classifier_app app;
lv::any_pipeline<int(picture)> make_classify();
lv::any_pipeline<int(picture)> make_classify_avx512();
using with_gpu = box;
