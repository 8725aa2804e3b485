// SPDX-License-Identifier: Apache-2.0
// for_each/<parts>, route: what pipelines inside a stage cost over the loop, or the branch, that one would write by
// hand with the same kernels and the same memory. A call an item, in processor time; `ratio` is the median of the
// pairs.

#include <memory>
#include <random>
#include <string>
#include <type_traits>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

#include "kernels/alternate.hpp"

namespace {

namespace lv = levada;

using box = lv::target<lv::cpu<1>>;
using crop = lv::tensor<float, 1, 16, 16>;
using features = lv::tensor<float, 512>;
using scores = lv::tensor<float, 10>;
using crops = lv::bounded<crop, 64>;
using all_scores = lv::bounded<scores, 64>;

class weights {
 public:
  weights() {
    const auto set = [&](const std::string& name, auto tensor) {
      std::uniform_real_distribution<float> values(-1, 1);
      for (float& v : *tensor) v = values(random_);
      map_.set(name, *tensor);
    };
    set("conv.weight", std::make_unique<lv::tensor<float, 8, 1, 3, 3>>());
    set("conv.bias", std::make_unique<lv::tensor<float, 8>>());
    set("fc.weight", std::make_unique<lv::tensor<float, 10, 512>>());
    set("fc.bias", std::make_unique<lv::tensor<float, 10>>());
  }
  const lv::parameter_map& map() const { return map_; }
  const void* operator[](const char* name) const { return map_.find(name)->data; }
  crop random_crop() {
    crop c;
    std::uniform_real_distribution<float> values(-1, 1);
    for (float& v : c) v = values(random_);
    return c;
  }

 private:
  std::mt19937 random_{2026};
  lv::parameter_map map_;
};

auto look(const lv::parameter_map& w) {
  return lv::nn::conv2d<"conv", 8, lv::size<3>, lv::padding<1>>(w) | lv::nn::relu | lv::nn::max_pool2d<2> |
         lv::nn::flatten | lv::nn::dense<"fc", 10>(w);
}

/// The kernels of that, called in turn.
class by_hand {
  using conv = lv::conv2d_op<8, lv::size<3>, lv::padding<1>>;
  using pool = lv::max_pool2d_op<lv::size<2>>;
  using first = lv::simd::kernel<crop, conv, lv::relu_op, pool, lv::flatten_op>;
  using second = lv::simd::kernel<features, lv::dense_op<10>>;

 public:
  explicit by_hand(const weights& w)
      : first_(make<first>(w["conv.weight"], w["conv.bias"], conv(), lv::relu_op(), pool(), lv::flatten_op())),
        second_(make<second>(w["fc.weight"], w["fc.bias"], lv::dense_op<10>())) {}

  void operator()(const crop& in, scores& out) {
    (*first_)(in, *between_, scratch_.get());
    (*second_)(*between_, out, scratch_.get());
  }

 private:
  template <class Kernel, class... Ops>
  static std::unique_ptr<Kernel> make(const void* weight, const void* bias, const Ops&... ops) {
    const void* const all[] = {weight, bias};
    return std::make_unique<Kernel>(ops..., lv::parameter_values(all));
  }

  std::unique_ptr<first> first_;
  std::unique_ptr<second> second_;
  std::unique_ptr<features> between_ = std::make_unique<features>();
  lv::detail::arena_bytes scratch_{std::max(first::scratch_bytes, second::scratch_bytes), 64};
};

void report(benchmark::State& state, const kernels::compared& c, double items) {
  state.counters["levada_us"] = c.first / items;
  state.counters["by_hand_us"] = c.second / items;
  state.counters["ratio"] = c.ratio;
}

void for_each_part(benchmark::State& state) {
  weights w;
  const auto app = lv::deploy<box, lv::slots<4>>(lv::input<crops> | lv::for_each<64>(look(w.map())) | lv::collect);
  by_hand hand(w);
  const auto item = std::make_unique<crops>();
  for (int i = 0; i < state.range(0); ++i) item->push_back(w.random_crop());
  const auto ours = std::make_unique<all_scores>(), theirs = std::make_unique<all_scores>();
  const auto call = [&] { app(*item, *ours); };
  const auto loop = [&] {
    *theirs = {};
    theirs->resize(item->size());
    for (std::size_t i = 0; i < item->size(); ++i) hand((*item)[i], (*theirs)[i]);
  };
  call(), loop();
  if (!(*ours == *theirs)) throw lv::error("the parts give something else than their kernels called by hand");
  constexpr int times = 200;
  const auto repeat = [](auto& what) {
    for (int i = 0; i < times; ++i) what(), benchmark::ClobberMemory();
  };
  report(state,
         kernels::alternate<kernels::processor_clock>(
             state, [&] { repeat(call); }, [&] { repeat(loop); }),
         times);
}

void routed(benchmark::State& state) {
  weights w;
  const auto zero = lv::stage<"zero", scores>([](const crop&, scores& out) { out.fill(0); });
  const auto app = lv::deploy<box, lv::slots<4>>(
      lv::input<crop> | lv::route([](const crop& c) { return c(0, 0, 0) > 0; }, look(w.map()), zero));
  by_hand hand(w);
  crop items[64];
  for (crop& c : items) c = w.random_crop();
  scores out;
  const auto call = [&] {
    for (const crop& c : items) app(c, out), benchmark::DoNotOptimize(out.data());
  };
  const auto branch = [&] {
    for (const crop& c : items) {
      if (c(0, 0, 0) > 0)
        hand(c, out);
      else
        out.fill(0);
      benchmark::DoNotOptimize(out.data());
    }
  };
  report(state, kernels::alternate<kernels::processor_clock>(state, call, branch), 64);
}

BENCHMARK(for_each_part)->Name("for_each")->Arg(0)->Arg(1)->Arg(8)->Arg(64)->UseManualTime()->Iterations(101);
BENCHMARK(routed)->Name("route")->UseManualTime()->Iterations(1001);

}  // namespace

BENCHMARK_MAIN();
