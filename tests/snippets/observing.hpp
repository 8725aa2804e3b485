// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/observing.hpp: for docs/observing.md.
#include <chrono>
#include <string>

#include <levada/interop/recording.hpp>
#include <levada/interop/report.hpp>
#include <levada/interop/trace.hpp>
#include <levada/run/prometheus.hpp>

#include "common.hpp"

extern classifier_app app;
extern decltype(app.open()) session;
extern const std::string traceparent;  // of who calls
extern const std::chrono::steady_clock::time_point captured;
