// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/running.hpp: for docs/running.md.
#include <string>
#include <thread>

#include <levada/interop/as_future.hpp>
#include <levada/interop/html_report.hpp>
#include <levada/interop/report.hpp>
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

using task = levada::test::detached;
