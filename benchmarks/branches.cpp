// SPDX-License-Identifier: Apache-2.0
// branches/...: an item of two convolutions side by side, pushed and popped by one thread, by the clock on the wall.
//
// - `item` is one item at a time: the branches at once on two threads, against one after the other on one.
// - `stream` is many items on two threads: a plan that may run branches at once, against one that may not.
//
// `ratio` is the median of the pairs.

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>

#include "kernels/alternate.hpp"

namespace {

namespace lv = levada;

/// Who could compute so fast would run no branch beside another.
constexpr lv::roofline no_time[] = {{"simd", 1e18, 1e18, 0}};
constexpr lv::cost_table in_turn{.machine = "none", .rooflines = no_time};

template <std::size_t Channels, std::size_t Side>
class two_convolutions {
 public:
  using item = lv::tensor<float, Channels, Side, Side>;

  two_convolutions() : items_(64) {
    std::uniform_real_distribution<float> values(-1, 1);
    for (const char* name : {"left.weight", "right.weight"}) {
      const auto tensor = std::make_unique<lv::tensor<float, Channels, Channels, 3, 3>>();
      for (float& v : *tensor) v = values(random_);
      weights_.set(name, *tensor);
    }
    for (item& i : items_)
      for (float& v : i) v = values(random_);
  }

  auto pipeline() const {
    using namespace lv::nn;
    return lv::input<item> |
           lv::fork(conv2d<"left", Channels, lv::size<3>, lv::padding<1>, lv::no_bias>(weights_),
                    conv2d<"right", Channels, lv::size<3>, lv::padding<1>, lv::no_bias>(weights_)) |
           add;
  }
  const std::vector<item>& items() const { return items_; }

 private:
  std::mt19937 random_{2026};
  lv::parameter_map weights_;
  std::vector<item> items_;
};

template <class App>
constexpr bool runs_at_once(const App&) {
  return App::plan.fork[0].order == lv::branch_order::at_once;
}

template <class Session, class Items>
void one_by_one(Session& session, const Items& items) {
  for (const auto& item : items) {
    session.push(item);
    benchmark::DoNotOptimize(session.pop());
  }
}

template <std::size_t Channels, std::size_t Side>
void alone(benchmark::State& state) {
  const two_convolutions<Channels, Side> of;
  const auto both = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(of.pipeline());
  const auto one = lv::deploy<lv::target<lv::cpu<1>>, lv::slots<4>>(of.pipeline());
  static_assert(runs_at_once(both) && !runs_at_once(one));
  auto at_once = both.open();
  auto turn = one.open();
  const auto c = kernels::alternate(
      state, [&] { one_by_one(turn, of.items()); }, [&] { one_by_one(at_once, of.items()); });
  const auto items = static_cast<double>(of.items().size());
  state.counters["in_turn_us"] = c.first / items;
  state.counters["at_once_us"] = c.second / items;
  state.counters["ratio"] = c.ratio;
}

template <std::size_t Channels, std::size_t Side>
void streamed(benchmark::State& state) {
  const two_convolutions<Channels, Side> of;
  using box = lv::target<lv::cpu<2>>;
  const auto with = lv::deploy<box, lv::slots<8>>(of.pipeline());
  const auto without = lv::deploy<box, lv::slots<8>, lv::costs<in_turn>>(of.pipeline());
  static_assert(runs_at_once(with) && !runs_at_once(without));
  const auto run = [&](const auto& app) {
    for (auto&& r : app.stream(of.items())) benchmark::DoNotOptimize(r->data());
  };
  const auto c = kernels::alternate(
      state, [&] { run(without); }, [&] { run(with); });
  const auto items = static_cast<double>(of.items().size());
  state.counters["in_turn_us"] = c.first / items;
  state.counters["at_once_us"] = c.second / items;
  state.counters["ratio"] = c.ratio;
}

template <std::size_t Channels, std::size_t Side>
void add_size(const std::string& name) {
  const auto add = [&](const std::string& form, void (*run)(benchmark::State&)) {
    benchmark::RegisterBenchmark(("branches/" + form + "/" + name).c_str(), run)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(31);
  };
  add("item", alone<Channels, Side>);
  add("stream", streamed<Channels, Side>);
}

const bool added = [] {
  add_size<48, 24>("48x24x24");
  add_size<64, 28>("64x28x28");
  add_size<64, 56>("64x56x56");
  return true;
}();

}  // namespace

BENCHMARK_MAIN();
