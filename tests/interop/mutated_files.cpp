// SPDX-License-Identifier: Apache-2.0
// What the fuzzers of plan files and recordings look for, by seeded changes of good files, for compilers without a
// fuzzer.

#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <levada/interop/recording.hpp>
#include <levada/interop/saved_plan.hpp>

#include <sanitizer.hpp>
#include <soak.hpp>

#include "../fuzz/mutate.hpp"
#include "../fuzz/plan_file_property.hpp"
#include "../fuzz/recording_property.hpp"

namespace interop_mutated_files {

namespace lv = levada;
using levada_test::plan_file_outcome;

const int rounds = 4000 * lv::test::soak_scale() / lv::test::sparse;

TEST_CASE("a mutated plan file is a plan, says what differs, or is refused by a levada::error") {
  constexpr std::string_view tokens[] = {
      "{",       "}",      "[",           "]",    ",",  "\"",     ":",   "\\\\",       "\\u00",
      "\\ud800", "1e9",    "[[[[[[",      "\xff", "\n", "any_of", "<",   "vulkan<0>,", "cpu",
      "|",       " slots", "99999999999", "\\\"", "(",  "\\x0a",  "nul", "\"plan\"",   "\"machine\""};
  std::mt19937 random(1);
  int refused = 0, differs = 0, same = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto which = static_cast<unsigned char>(round % 16);
    std::string file = levada_test::plan_file_of(which);
    if (round % 2 == 0) file = static_cast<char>(0x80 | which) + lv::save(levada_test::planned(which).plan());
    REQUIRE(levada_test::reads_plan_file(file) == plan_file_outcome::same);
    const std::string changed = file[0] + levada_test::mutated(file.substr(1), tokens, random);
    CAPTURE(changed);
    plan_file_outcome outcome{};
    REQUIRE_NOTHROW(outcome = levada_test::reads_plan_file(changed));
    ++(outcome == plan_file_outcome::refused ? refused : outcome == plan_file_outcome::differs ? differs : same);
  }
  CHECK(refused > rounds / 8);
  CHECK(differs > rounds / 8);
  CHECK(same > rounds / 100);
}

TEST_CASE("a mutated recording is replayed in one way alone, or refused by a levada::error") {
  constexpr std::string_view tokens[] = {"\xff\xff\xff\xff\xff\xff\xff\x7f",
                                         std::string_view("\0\0\0\0\0\0\0\x80", 8),
                                         std::string_view("\0\0\0\0", 4),
                                         "levada recording 2 ",
                                         "levada recording 1 ",
                                         "\n",
                                         "\xff\xff\xff\xff\xff\xff\xff\xff",
                                         "0123456789abcdefghijkl"};
  std::mt19937 random(1);
  const std::size_t head = lv::detail::recording_line<levada_test::recorded>().size();
  int accepted = 0;
  for (int round = 0; round < rounds / 4; ++round) {
    const std::string file = levada_test::recording_of(static_cast<unsigned>(round));
    REQUIRE(levada_test::reads_recording(file));
    // The first line is left as it is in most, or nothing else would be looked at.
    const std::size_t kept = round % 8 == 0 ? 0 : head;
    const std::string changed = file.substr(0, kept) + levada_test::mutated(file.substr(kept), tokens, random);
    bool is_accepted = false;
    REQUIRE_NOTHROW(is_accepted = levada_test::reads_recording(changed));
    accepted += is_accepted;
  }
  CHECK(accepted > rounds / 40);
  CHECK(accepted < rounds / 5);
}

}  // namespace interop_mutated_files
