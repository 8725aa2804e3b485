// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/running.hpp: for docs/running.md.
#include <coroutine>
#include <exception>
#include <string>
#include <thread>

#include <levada/interop/as_future.hpp>
#include <levada/interop/html_report.hpp>
#include <levada/interop/report.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/event_session.hpp>
#include <levada/run/multi_producer.hpp>

#include "common.hpp"

extern const decltype(classifier(weights)) pipeline;
extern classifier_app app;
extern decltype(app.open()) session;
extern int into;

struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};
