// SPDX-License-Identifier: Apache-2.0
// Parameters in branches, tees and nodes that change their rate are replaced while items go through.

#include <array>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace run_rated_params {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

template <lv::fixed_string Name>
auto times(int by) {
  return lv::stage<Name>(lv::adjustable<"by">([](const int& v, const int& factor) { return v * factor; }, by));
}
const auto sum_of = lv::join<"sum">([](const int& a, const int& b) { return a + b; });

/// Items 1, 2, ... so many, and what comes of them.
std::vector<int> results_of(auto& session, int count) {
  std::vector<int> results;
  for (int i = 1; i <= count; ++i) session.push(i);
  session.drain();
  while (const auto r = session.try_pop()) results.push_back(**r);
  return results;
}

TEST_CASE("parameters in the branches of a fork that changes its rate are replaced for the items behind") {
  const auto app = lv::deploy<box>(
      lv::input<int> |
      lv::fork(lv::params<"before">(times<"a">(1)) | lv::downsample<2> | lv::params<"behind">(times<"b">(10)),
               lv::repeat<2> | lv::fork(lv::downsample<4> | lv::params<"deep">(times<"c">(100)), lv::downsample<4>) |
                   lv::join<"inner">([](const int& a, const int& b) { return a + 0 * b; })) |
      sum_of | lv::params<"last">(times<"d">(1)));
  auto session = app.open();
  auto other = app.open();
  CHECK(results_of(session, 4) == std::vector<int>{10 + 100, 30 + 300});
  app.params<"before">().set<"by">(2);
  CHECK(results_of(session, 4) == std::vector<int>{20 + 100, 60 + 300});
  app.params<"behind">().set<"by">(1'000);
  app.params<"deep">().set<"by">(1);
  CHECK(results_of(session, 4) == std::vector<int>{2'000 + 1, 6'000 + 3});
  CHECK(results_of(other, 2) == std::vector<int>{2'000 + 1});
  app.params<"last">().set<"by">(-1);
  CHECK(results_of(session, 2) == std::vector<int>{-2'001});
  auto late = app.open();
  CHECK(results_of(late, 2) == std::vector<int>{-2'001});
  int deep = 0, before = 0;
  app.params<"deep">().get<"by">(deep);
  app.params<"before">().get<"by">(before);
  CHECK(deep == 1);
  CHECK(before == 2);
}

TEST_CASE("parameters in a tee and in the nodes of a graph that change their rate") {
  std::vector<int> seen;
  const auto with_tee = lv::deploy<box>(lv::input<int> | lv::tee(lv::params<"gain">(times<"a">(1)) | lv::batch<2> |
                                                                 lv::sink<"keep">([&seen](const std::array<int, 2>& b) {
                                                                   seen.insert(seen.end(), b.begin(), b.end());
                                                                 })));
  {
    auto session = with_tee.open();
    CHECK(results_of(session, 2) == std::vector<int>{1, 2});
    with_tee.params<"gain">().set<"by">(7);
    CHECK(results_of(session, 2) == std::vector<int>{1, 2});
  }
  CHECK(seen == std::vector<int>{1, 2, 7, 14});

  const auto with_graph = lv::deploy<box>(lv::graph(
      lv::port<"x", int>, lv::node<"half", "x">(lv::downsample<2>),
      lv::node<"scaled", "half">(lv::params<"gain">(times<"a">(3))),
      lv::node<"both", "half", "scaled">(sum_of | lv::params<"sum">(times<"b">(1))), lv::output<"y", "both">));
  auto session = with_graph.open();
  CHECK(results_of(session, 4) == std::vector<int>{1 + 3, 3 + 9});
  with_graph.params<"gain">().set<"by">(0);
  with_graph.params<"sum">().set<"by">(5);
  CHECK(results_of(session, 4) == std::vector<int>{5, 15});
}

TEST_CASE("a weight in a branch that changes its rate is replaced, while items go through, for whole items") {
  using vec = lv::tensor<float, 2>;
  lv::parameter_map weights;
  vec ones;
  ones.fill(1);
  lv::tensor<float, 2, 2> matrix;
  matrix.fill(0);
  matrix(0, 0) = matrix(1, 1) = 1;
  weights.set("fc.weight", matrix);
  weights.set("fc.bias", ones);
  const auto app = lv::deploy<box>(
      lv::input<vec> |
      lv::fork(lv::params<"head">(lv::nn::dense<"fc", 2>(weights)) | lv::downsample<2>, lv::downsample<2>) |
      lv::join<"difference">([](const vec& a, const vec& b) {
        vec d = a;
        for (std::size_t i = 0; i < d.size(); ++i) d[i] -= b[i];
        return d;
      }));
  auto session = app.open();
  vec item;
  item.fill(3);
  int wrong = 0, before = 0;
  for (int i = 0; i < 200; ++i) {
    vec bias;
    bias.fill(static_cast<float>(i));
    app.params<"head">().set<"bias">(bias);
    session.push(item);
    session.push(item);
    const auto r = session.pop();
    const int is = static_cast<int>((**r)[0]);
    wrong += (**r)[0] != (**r)[1] || is != i || is < before;
    before = is;
  }
  CHECK(wrong == 0);
}

}  // namespace run_rated_params
