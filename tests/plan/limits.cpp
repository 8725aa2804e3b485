// SPDX-License-Identifier: Apache-2.0
// The search within limits against trying every cover, on random graphs of up to 10 ops.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <levada/plan/detail/limits.hpp>
#include <levada/plan/detail/partition_within.hpp>

#include "random_placement.hpp"
#include "soak.hpp"

namespace lv = levada;

namespace {

using lv::test::placement16;
using lv::test::random_placement;
using offers = std::vector<std::size_t>;

const unsigned graphs = 2000u * static_cast<unsigned>(lv::test::soak_scale());

/// What a cover takes, counted from scratch: picoseconds by the median and by the upper quantile, bytes, devices.
struct taken {
  std::array<std::int64_t, 2> latency{}, interval{};
  std::int64_t bytes = 0, devices = 0;

  std::int64_t of(lv::objective goal) const {
    switch (goal) {
      case lv::objective::latency:
        return latency[0];
      case lv::objective::throughput:
        return interval[0];
      case lv::objective::memory:
        return bytes;
      case lv::objective::devices:
        break;
    }
    return devices;
  }
  /// By what part of its limits.
  double part_of(const lv::plan_limits& limits) const {
    double most = 0;
    for (std::size_t q = 0; q < 2; ++q) {
      if (limits.latency[q] != lv::plan_limits::any)
        most = std::max(most, static_cast<double>(latency[q]) / (limits.latency[q] * 1e12));
      if (limits.interval[q] != lv::plan_limits::any)
        most = std::max(most, static_cast<double>(interval[q]) / (limits.interval[q] * 1e12));
    }
    return most;
  }
};

/// The costs of the upper quantile in place of the medians.
placement16 at_p95(placement16 problem) {
  for (lv::offer<16>& o : problem.offers) o.price.seconds = std::max(o.price.seconds, o.price.p95);
  return problem;
}

/// None where a device's memory does not hold it. `upper`: by the upper quantile, if that counts.
std::optional<taken> take(const placement16& problem, const placement16* upper, const offers& chosen) {
  taken all;
  const placement16* by[] = {&problem, upper};
  for (std::size_t q = 0; q < 2 && by[q] != nullptr; ++q) {
    const auto judged = lv::test::judge(*by[q], lv::objective::throughput, chosen);
    if (!judged) return {};
    all.interval[q] = judged->objective;
    for (std::size_t d = 0; d < problem.devices.size(); ++d) all.latency[q] += judged->amounts[d];
  }
  std::set<std::size_t> devices;
  for (const std::size_t o : chosen) {
    all.bytes += static_cast<std::int64_t>(problem.offers[o].bytes);
    devices.insert(problem.places[problem.offers[o].place].device);
  }
  all.devices = static_cast<std::int64_t>(devices.size());
  return all;
}

/// Every cover that can run.
std::vector<taken> all_covers(const placement16& problem, const placement16* upper) {
  std::vector<taken> found;
  lv::test::for_each_cover(problem, [&](const offers& chosen) {
    if (!lv::test::can_run(problem, chosen, false)) return;
    if (const auto its = take(problem, upper, chosen)) found.push_back(*its);
  });
  return found;
}

class random_limits {
 public:
  explicit random_limits(unsigned seed) : random_(seed + 1'000'000) {}

