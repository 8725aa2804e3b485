// SPDX-License-Identifier: Apache-2.0
// What levada::profile measures, writes, reads again and leaves out. Nothing here depends on what a kernel takes.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <levada/backend/reference/detail/activation.hpp>
#include <levada/backend/reference/detail/reshape.hpp>
#include <levada/backend/reference/detail/transform.hpp>
#include <levada/backend/simd/detail/activation.hpp>
#include <levada/backend/simd/detail/reshape.hpp>
#include <levada/interop/profile.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/nn/reshape.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/simulated.hpp>

#include <files.hpp>

namespace interop_profile {

namespace lv = levada;
using levada::test::contents_of;
using levada::test::temporary_file;

using box = lv::target<lv::cpu<1>>;
using picture = lv::tensor<float, 2, 3>;
using both = lv::backends<lv::simd, lv::reference>;

const auto pipeline = lv::input<picture> | lv::nn::relu | lv::nn::flatten | lv::nn::softmax |
                      lv::stage<"largest">([](const lv::tensor<float, 6>& p) { return p[0] > p[1] ? 0 : 1; });

const lv::profile_options quick{.seconds_each = 1e-4, .rounds = 1, .seconds_wholes = 0, .progress = {}};

TEST_CASE("each kernel and each plain callable is measured, and written as a table") {
  const temporary_file to("levada_profile_whole.costs.hpp");
  std::size_t calls = 0, last = 0;
  lv::profile_options options = quick;
  options.rounds = 2;
  options.progress = [&](const lv::profile_progress& p) {
    ++calls;
    CHECK(p.done > last);
    CHECK(p.done <= p.all);
    CHECK(p.seconds_left >= 0);
    last = p.done;
  };
  const auto result = lv::profile<box, both>(pipeline, std::vector<picture>(1), to.path, options);
  CHECK(result.reused == 0);
  CHECK(2 * result.measured == calls);
  const std::string text = contents_of(to.path);
  for (const char* line :
       {"    {\"simd\", \"relu(float[2x3]) -> float[2x3], 6 FLOP\", ",
        "    {\"reference\", \"softmax(float[6]) -> float[6], 24 FLOP\", ",
        "    {\"callable\", \"largest(float[6]) -> 4 bytes\", ", "levada_profile_whole_costs_kernels[]",
        "levada::cost_table levada_profile_whole_costs{.machine = \""})
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
}

TEST_CASE("threads are measured by twos, fours and so on, up to the processors, against one") {
  double made = 0;
  const auto make = [&] {
    ++made;
    return std::function<double()>([&] { return made; });
  };
  const auto found = lv::detail::measure_contentions(make, 6, 1e-3);
  REQUIRE(found.size() == 3);
  for (const std::size_t i : {0u, 1u, 2u}) {
    CHECK(found[i].threads == std::array{2, 4, 6}[i]);
    CHECK(found[i].slowdown == std::array{2.0, 4.0, 6.0}[i]);
  }
  CHECK(lv::detail::measure_contentions(make, 1, 1e-3).empty());
  const auto throwing = [] { return std::function<double()>([]() -> double { throw lv::error("no item"); }); };
  CHECK_THROWS_WITH_AS(lv::detail::measure_contentions(throwing, 2, 1e-3), "no item", lv::error);
}

TEST_CASE("by its roofline the kernels of a backend take in the sum what was measured") {
  using tile = lv::tensor<float, 64, 64>;
  const auto functions = lv::input<tile> | lv::nn::erf | lv::nn::flatten | lv::nn::softmax;
  const temporary_file to("levada_profile_rooflines.costs.hpp");
  lv::profile<box, both>(functions, std::vector<tile>(1), to.path, quick);
  lv::detail::cost_header header(to.path, lv::detail::machine_text());
  const lv::cost_table measured = header.table();
  const lv::cost_table estimated{measured.machine, {}, {}, measured.rooflines};
  // Each op of `reference` is a kernel by itself, and so is the candidate that was measured.
  const auto app = lv::deploy<box, lv::backends<lv::reference>>(functions);
  const std::vector<tile> items(1);
  const lv::additive_check by_rows = lv::check_sum(app, measured, items, 0);
  const lv::additive_check by_lines = lv::check_sum(app, estimated, items, 0);
  CHECK(by_rows.estimated + by_rows.unknown + by_lines.unknown == 0);
  CHECK(by_lines.estimated == decltype(app)::plan.unit.size());
  CHECK(by_lines.sum == doctest::Approx(by_rows.sum).epsilon(1e-3));
}

float most_of(const picture& a, const lv::tensor<float, 6>& b) { return std::max(a[0], b[0]); }

TEST_CASE("callables of several branches and functions are measured, callables with captures are not") {
  const temporary_file to("levada_profile_joins.costs.hpp");
  const float captured = 1;
  const auto joins = lv::input<picture> | lv::fork(lv::nn::relu, lv::nn::flatten) | lv::join<"most">(most_of) |
                     lv::stage<"half">([](float x) { return x / 2; }) |
                     lv::stage<"shift">([captured](float x) { return x + captured; });
  const auto result = lv::profile<box, lv::backends<lv::reference>>(joins, std::vector<picture>(1), to.path, quick);
  CHECK(result.measured == 4);
  lv::detail::cost_header header(to.path, lv::detail::machine_text());
  CHECK(header.find("callable", "most(float[2x3], float[6]) -> 4 bytes") != nullptr);
  CHECK(header.find("callable", "half(4 bytes) -> 4 bytes") != nullptr);
  CHECK(header.find("callable", "shift(4 bytes) -> 4 bytes") == nullptr);
}

TEST_CASE("element-wise ops of one shape have costs of their own, and lambdas by their sources") {
  using tile = lv::tensor<float, 32, 32>;
  const temporary_file to("levada_profile_functions.costs.hpp");
  const auto functions = lv::input<tile> | lv::nn::neg | lv::nn::erf | lv::nn::tanh |
                         lv::transform<"scale">([](auto x) { return x * 0.5f; }) |
                         lv::transform<"scale">([](auto x) { return x * 2.0f; });
  lv::profile<box, lv::backends<lv::reference>>(functions, std::vector<tile>(1), to.path, quick);
  lv::detail::cost_header header(to.path, lv::detail::machine_text());
  for (const char* kind : {"neg", "erf", "tanh"})
    CHECK_MESSAGE(header.find("reference", kind + std::string("(float[32x32]) -> float[32x32], 1024 FLOP")) != nullptr,
                  kind);
  CHECK(header.table().kernels.size() == 5);
  const auto copying = lv::find_transfer(header.table().transfers, lv::cpu<1>::id, lv::cpu<1>::id);
  REQUIRE_MESSAGE(copying, "what it takes to copy an item into its slot");
  CHECK(copying->seconds_per_byte > 0);

  // Whoever looks them up knows the lambdas by the same signatures.
  const auto app = lv::deploy<box, lv::backends<lv::reference>>(functions);
  const lv::additive_check check = lv::check_sum(app, header.table(), std::vector<tile>(1), 0);
  CHECK(check.estimated + check.unknown == 0);
}

TEST_CASE("what a header has is not measured again, what is missing is, and another machine's is not taken") {
  const temporary_file to("levada_profile_again.costs.hpp");
  const auto first = lv::profile<box, both>(pipeline, std::vector<picture>(1), to.path, quick);
  const std::string before = contents_of(to.path);
  const auto second = lv::profile<box, both>(pipeline, std::vector<picture>(1), to.path, quick);
  CHECK(second.measured == 0);
  CHECK(second.reused == first.measured);

  // As if it had been interrupted before the last.
  const std::size_t at = before.find("    {\"reference\", \"softmax");
  std::string part = before;
  part.erase(at, part.find('\n', at) + 1 - at);
  std::ofstream(to.path) << part;
  CHECK(lv::profile<box, both>(pipeline, std::vector<picture>(1), to.path, quick).measured == 1);

  std::string other = before;
  other.replace(other.find(".machine = \"") + 12, 0, "another ");
  std::ofstream(to.path) << other;
  const auto third = lv::profile<box, both>(pipeline, std::vector<picture>(1), to.path, quick);
  CHECK(third.measured == first.measured);
  CHECK(third.stale.starts_with("another "));
}

TEST_CASE("whole plans are tried once, and the one that is kept is written down") {
  const temporary_file to("levada_profile_wholes.costs.hpp");
  lv::profile_options options = quick;
  options.seconds_wholes = 0.01;
  std::size_t plans = 0;
  options.progress = [&](const lv::profile_progress& p) { plans += p.backend == "whole plans"; };
  const auto first = lv::profile<box, both>(pipeline, std::vector<picture>(2), to.path, options);
  CHECK(first.wholes.tried >= 2);
  CHECK(first.wholes.tried == plans);
  REQUIRE(first.wholes.plans.size() >= 2);
  CHECK(first.wholes.plans[0].name == "simd first");
  CHECK(first.wholes.kept.seconds > 0);
  CHECK(first.wholes.sum > 0);
  // The kernels of the plan that is kept have what they took between the others.
  const auto app = lv::deploy<box, lv::backends<lv::simd>>(pipeline);
  lv::detail::cost_header header(to.path, lv::detail::machine_text());
  if (contents_of(to.path).find("reference(") == std::string::npos)
    CHECK(lv::check_sum(app, header.table(), std::vector<picture>(1), 0).sum / first.wholes.sum_in_place ==
          doctest::Approx(1).epsilon(1e-3));
  const std::string text = contents_of(to.path);
  for (const char* part :
       {"levada::whole_cost levada_profile_wholes_costs_wholes[] = {",
        "\"levada plan 1: 256 slots | cpu: ", "(\\\"relu\\\")", ".wholes = levada_profile_wholes_costs_wholes"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, std::string(part));
  const auto second = lv::profile<box, both>(pipeline, std::vector<picture>(2), to.path, options);
  CHECK(second.wholes.tried == 0);
  // And how much threads slow each other down.
  lv::detail::cost_header again(to.path, lv::detail::machine_text());
  const auto contentions = again.table().contentions;
  CHECK(contentions.empty() == (std::thread::hardware_concurrency() < 2));
  for (const lv::contention& c : contentions) CHECK(c.slowdown >= 1);
  const auto row = [](const std::string& all) { return all.substr(all.find("levada::whole_cost"), 200); };
  CHECK(row(contents_of(to.path)) == row(text));
}

TEST_CASE("the ways to a device and back are measured, kept, and looked up by the search") {
  using with_device = lv::target<lv::cpu<1>, lv::simulated<0>>;
  const temporary_file to("levada_profile_ways.costs.hpp");
  lv::simulated_device<0>().delay_ns = 2'000'000;
  lv::profile<with_device, both>(pipeline, std::vector<picture>(1), to.path, quick);
  lv::simulated_device<0>().reset();
  const auto known = [&] {
    lv::detail::cost_header header(to.path, lv::detail::machine_text());
    const auto table = header.table();
    return std::pair(lv::transfer_of(table, lv::cpu<1>::id, lv::simulated<0>::id),
                     lv::transfer_of(table, lv::simulated<0>::id, lv::cpu<1>::id));
  };
  const auto [there, back] = known();
  CHECK(there.seconds > 0);
  CHECK(there.seconds_per_byte == 0);
  CHECK(back.seconds > 1e-4);  // the median of a hundred delays up to 2 ms
  lv::profile<with_device, both>(pipeline, std::vector<picture>(1), to.path, quick);
  CHECK(known().second.seconds == back.seconds);
}

TEST_CASE("the ways of items of many sizes give a line that those far off do not move") {
  lv::detail::measured_ways ways;
  for (int i = 1; i < 20; ++i) ways.emplace_back(1000.0 * i, 5e-6 + 1000e-10 * i);
  ways[3].second = 1, ways[11].second = 0.5;
  const lv::crossing line = lv::detail::line_through(ways, lv::assumed_transfer);
  CHECK(line.seconds == doctest::Approx(5e-6).epsilon(1e-8));
  CHECK(line.seconds_per_byte == doctest::Approx(1e-10).epsilon(1e-12));
  const lv::crossing assumed = lv::detail::line_through({{64, 3e-6}, {64, 5e-6}, {64, 4e-6}}, {0, 1e-9});
  CHECK(assumed.seconds == doctest::Approx(4e-6 - 64e-9).epsilon(1e-9));
  CHECK(assumed.seconds_per_byte == 1e-9);
}

TEST_CASE("the median is not moved by a few samples that something else disturbed") {
  std::vector<double> samples(21, 1.0);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] += 0.001 * static_cast<double>(i);
  const lv::cost calm = lv::detail::summary_of(samples);
  CHECK(calm.seconds == doctest::Approx(1.01));
  CHECK(calm.spread == doctest::Approx(0.005));
  samples[3] = 1000, samples[17] = 50;
  const lv::cost disturbed = lv::detail::summary_of(samples);
  CHECK(disturbed.seconds == doctest::Approx(calm.seconds).epsilon(0.005));
  CHECK(disturbed.spread < 0.01);
  CHECK(calm.p95 == doctest::Approx(1.019));
  CHECK(disturbed.p95 == 50);
}

TEST_CASE("a header keeps the upper quantile and the date, and reads headers that have neither") {
  const temporary_file to("levada_profile_quantile.costs.hpp");
  lv::detail::cost_header header(to.path, "a machine");
  header.set("simd", "relu(float[1]) -> float[1]", lv::cost::measured(2e-6, 1e-7, 3e-6));
  header.set("simd", "neg(float[1]) -> float[1]", lv::cost::measured(4e-6, 1e-7));
  header.write();
  const std::string text = contents_of(to.path);
  CHECK(text.find("relu(float[1]) -> float[1]\", 2e-06, 1e-07, 3e-06}") != std::string::npos);
  CHECK(text.find("neg(float[1]) -> float[1]\", 4e-06, 1e-07}") != std::string::npos);
  lv::detail::cost_header again(to.path, "a machine");
  REQUIRE(again.size() == 2);
  CHECK(again.find("simd", "relu(float[1]) -> float[1]")->p95 == 3e-6);
  CHECK(again.find("simd", "neg(float[1]) -> float[1]")->p95 == 0);
  CHECK(again.table().date.size() == std::string_view("2026-11-25").size());

  std::ofstream(to.path) << "    {\"simd\", \"neg(float[1]) -> float[1]\", 4e-06, 1e-07},\n"
                            "inline constexpr levada::cost_table old{.machine = \"a machine\"};\n";
  lv::detail::cost_header old(to.path, "a machine");
  CHECK(old.size() == 1);
  CHECK(old.table().date.empty());
}

TEST_CASE("a whole is compared with the sum of what its units take") {
  static constexpr lv::kernel_cost kernels[] = {{"simd", "relu(float[2x3]) -> float[2x3], 6 FLOP", 2e-6, 0},
                                                {"simd", "flatten(float[2x3]) -> float[6]", 1e-6, 0},
                                                {"callable", "largest(float[6]) -> 4 bytes", 4e-6, 0}};
  static constexpr lv::roofline lines[] = {{"simd", 24e6, 1e12, 0}};
  static constexpr lv::cost_table table{.machine = "a made-up one", .kernels = kernels, .rooflines = lines};
  const auto app = lv::deploy<box, lv::backends<lv::simd>>(pipeline);
  const lv::additive_check check = lv::check_sum(app, table, std::vector<picture>(3), 0);
  CHECK(check.sum == doctest::Approx(8e-6));
  CHECK(check.estimated == 1);
  CHECK(check.unknown == 0);
  CHECK(check.whole.seconds > 0);
  CHECK(check.error() == doctest::Approx(check.whole.seconds / 8e-6 - 1));
}

}  // namespace interop_profile
