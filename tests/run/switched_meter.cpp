// SPDX-License-Identifier: Apache-2.0
// A meter that is made when it is first asked for.

#include <doctest/doctest.h>

#include <levada/run/detail/engine/switched_meter.hpp>

namespace run_switched_meter {

using levada::has_statistics;
using levada::detail::meter;
using levada::detail::program;
using levada::detail::switched_meter;

TEST_CASE("nothing is there before it is switched on, and what was measured stays behind that") {
  const program code;
  switched_meter of(code);
  CHECK(of.measuring() == nullptr);
  of.measure(false);
  of.trace(0);
  CHECK(of.made() == nullptr);
  of.measure(true);
  meter* const made = of.made();
  CHECK((made != nullptr) == has_statistics);
  CHECK(of.measuring() == made);
  of.measure(false);
  CHECK(of.measuring() == nullptr);
  CHECK(of.made() == made);
  of.measure(true);
  CHECK(of.measuring() == made);
}

TEST_CASE("to trace is to measure, and to end it is not to end that") {
  const program code;
  switched_meter of(code);
  of.trace(16);
  CHECK((of.measuring() != nullptr) == has_statistics);
  of.trace(0);
  CHECK(of.measuring() == of.made());
}

}  // namespace run_switched_meter