  /// Some have an upper quantile.
  void add_quantiles(placement16& problem) {
    for (lv::offer<16>& o : problem.offers)
      if (below(2) == 0) o.price.p95 = o.price.seconds * (1 + 0.25 * static_cast<double>(below(5)));
  }
  /// What some covers take, or somewhat less or more, so that limits leave some covers and not others.
  lv::plan_limits make(const std::vector<taken>& covers, bool with_upper) {
    lv::plan_limits limits;
    const auto near = [&](std::int64_t amount) {
      return std::max(static_cast<double>(amount) * 1e-12 * (0.85 + 0.05 * static_cast<double>(below(7))), 1e-12);
    };
    for (std::size_t q = 0; q < (with_upper ? 2u : 1u); ++q) {
      if (below(2) == 0) limits.latency[q] = near(covers[below(covers.size())].latency[q]);
      if (below(2) == 0) limits.interval[q] = near(covers[below(covers.size())].interval[q]);
    }
    return limits;
  }
  lv::objective goal() {
    constexpr lv::objective goals[] = {lv::objective::latency, lv::objective::throughput, lv::objective::memory,
                                       lv::objective::devices};
    return goals[below(4)];
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("the search within limits chooses as well as trying every cover") {
  std::size_t tried = 0, fitting = 0, bound_by = 0, in_vain = 0;
  for (unsigned seed = 0; seed < graphs; ++seed) {
    CAPTURE(seed);
    auto problem = random_placement(seed).make();
    random_limits random(seed);
    random.add_quantiles(problem);
    const placement16 quantiles = at_p95(problem);
    const placement16* const upper = seed % 2 == 0 ? &quantiles : nullptr;
    const std::vector<taken> covers = all_covers(problem, upper);
    const lv::objective goal = random.goal();
    if (covers.empty()) {
      REQUIRE(!lv::best_cover_within(problem, goal, {}).best.complete);
      continue;
    }
    const lv::plan_limits limits = random.make(covers, upper != nullptr);
    std::optional<std::int64_t> best, best_of_all;
    double nearest = 1e300;
    for (const taken& its : covers) {
      const double part = its.part_of(limits);
      nearest = std::min(nearest, part);
      best_of_all = std::min(best_of_all.value_or(its.of(goal)), its.of(goal));
      if (part <= 1 + 1e-15) best = std::min(best.value_or(its.of(goal)), its.of(goal));
    }

    const auto found = lv::best_cover_within(problem, goal, limits);
    REQUIRE(found.best.complete);
    REQUIRE(found.best.exact);
    const offers chosen(found.best.chosen.begin(), found.best.chosen.end());
    REQUIRE(lv::test::can_run(problem, chosen, true));
    const auto its = take(problem, upper, chosen);
    REQUIRE(its);
    REQUIRE(found.fits == best.has_value());
    tried += covers.size();
    if (found.fits) {
      REQUIRE(its->of(goal) == *best);
      REQUIRE(its->part_of(limits) <= 1 + 1e-15);
      REQUIRE(found.best.seconds == doctest::Approx(lv::detail::to_seconds(*best)));
      ++fitting;
      bound_by += *best != *best_of_all;
    } else {
      REQUIRE(its->part_of(limits) == doctest::Approx(nearest).epsilon(1e-9));
      ++in_vain;
    }
  }
  MESSAGE(graphs << " graphs, " << tried << " covers tried; " << fitting << " times one fits, " << bound_by
                 << " times not the best of all; " << in_vain << " times none");
  CHECK(bound_by > graphs / 20);
  CHECK(in_vain > graphs / 20);
}

TEST_CASE("without limits the search is the plain one") {
  for (unsigned seed = 0; seed < graphs / 10; ++seed) {
    CAPTURE(seed);
    auto problem = random_placement(seed).make();
    for (lv::offer<16>& o : problem.offers)
      o.price = lv::cost::measured(o.price.seconds);  // noise and order of preference are not looked at within limits
    for (const lv::objective goal : {lv::objective::latency, lv::objective::throughput}) {
      const auto plain = lv::best_cover(problem, goal);
      const auto found = lv::best_cover_within(problem, goal, {});
      REQUIRE(found.fits == plain.complete);
      REQUIRE(std::equal(found.best.chosen.begin(), found.best.chosen.end(), plain.chosen.begin(), plain.chosen.end()));
    }
  }
}

TEST_CASE("a beam gives covers that are legal and within their limits") {
  std::size_t cut = 0, fitting = 0;
  for (unsigned seed = 0; seed < graphs / 10; ++seed) {
    CAPTURE(seed);
    const auto problem = random_placement(seed).make();
    const auto covers = all_covers(problem, nullptr);
    if (covers.empty()) continue;
    const lv::plan_limits limits = random_limits(seed).make(covers, false);
    const auto found = lv::best_cover_within(problem, lv::objective::latency, limits, 1 + seed % 5);
    cut += !found.best.exact;
    if (!found.best.complete) continue;
    const offers chosen(found.best.chosen.begin(), found.best.chosen.end());
    REQUIRE(lv::test::can_run(problem, chosen, true));
    const auto its = take(problem, nullptr, chosen);
    REQUIRE(its);
    REQUIRE(found.fits == (its->part_of(limits) <= 1 + 1e-12));
    fitting += found.fits;
  }
  CHECK(cut > graphs / 100);
  CHECK(fitting > graphs / 40);
}

// ---- regions of several rates ----

namespace {

/// The loads of each cover of a region that runs so often, its latency, and its longest serial offer.
struct region_cover {
  std::int64_t latency = 0, longest = 0;
  std::vector<std::int64_t> loads;
};
std::vector<region_cover> covers_of_region(const placement16& problem, double runs) {
  std::vector<region_cover> found;
  const auto often = [&](std::int64_t time) { return static_cast<std::int64_t>(static_cast<double>(time) * runs); };
  lv::test::for_each_cover(problem, [&](const offers& chosen) {
    if (!lv::test::can_run(problem, chosen, false)) return;
    const auto judged = lv::test::judge(problem, lv::objective::throughput, chosen);
    region_cover its;
    for (std::size_t d = 0; d < problem.devices.size(); ++d) {
      its.latency += judged->amounts[d];
      its.loads.push_back(often(judged->amounts[d]));
    }
    for (const std::size_t o : chosen)
      if (problem.offers[o].serial)
        its.longest = std::max(
            its.longest, often(lv::detail::to_picoseconds(problem.offers[o].price.seconds +
                                                          problem.places[problem.offers[o].place].launch_seconds)));
    found.push_back(its);
  });
  return found;
}

}  // namespace

TEST_CASE("regions of several rates are searched as one") {
  std::size_t fitting = 0, in_vain = 0;
  for (unsigned seed = 0; seed < graphs / 10; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    auto first = random_placement(seed).make();
    first.host = 0;
    first.places[0].launch_seconds = 0;  // nothing is launched where items enter a region
    for (lv::device_capacity& d : first.devices) d.memory = lv::device_capacity::any;
    for (lv::offer<16>& o : first.offers) o.price.origin = lv::cost_origin::measured;
    auto second = first;
    for (lv::offer<16>& o : second.offers) o.price.seconds = first.offers[random() % first.offers.size()].price.seconds;
    const double runs = random() % 2 == 0 ? 0.25 : 4;
    const auto covers = covers_of_region(first, 1), behind = covers_of_region(second, runs);
    if (covers.empty() || behind.empty() || covers.size() * behind.size() > 200'000) continue;

    const auto interval = [&](const region_cover& a, const region_cover& b) {
      std::int64_t most = std::max(a.longest, b.longest);
      for (std::size_t d = 0; d < first.devices.size(); ++d) {
        const std::int64_t workers = first.devices[d].workers;
        most = std::max(most, (a.loads[d] + b.loads[d] + workers - 1) / workers);
      }
      return most;
    };
    const auto& one = covers[random() % covers.size()];
    const auto& other = behind[random() % behind.size()];
    lv::plan_limits limits;
    limits.interval_at(lv::quantile::median) = std::max(
        1e-12 * static_cast<double>(interval(one, other)) * (0.7 + 0.1 * static_cast<double>(random() % 5)), 1e-12);
    const auto most = lv::detail::to_picoseconds(limits.interval_at(lv::quantile::median));
    std::optional<std::int64_t> best;
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    for (const region_cover& a : covers)
      for (const region_cover& b : behind) {
        nearest = std::min(nearest, interval(a, b));
        if (interval(a, b) <= most) best = std::min(best.value_or(a.latency + b.latency), a.latency + b.latency);
      }

    lv::joined_regions<33> all;
    all.add(first, 1);
    all.add(second, runs);
    REQUIRE(all.search(lv::objective::latency, limits, lv::default_beam));
    const auto judged = [&](std::size_t r, const placement16& region, double often) {
      const auto own = all.cover_of(r, region);
      const offers chosen(own.chosen.begin(), own.chosen.end());
      REQUIRE(lv::test::can_run(region, chosen, true));
      region_cover its;
      const auto amounts = lv::test::judge(region, lv::objective::throughput, chosen)->amounts;
      for (std::size_t d = 0; d < region.devices.size(); ++d) {
        its.latency += amounts[d];
        its.loads.push_back(static_cast<std::int64_t>(static_cast<double>(amounts[d]) * often));
      }
      return its;
    };
    const region_cover a = judged(0, first, 1), b = judged(1, second, runs);
    if (best) {
      REQUIRE(a.latency + b.latency == *best);
      REQUIRE(interval(a, b) <= most);
      ++fitting;
    } else {
      REQUIRE(interval(a, b) <= nearest);
      ++in_vain;
    }
  }
  MESSAGE(fitting << " times a pair of covers fits, " << in_vain << " times none");
  CHECK(fitting > 20);
  CHECK(in_vain > 5);
}

// ---- while compiling ----

namespace {

/// A line of two nodes; the slow place is by itself, the fast one takes the values there and back.
constexpr placement16 line_of_two() {
  placement16 problem;
  problem.flow.nodes = 2;
  problem.flow.takes_input.insert(0);
  problem.flow.connect(0, 1);
  problem.flow.leaving.insert(1);
  problem.flow.finish();
  problem.devices.push_back({1});
  problem.devices.push_back({1});
  problem.places.push_back({0});
  problem.places.push_back({1});
  for (std::size_t n = 0; n < 2; ++n) {
    problem.offers.push_back({{n}, 0, 0, lv::cost::measured(4), 1, false, 0});
    problem.offers.push_back({{n}, 1, 0, lv::cost::measured(3), 9, false, 0});
  }
  return problem;
}
constexpr lv::plan_limits within(double latency, double interval) {
  lv::plan_limits limits;
  limits.latency_at(lv::quantile::median) = latency;
  limits.interval_at(lv::quantile::median) = interval;
  return limits;
}
constexpr auto any = lv::plan_limits::any;
constexpr auto found(lv::objective goal, double latency, double interval) {
  return lv::best_cover_within(line_of_two(), goal, within(latency, interval));
}

static_assert(found(lv::objective::latency, any, any).best.seconds == 6);
static_assert(found(lv::objective::latency, any, 4).best.seconds == 7);  // one on each
static_assert(!found(lv::objective::latency, 6.5, 4).fits);
static_assert(found(lv::objective::devices, 7, any).best.chosen[0] == 1);  // both on the fast one
static_assert(found(lv::objective::memory, 8, any).best.seconds == 2e-12);
static_assert(found(lv::objective::memory, 7, any).best.seconds == 10e-12);

}  // namespace
