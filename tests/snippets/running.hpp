// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/running.hpp: for docs/running.md.
#include <optional>
#include <string>
#include <thread>

#include <levada/interop/as_future.hpp>
#include <levada/interop/html_report.hpp>
#include <levada/interop/packed_weights.hpp>
#include <levada/interop/report.hpp>
#include <levada/interop/safetensors.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/event_session.hpp>
#include <levada/run/multi_producer.hpp>

#include "../detached.hpp"
#include "common.hpp"

extern const decltype(classifier(weights)) pipeline;
extern classifier_app app;
extern decltype(app.open()) session;
extern int into;
extern const bool packs;
inline auto film() {
  return lv::deploy<box>(lv::source<"film">([n = 0]() mutable { return n < 3 ? std::optional(n++) : std::nullopt; }) |
                         lv::stage<"next">(+[](const int& x) { return x + 1; }));
}
inline auto record() {
  return lv::deploy<box>(lv::source<"film">([n = 0]() mutable { return n < 3 ? std::optional(n++) : std::nullopt; }) |
                         lv::sink<"record">(+[](const int&) {}));
}
extern decltype(film()) filmed;
extern decltype(record()) recorded;

using task = levada::test::detached;
