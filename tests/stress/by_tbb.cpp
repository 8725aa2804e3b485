// SPDX-License-Identifier: Apache-2.0
// The scenarios under stress on oneTBB's threads, as users have them.

#include <stress/scenarios.hpp>

#include <levada/run/detail/workers/tbb_executor.hpp>

using namespace levada::test;

TEST_CASE("held up anywhere: grains at tickets") { stress_tickets<levada::tbb_executor>(); }
TEST_CASE("held up anywhere: sessions and streams") { stress_sessions<levada::tbb_executor>(); }
TEST_CASE("held up anywhere: five apps at once") { stress_five_apps<levada::tbb_executor>(); }
TEST_CASE("held up anywhere: versions swapped under load") { stress_swaps<levada::tbb_executor>(); }
TEST_CASE("held up anywhere: single items") { stress_single_items<levada::tbb_executor>(); }
TEST_CASE("held up anywhere: parts on nodes that are lost") { stress_remote<levada::tbb_executor>(); }
