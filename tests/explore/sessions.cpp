// SPDX-License-Identifier: Apache-2.0
// Sessions (session_cases.hpp) in as many schedules as there is time for: small cases in all with few preemptions,
// large ones in some at random.

#include <explore/session_cases.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace levada;
using namespace levada::test;

/// So many schedules of a case, by random priorities. Says what is seen of them.
std::string by_priorities(const session_case& c, std::uint64_t first, std::uint64_t count) {
  scheduler of;
  std::uint64_t longest = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    exploration how{.seed = seed};
    how.changes = static_cast<int>(seed % 5);
    how.steps_expected = 512;
    how.walk = seed % 4 == 0 ? 0 : 4u << seed % 7;
    how.delays_stores = seed % 3 != 0;
    longest = std::max(longest, of.run(how, c.run));
  }
  return "the longest of " + std::to_string(longest) + " steps";
}

/// What a search has seen.
struct searched {
  std::uint64_t schedules = 0, states = 0, longest = 0;
  states_met ends;
};

/// Some schedules of these, at random, until 500 in a row show no more of what threads share: a search that sees more
/// begins again.
void find_shared(scheduler& of, const session_case& c, unsigned preemptions, bool late) {
  for (std::uint64_t seed = 1, grown_at = 0, steps = 500; seed - grown_at <= 500; ++seed) {
    preemption_search way(preemptions, seed, steps);
    steps = of.run({.delays_stores = late, .search = &way}, c.run);
    if (of.knows_more()) grown_at = seed;
  }
}

/// What an execution came to, and how to come there again.
struct seen_execution {
  std::string schedule;
  std::uint64_t steps, state;
  bool has_ended;  ///< it was not left
};

/// Each of them comes to the same when it is run from its beginning, and nothing is gone back to.
void check_again(scheduler& of, const session_case& c, bool late, std::span<const seen_execution> some) {
  for (const seen_execution& e : some) {
    preemption_search search(e.schedule.c_str(), e.has_ended ? preemption_search::to_its_end : e.steps);
    if (of.run({.delays_stores = late, .search = &search}, c.run) == e.steps && of.state() == e.state) continue;
    std::fprintf(stderr, "\nexplore: schedule \"%s\" comes to another state from its beginning\n", e.schedule.c_str());
    std::exit(1);
  }
}

/// All schedules of a case with so few preemptions, of those that `of` knows to differ; or nothing is left out.
searched search_all(scheduler& of, const session_case& c, unsigned preemptions, bool late, bool reduces) {
  preemption_search search(preemptions, reduces);
  const exploration how{.delays_stores = late, .search = &search};
  searched seen;
  std::vector<seen_execution> some;
  std::uint64_t steps = of.run(how, c.run), begins_again_from = 1;
  for (;;) {
    if (std::has_single_bit(++seen.schedules)) some.push_back({search.text(), steps, of.state(), of.has_ended()});
    seen.longest = std::max(seen.longest, steps);
    if (of.has_ended()) seen.ends.add(of.state(), 0);
    const bool is_over = !search.next();
    // Where more was seen to be shared it would have had other choices. It begins again, but goes as far as twice the
    // schedules of the last time first: more will be seen on the way.
    if (of.knows_more() && (is_over || seen.schedules >= begins_again_from)) {
      begins_again_from = 2 * seen.schedules;
      search.begin_again();
      seen = {}, some.clear();
      steps = of.run(how, c.run);
      continue;
    }
    if (is_over) break;
    steps = of.run_on();
  }
  seen.states = search.states();
  check_again(of, c, late, some);
  return seen;
}

/// All schedules of a case with so few preemptions, stores early and late. `compares`: and those that are left out,
/// which have to come to the same ends.
std::string by_search(const session_case& c, unsigned preemptions, bool compares) {
  scheduler of;
  searched all;
  for (const bool late : {false, true}) {
    of.begin_program();
    find_shared(of, c, preemptions, late);
    for (unsigned most = 0; most < preemptions; ++most) search_all(of, c, most, late, true);
    const searched now = search_all(of, c, preemptions, late, true);
    if (compares) {
      searched others = search_all(of, c, preemptions, late, false);
      const std::size_t ends = others.ends.size();
      others.ends.add(now.ends);
      if (ends != now.ends.size() || ends != others.ends.size()) {
        std::fprintf(stderr, "\nexplore: other schedules come to other ends\n");
        std::exit(1);
      }
    }
    all.schedules += now.schedules, all.states += now.states, all.longest = std::max(all.longest, now.longest);
    all.ends.add(now.ends);
  }
  return "at most " + std::to_string(preemptions) + ": " + std::to_string(all.schedules) + " schedules, " +
         std::to_string(all.states) + " states, " + std::to_string(all.ends.size()) + " ends, the longest of " +
         std::to_string(all.longest) + " steps";
}

/// The one schedule that a failure names.
std::string once_again(const session_case& c, bool late, const char* schedule) {
  scheduler of;
  of.begin_program();
  preemption_search search(schedule);
  return std::to_string(of.run({.delays_stores = late, .search = &search}, c.run)) + " steps";
}

template <class Explore>
int for_each_case(std::span<const session_case> cases, std::string_view begins_with, Explore explore) {
  int found = 0;
  for (const session_case& c : cases) {
    if (!c.name.starts_with(begins_with)) continue;
    ++found;
    std::fprintf(stderr, "%-40s", std::string(c.name).c_str());
    std::fprintf(stderr, "%s\n", explore(c).c_str());
  }
  return found == 0;
}

}  // namespace

/// explore_sessions [SCHEDULES [CASE [SEED]]]: so many of each case, or of those whose names begin so, from that seed
/// on.
/// explore_sessions --preemptions N [CASE]: all with at most N preemptions. --compare N [CASE]: and those that the
/// search leaves out, which have to come to the same ends.
/// explore_sessions --early|--late SCHEDULE CASE: the one that a failure names.
int main(int argc, char** argv) {
  const std::vector<const char*> given(argv + 1, argv + argc);
  const auto at = [&](std::size_t i, const char* otherwise) { return i < given.size() ? given[i] : otherwise; };
  const std::string_view how = at(0, "");
  if (how == "--preemptions" || how == "--compare")
    return for_each_case(small_cases, at(2, ""), [&](const session_case& c) {
      const auto most = std::min(static_cast<unsigned>(std::atoi(at(1, "1"))), c.most_preemptions);
      return by_search(c, most, how == "--compare");
    });
  if (how == "--early" || how == "--late")
    return for_each_case(small_cases, at(2, ""),
                         [&](const session_case& c) { return once_again(c, how == "--late", at(1, "")); });
  const std::uint64_t most = std::strtoull(at(0, "4000"), nullptr, 10);
  return for_each_case(large_cases, at(1, ""), [&](const session_case& c) {
    return by_priorities(c, std::strtoull(at(2, "1"), nullptr, 10), most);
  });
}
