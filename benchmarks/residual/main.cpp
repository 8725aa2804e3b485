// SPDX-License-Identifier: Apache-2.0
// residual/...: what a residual block costs over the loop that one would write by hand with the same kernels and the
// same memory: two convolutions with their norms, the sum and relu in place. `inline` is a call an item, in processor
// time; `stream` a stream by one thread at a time, by the clock on the wall. `ratio` is the median of the pairs.

#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/nn/residual.hpp>
#include <levada/ops.hpp>

#include "../kernels/alternate.hpp"

namespace {

namespace lv = levada;

using box = lv::target<lv::cpu<1>>;

/// Few large items: a stream of them over 64 slots would first of all be one of page faults, in 51 MB of results.
template <class Item>
inline constexpr bool is_large = sizeof(Item) > (64 << 10);
template <class Item>
using slots_for = lv::slots<is_large<Item> ? 4 : 64>;

/// A block of `Channels` on pictures of `Side` x `Side`, as in ResNet.
template <std::size_t Channels, std::size_t Side>
class block {
 public:
  using item = lv::tensor<float, Channels, Side, Side>;

  block() {
    const auto set = [&](const std::string& name, auto tensor, float low, float high) {
      std::uniform_real_distribution<float> values(low, high);
      for (float& v : *tensor) v = values(random_);
      weights_.set(name, *tensor);
    };
    for (const char* number : {"1", "2"}) {
      set("conv" + std::string(number) + ".weight", std::make_unique<lv::tensor<float, Channels, Channels, 3, 3>>(),
          -0.1f, 0.1f);
      for (const char* name : {"scale", "bias", "mean", "variance"})
        set("bn" + std::string(number) + "." + name, std::make_unique<lv::tensor<float, Channels>>(), 0.5f, 1.0f);
    }
    items_.resize(is_large<item> ? 128 : 512);
    std::uniform_real_distribution<float> values(-1, 1);
    for (item& i : items_)
      for (float& v : i) v = values(random_);
  }

  auto pipeline() const {
    using namespace lv::nn;
    const lv::parameter_map& w = weights_;
    return lv::input<item> |
           lv::residual(conv2d<"conv1", Channels, lv::size<3>, lv::padding<1>, lv::no_bias>(w) | batch_norm<"bn1">(w) |
                        relu | conv2d<"conv2", Channels, lv::size<3>, lv::padding<1>, lv::no_bias>(w) |
                        batch_norm<"bn2">(w)) |
           relu;
  }
  const std::vector<item>& items() const { return items_; }
  const lv::parameter_map& weights() const { return weights_; }

 private:
  std::mt19937 random_{2026};
  lv::parameter_map weights_;
  std::vector<item> items_;
};

/// The kernels of a block, called in turn.
template <class Item>
class by_hand {
  using conv = lv::conv2d_op<Item::extents[0], lv::size<3>, lv::padding<1>, lv::no_bias>;
  using first = lv::simd::kernel<Item, conv, lv::batch_norm_op, lv::relu_op>;
  using second = lv::simd::kernel<Item, conv, lv::batch_norm_op>;
  using add_op = typename std::remove_cvref_t<decltype(lv::nn::add)>::op_type;
  using sum = lv::simd::kernel<std::tuple<Item, Item>, add_op>;
  using positive = lv::simd::kernel<Item, lv::relu_op>;

 public:
  explicit by_hand(const lv::parameter_map& weights)
      : first_(make<first>(weights, "1", conv(), lv::batch_norm_op(), lv::relu_op())),
        second_(make<second>(weights, "2", conv(), lv::batch_norm_op())),
        add_(lv::nn::add.description, lv::parameter_values({})),
        relu_(lv::relu_op(), lv::parameter_values({})) {}

  void operator()(const Item& in, Item& out) {
    (*first_)(in, *between_, scratch_.get());
    (*second_)(*between_, out, scratch_.get());
    add_(std::tie(out, in), out, scratch_.get());
    relu_(out, out, scratch_.get());
  }

