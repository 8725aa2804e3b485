// SPDX-License-Identifier: Apache-2.0
// The search when the program runs: it finds what the compiler finds, and the compiler builds it from the file.

#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <levada/backend/reference/detail/activation.hpp>
#include <levada/backend/simd/detail/activation.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/interop/plan_file.hpp>
#include <levada/interop/report.hpp>
#include <levada/interop/tune.hpp>
#include <levada/nn/activation.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/simulated.hpp>

#include <files.hpp>
#include "tuned.plan.hpp"

namespace interop_tune {

namespace lv = levada;
using namespace levada::test;
using namespace lv::literals;

using vector = lv::tensor<float, 6>;
using box = lv::target<lv::cpu<2>, lv::simulated<0>>;
using both = lv::backends<lv::simd, lv::reference>;

constexpr lv::kernel_cost kernels[] = {
    {"simd", "relu(float[6]) -> float[6], 6 FLOP", 2e-6},
    {"simd", "softmax(float[6]) -> float[6], 24 FLOP", 1e-6},
    {"reference", "relu(float[6]) -> float[6], 6 FLOP", 1e-6},
    {"reference", "softmax(float[6]) -> float[6], 24 FLOP", 2e-6},
};
constexpr lv::cost_table table{.machine = "a made-up one", .kernels = kernels};
constexpr auto pipeline = lv::input<vector> | lv::nn::relu | lv::nn::softmax | lv::nn::relu;

TEST_CASE("what is searched when the program runs is what the compiler finds, and is built from the file") {
  const temporary_folder in;
  const auto found = lv::tune<box, both>(pipeline, table, in.file("tuned.plan.hpp"));
  const auto by_compiler = lv::deploy<box, both, lv::costs<table>>(pipeline);
  CHECK(found.line == lv::save(by_compiler));
  CHECK(found.exact);
  CHECK(found.gap == 0);
  CHECK_FALSE(found.measured);
  CHECK(found.stages == 3);
  CHECK(found.seconds == doctest::Approx(3e-6));
  // tuned.plan.hpp beside this file is such a header: all but who made it.
  const auto from_pragma = [](const std::string& text) { return text.substr(text.find("#pragma once")); };
  CHECK(from_pragma(contents_of(in.file("tuned.plan.hpp"))) ==
        from_pragma(contents_of(LEVADA_SOURCE_DIR "/tests/interop/tuned.plan.hpp")));
  const auto app = lv::deploy<box, both, lv::pinned<tuned_plan>>(pipeline);
  CHECK(lv::save(app) == found.line);
  lv::tune<box, both>(pipeline, table, in.file("tuned.plan.json"));
  CHECK(lv::check_plan(app, in.file("tuned.plan.json")).empty());
}

TEST_CASE("for throughput the devices share the work, and bounds of memory hold") {
  const temporary_folder in;
  static constexpr lv::transfer_cost ways[] = {{lv::cpu<1>::id, lv::simulated<0>::id},
                                               {lv::simulated<0>::id, lv::cpu<1>::id}};
  static constexpr lv::cost_table near{.machine = "a made-up one", .kernels = kernels, .transfers = ways};
  using one = lv::target<lv::cpu<1>, lv::simulated<0>>;
  const auto latency = lv::tune<one, both>(pipeline, near, in.file("a.plan.hpp"));
  const auto throughput = lv::tune<one, both>(pipeline, near, in.file("b.plan.hpp"), lv::objective::throughput);
  CHECK(latency.seconds == doctest::Approx(3e-6));
  CHECK(throughput.seconds == doctest::Approx(2e-6));
  CHECK(throughput.line.find("simulated<0>") != std::string::npos);
  using small = lv::target<lv::cpu<1>, lv::simulated<0, lv::memory<1_KiB>>>;
  const auto without = lv::tune<small, both>(pipeline, near, in.file("c.plan.hpp"), lv::objective::throughput);
  CHECK(without.seconds == doctest::Approx(3e-6));
  CHECK(without.line.find("simulated<0>") == std::string::npos);
}

TEST_CASE("a plan that was measured as a whole is not searched for, and costs of another machine are none") {
  const temporary_folder in;
  const std::string line = "levada plan 1: 256 slots | cpu: simd(\"relu\") simd(\"softmax\") simd(\"relu\")";
  const auto graph = lv::describe<std::remove_const_t<decltype(pipeline)>>();
  const lv::device_info devices[] = {{lv::cpu<2>::id, 2}, {lv::simulated<0>::id}};
  const lv::backend_info backends[] = {{"simd"}, {"reference"}};
  const lv::whole_cost wholes[] = {{lv::question_of(graph, devices, backends), line, 2e-6, 0}};
  lv::cost_table whole = table;
  whole.wholes = wholes;
  const auto found = lv::tune<box, both>(pipeline, whole, in.file("x.plan.hpp"));
  CHECK(found.measured);
  CHECK(found.line == line);
  CHECK(found.seconds == 2e-6);

  CHECK_THROWS_WITH_AS((lv::tune<box, both>(pipeline, in.file("none.costs.hpp"), in.file("x.plan.hpp"))),
                       doctest::Contains("has no costs of this machine"), lv::error);
  CHECK_THROWS_WITH_AS((lv::tune<box, both>(pipeline, table, in.file("no/such/x.plan.hpp"))),
                       doctest::Contains("cannot write"), lv::error);
}

}  // namespace interop_tune
