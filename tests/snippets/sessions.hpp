// SPDX-License-Identifier: Apache-2.0
#pragma once
// snippets/sessions.hpp: for docs/sessions.md.
#include <span>

#include <levada/run/async_session.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/detail/session/dispatcher.hpp>

#include "common.hpp"

extern classifier_app camera, radar;
void show(lv::result<int&> label);
