// SPDX-License-Identifier: Apache-2.0
// Whether a plan keeps up with the pace of its items, against a simulation that knows nothing of loads: workers, stages
// that take one item at a time, slots and batches, event by event.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <queue>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include <levada/plan/detail/pipeline_time.hpp>
#include <levada/plan/detail/plan.hpp>

#include <soak.hpp>

namespace lv = levada;

namespace {

/// A stage of a region. Times are nanoseconds here, so that sums are exact.
struct stage {
  std::int64_t time = 0;
  bool serial = false;
};
struct region {
  std::vector<stage> stages;
  std::size_t slots = 64;
};
/// Between region r and the next: so many items for so many.
struct rate {
  std::size_t takes = 1, gives = 1;
};
struct pipeline {
  std::vector<region> regions;
  std::vector<rate> rates;
  int threads = 2;
};

constexpr std::size_t most_stages = 6;
constexpr std::array<std::string_view, most_stages> names{"a", "b", "c", "d", "e", "f"};

lv::expected_time time_of(const region& of, int threads) {
  lv::graph_info<most_stages> info;
  std::vector<lv::cost> costs;
  info.values.push_back({64, 64, lv::element::f32, lv::shape(16), true});
  for (std::size_t s = 0; s < of.stages.size(); ++s) {
    lv::node_info node;
    node.name = names[s];
    node.kind = "callable";
    node.order = of.stages[s].serial ? lv::concurrency::serial : lv::concurrency::parallel;
    node.in = s;
    node.out = info.result = s + 1;
    info.values.push_back({64, 64, lv::element::f32, lv::shape(16), true, info.nodes.size()});
    info.nodes.push_back(node);
    costs.push_back(lv::cost::measured(static_cast<double>(of.stages[s].time) * 1e-9));
  }
  const lv::device_info devices[] = {{lv::cpu<2>::id, threads}};
  const auto plan = lv::make_plan(info, lv::choose_partition(info, std::span(devices), {}, {}), {of.slots, costs, true},
                                  devices, {}, {});
  return lv::expected_time_of(plan, costs, {threads});
}

lv::pipeline_time time_of(const pipeline& p, std::int64_t pace) {
  std::vector<lv::expected_time> regions;
  for (const region& r : p.regions) regions.push_back(time_of(r, p.threads));
  std::vector<lv::timed_rate> rates;
  for (const rate& r : p.rates)
    rates.push_back({.name = "rate", .ratio = {r.takes, r.gives}, .waits = static_cast<double>(r.takes - 1)});
  return lv::pipeline_time_of(regions, rates, {static_cast<double>(pace) * 1e-9});
}
bool is_refused(const pipeline& p, std::int64_t pace) {
  const lv::pipeline_time time = time_of(p, pace);
  return !lv::keeps_up(time.busiest, time.pace) || !lv::keeps_up(time.fullest, time.pace);
}

/// What became of the items of a source that does not wait.
struct outcome {
  std::size_t dropped = 0;
  std::size_t most_in_flight_early = 0, most_in_flight = 0;  ///< in the first tenth, and in all of it
  std::size_t results = 0;
};

/// Event by event. Whoever is free takes what is oldest; a stage that takes one item at a time takes them in order.
class simulation {
 public:
  simulation(const pipeline& p, std::int64_t pace) : p_(p), pace_(pace), regions_(p.regions.size()) {
    for (std::size_t r = 0; r < regions_.size(); ++r) regions_[r].next.resize(p.regions[r].stages.size());
  }

  outcome run(std::size_t items) {
    outcome all;
    std::size_t arrived = 0, in_flight = 0;
    while (arrived < items || !events_.empty()) {
      const std::int64_t next = arrived < items ? static_cast<std::int64_t>(arrived) * pace_ : forever;
      // What is finished at the same moment makes room first.
      if (!events_.empty() && events_.top().at <= next) {
        now_ = events_.top().at;
        finish(events_.top());
        events_.pop();
      } else {
        now_ = next;
        ++arrived;
        if (regions_[0].used == p_.regions[0].slots)
          ++all.dropped;
        else
          enter(0);
      }
      settle();
      in_flight = 0;
      for (const state& s : regions_) in_flight += s.used;
      if (arrived <= items / 10) all.most_in_flight_early = std::max(all.most_in_flight_early, in_flight);
      all.most_in_flight = std::max(all.most_in_flight, in_flight);
    }
    all.results = results_;
    return all;
  }

 private:
  static constexpr std::int64_t forever = std::int64_t{1} << 62;

  /// An item between two stages of a region.
  struct waiting {
    std::uint64_t age;  ///< of its whole way: who came in first goes first
    std::size_t region, stage;
    std::uint64_t number;  ///< in its region
    bool operator>(const waiting& other) const { return age != other.age ? age > other.age : number > other.number; }
  };
  struct event {
    std::int64_t at;
    waiting of;
    bool operator>(const event& other) const { return at > other.at; }
  };
  struct state {
    std::size_t used = 0;             ///< slots
    std::uint64_t entered = 0;        ///< items
    std::vector<std::uint64_t> next;  ///< of each stage that takes one at a time: the item whose turn it is
    std::deque<char> done;            ///< whether, by number, from `left` on
    std::uint64_t left = 0;           ///< items that the rate behind has taken
    std::size_t taken = 0;            ///< of the next group
    std::size_t given = 0;            ///< that the rate still has to give
  };

