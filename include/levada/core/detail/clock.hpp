// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/clock.hpp: durations, time points and the steady clock. <mutex> waits by them and brings them; <chrono>
// has calendars besides, which cost more than any other standard header would add to the umbrella.

#include <mutex>
