// SPDX-License-Identifier: Apache-2.0
// Whole plans against each other. What a plan takes is made up here, and disturbed.

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include <levada/interop/profile/second_pass.hpp>

#include "../plan/small_graph.hpp"

namespace interop_second_pass {

namespace lv = levada;

constexpr std::size_t ops = 6;
constexpr auto graph = [] {
  auto made = lv::test::graph_of<8>({{"k0"}, {"k1", {0}}, {"k2", {1}}, {"k3", {2}}, {"k4", {3}}, {"k5", {4}}});
  made.values[0].type = lv::element::f32;
  return made;
}();
constexpr lv::backend_info backends[] = {{"a"}, {"b"}};
constexpr lv::device_info devices[] = {{lv::cpu<1>::id}};

/// Each backend takes each op alone, and a takes the last two as one.
const std::vector<lv::candidate> candidates = [] {
  std::vector<lv::candidate> all;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t n = 0; n < ops; ++n) all.push_back({n, 1, b});
  all.push_back({4, 2, 0});
  return all;
}();

/// What a kernel of one op takes alone: b is the faster for k2 and k3.
double seconds_of(bool b, std::size_t n) { return !b ? 100e-6 : n == 0 ? 105e-6 : n == 2 || n == 3 ? 50e-6 : 150e-6; }

/// The same as a table.
struct alone {
  std::vector<std::string> signatures;
  std::vector<lv::kernel_cost> rows;
  lv::cost_table table;

  alone() {
    for (std::size_t n = 0; n < ops; ++n) signatures.push_back("k" + std::to_string(n) + "(float[]) -> float[]");
    signatures.push_back(signatures[4] + " + " + signatures[5]);
    for (std::size_t n = 0; n < ops; ++n)
      for (const bool b : {false, true}) rows.push_back({b ? "b" : "a", signatures[n], seconds_of(b, n), 1e-6});
    rows.push_back({"a", signatures[6], 190e-6, 1e-6});
    table = {.machine = "a made-up one", .kernels = rows};
  }
};

std::string outline(const lv::partition<8>& parts) {
  std::string text;
  for (const lv::partition_unit& u : parts)
    for (std::size_t i = 0; i < u.count; ++i) text += static_cast<char>((i != 0 ? 'a' : 'A') + u.backend);
  return text;
}

/// A second pass whose plans take what `seconds(parts)` says, and up to a part `noise` more.
template <class Seconds>
std::string kept_of(Seconds seconds, double noise, unsigned seed, lv::whole_result& result) {
  static const alone costs;
  std::minstd_rand random(seed);
  const auto make = [&](const lv::partition<8>& parts) -> lv::detail::timed_plan {
    return [&random, noise, is = seconds(parts)] {
      return is * (1 + noise * std::uniform_real_distribution<double>(0, 1)(random));
    };
  };
  return outline(lv::detail::second_pass<8>(graph, devices, candidates, backends, costs.table, make, 1e9).run(result));
}

double sum_of(const lv::partition<8>& parts) {
  double sum = 0;
  for (const lv::partition_unit& u : parts) sum += u.count == 2 ? 190e-6 : seconds_of(u.backend == 1, u.first);
  return sum;
}
std::size_t changes_in(const lv::partition<8>& parts) {
  std::size_t changes = 0;
  for (std::size_t u = 1; u < parts.size(); ++u) changes += parts[u].backend != parts[u - 1].backend;
  return changes;
}

TEST_CASE("where the sum is right the plan by costs is kept") {
  for (unsigned seed = 1; seed < 6; ++seed) {
    lv::whole_result result;
    CHECK(kept_of(&sum_of, 0.01, seed, result) == "AABBAa");
    CHECK(result.additive_error() > 0);
    CHECK(result.additive_error() < 0.01);
  }
}

TEST_CASE("what gains alone and loses in the whole is not kept") {
  for (unsigned seed = 1; seed < 6; ++seed) {
    lv::whole_result result;
    const auto seconds = [](const lv::partition<8>& parts) {
      return sum_of(parts) + 60e-6 * static_cast<double>(changes_in(parts));
    };
    CHECK(kept_of(seconds, 0.01, seed, result) == "AAAAAa");  // 590 us against 610 of the mix
    REQUIRE(result.plans.size() == 3);
    CHECK(result.plans[0].name == "a first");
    CHECK(result.plans[2].name == "by costs");
    CHECK(result.plans[0].of_kept == 1);
    CHECK(result.plans[2].of_kept == doctest::Approx(610. / 590).epsilon(0.01));
  }
}

TEST_CASE("what cannot be told apart goes to the backend named first") {
  for (unsigned seed = 1; seed < 6; ++seed) {
    lv::whole_result result;
    const auto seconds = [](const lv::partition<8>&) { return 600e-6; };
    CHECK(kept_of(seconds, 0.02, seed, result) == "AAAAAa");
    CHECK(result.better == 0);
  }
}

TEST_CASE("a neighbour that is faster as a whole is found, though its kernels alone do not say so") {
  for (unsigned seed = 1; seed < 6; ++seed) {
    lv::whole_result result;
    const auto seconds = [](const lv::partition<8>& parts) {
      double all = sum_of(parts);
      for (const lv::partition_unit& u : parts) all -= u.first == 0 && u.backend == 1 ? 40e-6 : 0;
      return all;
    };
    CHECK(kept_of(seconds, 0.01, seed, result) == "BABBAa");
    CHECK(result.better == 1);
  }
}

}  // namespace interop_second_pass