  void enter(std::size_t r) {
    ready_.push_back({age_++, r, 0, regions_[r].entered++});
    ++regions_[r].used;
    regions_[r].done.push_back(0);
  }
  void finish(const event& e) {
    --busy_;
    const stage& s = p_.regions[e.of.region].stages[e.of.stage];
    state& here = regions_[e.of.region];
    if (s.serial) ++here.next[e.of.stage];
    if (e.of.stage + 1 < p_.regions[e.of.region].stages.size())
      ready_.push_back({e.of.age, e.of.region, e.of.stage + 1, e.of.number});
    else
      here.done[static_cast<std::size_t>(e.of.number - here.left)] = 1;
  }
  /// Results leave in order, and free their slots; rates give what they have room for.
  bool carry(std::size_t r) {
    state& here = regions_[r];
    if (r + 1 == regions_.size()) {
      bool any = false;
      for (; !here.done.empty() && here.done.front(); any = true) leave(here), ++results_;
      return any;
    }
    const rate& behind = p_.rates[r];
    if (here.given > 0) {
      if (regions_[r + 1].used == p_.regions[r + 1].slots) return false;
      enter(r + 1);
      if (--here.given == 0) leave(here);  // the last of a group keeps its slot until all of it is given
      return true;
    }
    if (here.done.empty() || !here.done.front() || regions_[r + 1].used == p_.regions[r + 1].slots) return false;
    if (++here.taken == behind.takes)
      here.taken = 0, here.given = behind.gives;
    else
      leave(here);
    return true;
  }
  static void leave(state& here) {
    here.done.pop_front();
    ++here.left;
    --here.used;
  }
  void settle() {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t r = regions_.size(); r-- > 0;) any = carry(r) || any;
    }
    std::sort(ready_.begin(), ready_.end(), [](const waiting& a, const waiting& b) { return b > a; });
    for (std::size_t i = 0; i < ready_.size() && busy_ < static_cast<std::size_t>(p_.threads);) {
      const waiting w = ready_[i];
      const stage& s = p_.regions[w.region].stages[w.stage];
      if (s.serial && regions_[w.region].next[w.stage] != w.number) {  // its turn lasts until it is finished
        ++i;
        continue;
      }
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
      ++busy_;
      events_.push({now_ + s.time, w});
    }
  }

  const pipeline& p_;
  const std::int64_t pace_;
  std::int64_t now_ = 0;
  std::uint64_t age_ = 0;
  std::size_t busy_ = 0, results_ = 0;
  std::vector<state> regions_;
  std::vector<waiting> ready_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
};

pipeline random_pipeline(std::mt19937& random) {
  const auto up_to = [&](std::size_t n) { return random() % n; };
  pipeline p;
  p.threads = 1 + static_cast<int>(up_to(3));
  const std::size_t kinds = up_to(3);
  if (kinds == 1)
    p.rates = {{2 + up_to(7), 1}};
  else if (kinds == 2)
    p.rates = {{2 + up_to(7), 1}, {1, 2 + up_to(4)}};
  for (std::size_t r = 0; r <= p.rates.size(); ++r) {
    region of;
    of.slots = 16 + up_to(64);
    for (std::size_t s = 0; s < 1 + up_to(most_stages - 1); ++s)
      of.stages.push_back({1'000 * static_cast<std::int64_t>(20 + up_to(2'000)), up_to(3) == 0});
    p.regions.push_back(of);
  }
  return p;
}

}  // namespace

TEST_CASE("what keeps up drops nothing and what waits does not grow; a fifth faster than the bottleneck, it drops") {
  const auto items = static_cast<std::size_t>(20'000 * levada::test::soak_scale());
  std::mt19937 random(30);
  int as_said = 0;
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    const pipeline p = random_pipeline(random);
    const double bottleneck = time_of(p, 1).bottleneck.seconds() * 1e9;

    const auto pace = static_cast<std::int64_t>(bottleneck * (1.02 + 0.01 * static_cast<double>(random() % 40))) + 1;
    REQUIRE_FALSE(is_refused(p, pace));
    const outcome kept = simulation(p, pace).run(items);
    CHECK(kept.dropped == 0);
    CHECK(kept.most_in_flight <= kept.most_in_flight_early + 1);

    const auto faster = static_cast<std::int64_t>(bottleneck / 1.2);
    REQUIRE(is_refused(p, faster));
    const double dropped = static_cast<double>(simulation(p, faster).run(20'000).dropped) / 20'000;
    const double said = time_of(p, faster).dropped();
    CHECK(dropped > 0.9 * said);
    as_said += dropped < 1.1 * said ? 1 : 0;
  }
  // Where two loads are all but equal, they hinder each other, and more is dropped.
  CHECK(as_said >= 36);
}