 private:
  template <class Kernel, class... Ops>
  static std::unique_ptr<Kernel> make(const lv::parameter_map& weights, const std::string& number, const Ops&... ops) {
    const void* const all[] = {weights.find("conv" + number + ".weight")->data,
                               weights.find("bn" + number + ".scale")->data,
                               weights.find("bn" + number + ".bias")->data, weights.find("bn" + number + ".mean")->data,
                               weights.find("bn" + number + ".variance")->data};
    return std::make_unique<Kernel>(ops..., lv::parameter_values(all));
  }

  std::unique_ptr<first> first_;
  std::unique_ptr<second> second_;
  sum add_;
  positive relu_;
  std::unique_ptr<Item> between_ = std::make_unique<Item>();
  lv::detail::arena_bytes scratch_{std::max(first::scratch_bytes, second::scratch_bytes), 64};
};

template <class App, class Item>
void check(const App& app, by_hand<Item>& hand, const Item& item) {
  const auto ours = std::make_unique<Item>(), theirs = std::make_unique<Item>();
  app(item, *ours);
  hand(item, *theirs);
  if (!(*ours == *theirs)) throw lv::error("the block gives something else than its kernels called by hand");
}

void report(benchmark::State& state, const kernels::compared& c, double items) {
  state.counters["levada_us"] = c.first / items;
  state.counters["by_hand_us"] = c.second / items;
  state.counters["ratio"] = c.ratio;
}

/// `measure(app, hand, items)` of a block.
template <std::size_t Channels, std::size_t Side, class Measure>
void compare(benchmark::State& state, Measure measure) {
  const block<Channels, Side> b;
  using item = typename block<Channels, Side>::item;
  const auto app = lv::deploy<box, slots_for<item>>(b.pipeline());
  by_hand<item> hand(b.weights());
  check(app, hand, b.items().front());
  report(state, measure(app, hand, b.items()), static_cast<double>(b.items().size()));
}

template <std::size_t Channels, std::size_t Side>
void called(benchmark::State& state) {
  compare<Channels, Side>(state, [&]<class Item>(const auto& app, auto& hand, const std::vector<Item>& items) {
    const auto out = std::make_unique<Item>();
    return kernels::alternate<kernels::processor_clock>(
        state,
        [&] {
          for (const Item& i : items) app(i, *out), benchmark::DoNotOptimize(out->data());
        },
        [&] {
          for (const Item& i : items) hand(i, *out), benchmark::DoNotOptimize(out->data());
        });
  });
}

template <std::size_t Channels, std::size_t Side>
void streamed(benchmark::State& state) {
  compare<Channels, Side>(state, [&]<class Item>(const auto& app, auto& hand, const std::vector<Item>& items) {
    std::vector<Item> out(items.size());
    return kernels::alternate(
        state,
        [&] {
          for (auto&& r : app.stream(items)) benchmark::DoNotOptimize(r->data());
        },
        [&] {
          for (std::size_t i = 0; i < out.size(); ++i) hand(items[i], out[i]);
          benchmark::DoNotOptimize(out.data());
        });
  });
}

template <std::size_t Channels, std::size_t Side>
void add_size(const std::string& name) {
  const auto add = [&](const std::string& form, void (*run)(benchmark::State&)) {
    benchmark::RegisterBenchmark(("residual/" + form + "/" + name).c_str(), run)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(is_large<lv::tensor<float, Channels, Side, Side>> ? 11 : 101);
  };
  add("inline", called<Channels, Side>);
  add("stream", streamed<Channels, Side>);
}

const bool added = [] {
  add_size<8, 8>("8x8x8");
  add_size<16, 14>("16x14x14");
  add_size<64, 28>("64x28x28");
  add_size<64, 56>("64x56x56");
  return true;
}();

}  // namespace

BENCHMARK_MAIN();
