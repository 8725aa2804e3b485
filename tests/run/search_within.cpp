// SPDX-License-Identifier: Apache-2.0
// Deployments whose cheapest plan does not keep what they promise, and another does.

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <levada/core/detail/units.hpp>
#include <levada/interop/planned_from.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>
#include <levada/plan/detail/saved.hpp>
#include <levada/run/promises.hpp>
#include <levada/run/simulated.hpp>

namespace run_search_within {

namespace lv = levada;
using namespace levada::literals;

using box = lv::target<lv::cpu<1>, lv::simulated<0>>;

constexpr lv::kernel_cost rows[] = {
    {"callable", "decode(4 bytes) -> 4 bytes", 5e-3, 1e-4, 6e-3},
    {"callable", "detect(4 bytes) -> 4 bytes", 7e-3, 1e-4, 9e-3},
};
constexpr lv::transfer_cost ways[] = {{lv::cpu<1>::id, lv::simulated<0>::id, 1e-3, 0},
                                      {lv::simulated<0>::id, lv::cpu<1>::id, 1e-3, 0}};
constexpr lv::cost_table measured{.machine = "a test", .kernels = rows, .transfers = ways, .date = "2026-11-25"};
constexpr lv::cost_table without_ways{.machine = "a test", .kernels = rows, .date = "2026-11-25"};

constexpr auto plus_one = [](const int& i) { return i + 1; };
constexpr auto chain = lv::input<int> | lv::stage<"decode">(plus_one) | lv::stage<"detect">(plus_one);
constexpr auto paced = lv::input<int, lv::every<9_ms>> | lv::stage<"decode">(plus_one) | lv::stage<"detect">(plus_one);

template <class App>
constexpr std::size_t segments = App::plan.segments;

TEST_CASE("a plan that keeps what is promised stays as it is") {
  const auto app = lv::deploy<box, lv::costs<measured>, lv::budget<lv::latency<12_ms>>>(chain);
  static_assert(segments<decltype(app)> == 1);
  CHECK(app(1) == 3);
}

TEST_CASE("an interval that one device does not keep goes over two, at the least latency") {
  const auto app = lv::deploy<box, lv::costs<measured>, lv::budget<lv::latency<14_ms>, lv::interval<8_ms>>>(chain);
  static_assert(segments<decltype(app)> == 2);
  CHECK(app(1) == 3);
  const std::string text = lv::report(app);
  CHECK(text.find("budget of interval 8 ms, expected 8 ms\n") != std::string::npos);
  CHECK(text.find("budget of latency 14 ms, expected 14 ms\n") != std::string::npos);
  int count = 0;
  for (auto&& r : app.stream(std::vector<int>(20, 1))) count += r.value() == 3;
  CHECK(count == 20);
}

TEST_CASE("a pace is a limit, too, but not where items are dropped by design") {
  const auto app = lv::deploy<box, lv::costs<measured>>(paced);
  static_assert(segments<decltype(app)> == 2);
  CHECK(app(1) == 3);
  const auto dropping = lv::deploy<box, lv::costs<measured>, lv::latest_only>(paced);
  static_assert(segments<decltype(dropping)> == 1);
  CHECK(dropping(1) == 3);
}

TEST_CASE("quantiles are limits of their own") {
  using at = lv::quantile;
  const auto app = lv::deploy<box, lv::costs<measured>, lv::budget<lv::interval<10_ms, at::p95>>>(chain);
  static_assert(segments<decltype(app)> == 2);
  const auto mixed =
      lv::deploy<box, lv::costs<measured>, lv::budget<lv::interval<12_ms>, lv::interval<14_ms, at::p95>>>(chain);
  static_assert(segments<decltype(mixed)> == 2);
  CHECK(app(1) == mixed(1));
}

TEST_CASE("ways that nobody measured are promised where estimates count") {
  const auto app = lv::deploy<box, lv::costs<without_ways>, lv::budget<lv::interval<8_ms>>, lv::estimates_count>(chain);
  static_assert(segments<decltype(app)> == 2);
  CHECK(app(1) == 3);
}

TEST_CASE("the best throughput within a latency") {
  using goal = lv::costs<measured, lv::objective::throughput>;
  const auto busy = lv::deploy<box, goal>(chain);
  static_assert(segments<decltype(busy)> == 2);
  const auto near = lv::deploy<box, goal, lv::budget<lv::latency<13_ms>>>(chain);
  static_assert(segments<decltype(near)> == 1);
  CHECK(busy(1) == near(1));
}

TEST_CASE("the fewest devices within a latency") {
  static constexpr lv::kernel_cost slow_and_fast[] = {{"callable", "decode(4 bytes) -> 4 bytes", 5e-3},
                                                      {"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
  static constexpr lv::cost_table table{.machine = "a test", .kernels = slow_and_fast, .transfers = ways};
  using goal = lv::costs<table, lv::objective::devices>;
  const auto one = lv::deploy<box, goal, lv::budget<lv::latency<20_ms>>>(chain);
  static_assert(segments<decltype(one)> == 1);
  const auto two = lv::deploy<box, goal, lv::budget<lv::latency<20_ms>, lv::interval<8_ms>>>(chain);
  static_assert(segments<decltype(two)> == 2);
  CHECK(one(1) == two(1));
}

TEST_CASE("ports at their paces, sources and stages that are pinned are searched alike") {
  static constexpr lv::kernel_cost of_ports[] = {{"callable", "left(4 bytes) -> 4 bytes", 5e-3},
                                                 {"callable", "right(4 bytes) -> 4 bytes", 5e-3},
                                                 {"callable", "both(4 bytes, 4 bytes) -> 4 bytes", 5e-3}};
  static constexpr lv::cost_table table{.machine = "a test", .kernels = of_ports, .transfers = ways};
  constexpr auto graph = lv::graph(lv::port<"l", int, lv::every<12_ms>>, lv::port<"r", int, lv::every<12_ms>>,
                                   lv::node<"left", "l">(plus_one), lv::node<"right", "r">(plus_one),
                                   lv::node<"both", "left", "right">([](const int& l, const int& r) { return l + r; }),
                                   lv::output<"sum", "both">);
  const auto met = lv::deploy<box, lv::costs<table>>(graph);
  static_assert(segments<decltype(met)> > 1);

  auto filmed = lv::deploy<box, lv::costs<measured>>(
      lv::source<"camera", lv::every<9_ms>>([n = 0]() mutable { return n < 5 ? std::optional(n++) : std::nullopt; }) |
      lv::stage<"decode">(plus_one) | lv::stage<"detect">(plus_one));
  static_assert(segments<decltype(filmed)> == 2);
  int sum = 0;
  for (auto&& r : filmed.stream()) sum += r.value();
  CHECK(sum == 20);

  const auto pinned = lv::deploy<box, lv::costs<measured>>(lv::input<int, lv::every<9_ms>> |
                                                           lv::on<lv::simulated<0>>(lv::stage<"decode">(plus_one)) |
                                                           lv::stage<"detect">(plus_one));
  static_assert(segments<decltype(pinned)> == 2);
  static_assert(decltype(pinned)::plan.segment[1].device.kind == lv::device_kind::cpu);
  CHECK(pinned(1) == 3);
}

TEST_CASE("a plan found is saved and pinned as any other") {
  const auto found = lv::deploy<box, lv::costs<measured>, lv::budget<lv::interval<8_ms>>>(chain);
  constexpr auto line = lv::saved<decltype(found)::plan>();
  const auto again = lv::deploy<box, lv::costs<measured>, lv::budget<lv::interval<8_ms>>, lv::pinned<line>>(chain);
  static_assert(segments<decltype(again)> == 2);
  CHECK(found(1) == again(1));
}

TEST_CASE("where slots alone are missing, the mistake is that of the slots") {
  using mistake = lv::detail::deploy_call_mistake<const std::remove_const_t<decltype(paced)>&, box, lv::costs<measured>,
                                                  lv::slots<1>>;
  static_assert(lv::detail::is_of_slots<mistake>);
  const auto two = lv::deploy<box, lv::costs<measured>, lv::slots<2>>(paced);
  static_assert(segments<decltype(two)> == 2);
  CHECK(two(1) == 3);
}

TEST_CASE("sums of decimals keep a budget that is equal to them") {
  static constexpr lv::kernel_cost tenths[] = {{"callable", "decode(4 bytes) -> 4 bytes", 0.1e-3},
                                               {"callable", "detect(4 bytes) -> 4 bytes", 0.2e-3}};
  static_assert(0.1e-3 + 0.2e-3 > 0.3e-3);
  static constexpr lv::cost_table table{.machine = "a test", .kernels = tenths};
  const auto app =
      lv::deploy<lv::target<lv::cpu<1>>, lv::costs<table>, lv::budget<lv::latency<300_us>, lv::interval<300_us>>>(
          chain);
  CHECK(app(1) == 3);
}

template <class Mistake>
constexpr bool is_in_vain = false;
template <class... Said>
constexpr bool is_in_vain<lv::no_plan_keeps_what_is_promised<Said...>> = true;

TEST_CASE("regions of different rates are searched as one") {
  static constexpr lv::kernel_cost of_regions[] = {{"callable", "decode(4 bytes) -> 4 bytes", 5e-3},
                                                   {"callable", "detect(4 bytes) -> 4 bytes", 3e-3},
                                                   {"callable", "model(16 bytes) -> 16 bytes", 12e-3},
                                                   {"callable", "track(4 bytes) -> 4 bytes", 1e-3}};
  static constexpr lv::cost_table table{.machine = "a test", .kernels = of_regions, .transfers = ways};
  constexpr auto batched = lv::input<int, lv::every<9_ms>> | lv::stage<"decode">(plus_one) |
                           lv::stage<"detect">(plus_one) | lv::batch<4> |
                           lv::stage<"model">([](const std::array<int, 4>& b) { return b; }) | lv::unbatch |
                           lv::stage<"track">(lv::serial(plus_one));
  using pipeline = std::remove_const_t<decltype(batched)>;
  // The processor alone would need 12 ms for each item.
  const auto app = lv::deploy<box, lv::costs<table>>(batched);
  int count = 0;
  for (auto&& r : app.stream(std::vector<int>(20, 1))) count += r.value() == 4;
  CHECK(count == 20);
  CHECK(lv::report(app).find("\n  simulated<0>: ") != std::string::npos);
  // 27 ms for later items, and 21 ms of work at least; the last of four waits for the others.
  const auto quick = lv::deploy<box, lv::costs<table>, lv::budget<lv::latency<60_ms>, lv::interval<9_ms>>>(batched);
  count = 0;
  for (auto&& r : quick.stream(std::vector<int>(20, 1))) count += r.value() == 4;
  CHECK(count == 20);
  static_assert(
      is_in_vain<
          lv::detail::deploy_call_mistake<const pipeline&, box, lv::costs<table>, lv::budget<lv::latency<40_ms>>>>);
  static_assert(!lv::detail::deploy_call_mistake<const pipeline&, box, lv::costs<table>, lv::latest_only>::is_mistake);
}

TEST_CASE("what stages hold is planned as without promises") {
  constexpr auto each = chain | lv::stage<"pair">([](const int& i) {
                          lv::bounded<int, 2> pair;
                          pair.push_back(i);
                          pair.push_back(i + 1);
                          return pair;
                        }) |
                        lv::for_each<2>(lv::stage<"one">(plus_one)) | lv::collect;
  const auto app = lv::deploy<box, lv::costs<measured>, lv::budget<lv::interval<9_ms>>, lv::estimates_count>(each);
  static_assert(segments<decltype(app)> > 1);
  CHECK(app(1)[1] == 5);
}

TEST_CASE("the report says that another plan is cheaper and does not keep what is promised") {
  using costs = lv::detail::within_promises<std::remove_const_t<decltype(paced)>, box, lv::costs<measured>>::options;
  using planning = decltype([]<class... Options>(lv::type_list<Options...>) {
    return lv::detail::planned<lv::detail::flat<std::remove_const_t<decltype(paced)>>, box, Options...>{};
  }(costs{}));
  lv::detail::planned_from<planning>::visit([](const auto& plan, const lv::plan_choice& choice) {
    CHECK(choice.is_within);
    const auto reasons = lv::explain(plan, choice);
    CHECK(reasons.units[1].why == lv::plan_reason::promise);
    CHECK(reasons.least_seconds == doctest::Approx(12e-3));
  });
}

// ---- memory ----

using vec = lv::tensor<float, 64>;

/// The same op by backends that keep much or little for it.
template <class In, std::size_t Scratch>
struct clipped {
  static constexpr std::size_t scratch_bytes = Scratch;
  explicit clipped(const lv::relu_op&, lv::parameter_values) {}
  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t i = 0; i < In::elements; ++i) out[i] = in[i] > 0 ? in[i] : 0;
  }
};
template <std::size_t Scratch, class In, class... Ops>
struct clipping_kernel;
template <std::size_t Scratch, class In>
struct clipping_kernel<Scratch, In, lv::relu_op> : clipped<In, Scratch> {
  using clipped<In, Scratch>::clipped;
};
struct roomy {
  static constexpr std::string_view name = "roomy";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 1;
  template <class In, class... Ops>
  using kernel = clipping_kernel<1_MiB, In, Ops...>;
};
struct frugal {
  static constexpr std::string_view name = "frugal";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 1;
  template <class In, class... Ops>
  using kernel = clipping_kernel<64, In, Ops...>;
};

constexpr lv::kernel_cost clips[] = {{"roomy", "relu(float[64]) -> float[64], 64 FLOP", 2e-6},
                                     {"frugal", "relu(float[64]) -> float[64], 64 FLOP", 5e-6}};
constexpr lv::cost_table of_clips{.machine = "a test", .kernels = clips, .date = "2026-11-25"};
using both = lv::backends<roomy, frugal>;
constexpr auto twice = lv::input<vec> | lv::nn::relu | lv::nn::relu;

template <class App>
constexpr int kernels_of_roomy() {
  int count = 0;
  for (const lv::planned_unit& u : App::plan.unit) count += App::plan.backend[u.backend].name == "roomy";
  return count;
}

TEST_CASE("the least memory within a latency") {
  using goal = lv::costs<of_clips, lv::objective::memory>;
  const auto fast = lv::deploy<box, both, lv::costs<of_clips>>(twice);
  static_assert(kernels_of_roomy<decltype(fast)>() == 2);
  const auto small = lv::deploy<box, both, goal>(twice);
  static_assert(kernels_of_roomy<decltype(small)>() == 0);
  static_assert(decltype(small)::plan.bytes_total < 1_MiB && decltype(fast)::plan.bytes_total > 1_MiB);
  const auto within = lv::deploy<box, both, goal, lv::budget<lv::latency<10_us>>>(twice);
  static_assert(kernels_of_roomy<decltype(within)>() == 0);
  const auto faster = lv::deploy<box, both, goal, lv::budget<lv::latency<8_us>>>(twice);
  static_assert(kernels_of_roomy<decltype(faster)>() == 1);
  vec v{};
  v[3] = -1, v[4] = 2;
  for (const vec& out : {fast(v), small(v), within(v), faster(v)}) {
    CHECK(out[3] == 0);
    CHECK(out[4] == 2);
  }
}

TEST_CASE("where the fastest plan needs too much memory, the smallest within its latency is taken") {
  const auto app = lv::deploy<box, both, lv::costs<of_clips>, lv::budget<lv::latency<11_us>, lv::memory<1_MiB>>>(twice);
  static_assert(kernels_of_roomy<decltype(app)>() == 0);
  CHECK(app(vec{})[0] == 0);
}

}  // namespace run_search_within
