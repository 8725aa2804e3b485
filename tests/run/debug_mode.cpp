// SPDX-License-Identifier: Apache-2.0
// A program in the debug mode of libstdc++, whose containers are other ones, of which g++ 12 evaluates none while it
// compiles: plans are made and run there, too.

#define _GLIBCXX_DEBUG
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <levada/interop/html_report.hpp>
#include <levada/levada.hpp>
#include <levada/plan/detail/annotation.hpp>
#include <levada/plan/detail/combine.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/pinned.hpp>

namespace lv = levada;

namespace {

using box = lv::target<lv::cpu<2>>;
using vector = lv::tensor<float, 6>;

constexpr lv::kernel_cost kernels[] = {
    {"simd", "relu(float[6]) -> float[6], 6 FLOP", 2e-6},
    {"simd", "softmax(float[6]) -> float[6], 24 FLOP", 1e-6},
};
constexpr lv::cost_table table{.machine = "a made-up one", .kernels = kernels};
constexpr auto pipeline =
    lv::input<vector> | lv::nn::relu | lv::nn::softmax | lv::stage<"first">([](const vector& v) { return v[0]; });

}  // namespace

TEST_CASE("a plan by costs is made, run and saved in debug mode") {
  const auto fast = lv::deploy<box, lv::costs<table>>(pipeline);
  const auto busy = lv::deploy<box, lv::costs<table, lv::objective::throughput>>(pipeline);
  using app = decltype(fast);
  const auto again = lv::deploy<box, lv::pinned<lv::saved<app::plan>()>>(pipeline);
  const std::vector<vector> items(100, vector{});
  int count = 0;
  for (auto&& r : fast.stream(items)) count += *r == doctest::Approx(1.0 / 6);
  CHECK(count == 100);
  CHECK(busy(items[0]) == again(items[0]));
  CHECK(lv::html_report(fast).find("softmax") != std::string::npos);
}

TEST_CASE("rules find and merge regions while compiling in debug mode") {
  static constexpr auto graph = lv::describe<std::remove_const_t<decltype(pipeline)>>();
  static_assert(lv::regions_of(lv::combine(lv::single(lv::named_kind{"relu"}), {6, 1, true}, lv::unconditionally),
                               lv::rule_graph(graph))
                    .size() == 1);
  CHECK(graph.nodes.size() == 3);
}
