// SPDX-License-Identifier: Apache-2.0
// The three-module pipeline of TVM's pipeline executor test, all (3, 3) of float: o2 = d0 - 2, c = concat(d0 + 1, o2),
// o3 = split(c, 2)[0] + 2; n = (o3 + 2) + d1 + 3; n * 3 + o2. So y = 4 * d0 + 3 * d1 + 22, and o2 crosses the second
// module.

#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/ops.hpp>
#include <levada/run/simulated.hpp>

namespace run_three_modules {

namespace lv = levada;
namespace nn = lv::nn;

using matrix = lv::tensor<float, 3, 3>;

template <class Second>
auto model() {
  auto m0 = lv::graph(
      lv::port<"d0", matrix>, lv::node<"sub", "d0">(lv::transform<"sub">([](auto v) { return v - 2.0f; })),
      lv::node<"add0", "d0">(lv::transform<"add0">([](auto v) { return v + 1.0f; })),
      lv::node<"c", "add0", "sub">(nn::concat<0>),
      lv::node<"o3", "c">(nn::slice<lv::along<0, 0, 3>> | lv::transform<"add1">([](auto v) { return v + 2.0f; })),
      lv::output<"o2", "sub">, lv::output<"o3", "o3">);
  auto m1 = lv::graph(lv::port<"o3", matrix>, lv::port<"d1", matrix>,
                      lv::node<"add2", "o3">(lv::transform<"add2">([](auto v) { return v + 2.0f; })),
                      lv::node<"add3", "add2", "d1">(nn::add),
                      lv::node<"n", "add3">(lv::params<"m1">(lv::stage<"add4">(lv::adjustable<"more">(
                          +[](const matrix& m, const float& more) {
                            matrix n = m;
                            for (float& v : n) v += more;
                            return n;
                          },
                          3.0f)))),
                      lv::output<"n", "n">);
  auto m2 = lv::graph(lv::port<"n", matrix>, lv::port<"o2", matrix>,
                      lv::node<"mul", "n">(lv::transform<"mul">([](auto v) { return v * 3.0f; })),
                      lv::node<"y", "mul", "o2">(nn::add), lv::output<"y", "y">);
  return lv::graph(lv::port<"d0", matrix>, lv::port<"d1", matrix>, lv::node<"m0", "d0">(m0 | lv::split_here),
                   lv::node<"m1", "m0.o3", "d1">(lv::on<Second>(m1) | lv::split_here),
                   lv::node<"m2", "m1", "m0.o2">(m2), lv::output<"y", "m2">);
}

TEST_CASE_TEMPLATE("split as stated and fed five items, it gives 4 * d0 + 3 * d1 + 22", Second, lv::cpu<2>,
                   lv::simulated<0>) {
  const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>>(model<Second>());
  static_assert(decltype(app)::plan.segments == 3);
  static_assert(decltype(app)::plan.graph.nodes[4].name == "add1");
  using item = typename decltype(app)::item;
  const auto number = [](std::size_t i, std::size_t k) { return static_cast<float>(i * 10 + k); };
  std::vector<item> items(5);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t k = 0; k < 9; ++k) {
      items[i].template get<"d0">().data()[k] = number(i, k);
      items[i].template get<"d1">().data()[k] = -number(k, i);
    }
  const auto check = [&](std::size_t i, const matrix& y, float more) {
    for (std::size_t k = 0; k < 9; ++k) CHECK(y.data()[k] == 4 * number(i, k) - 3 * number(k, i) + 13 + 3 * more);
  };
  std::size_t i = 0;
  for (auto&& r : app.stream(items)) check(i++, *r, 3);
  CHECK(i == 5);

  // Parameters replaced between items: those that are on their way keep theirs.
  auto session = app.open();
  for (i = 0; i < 5; ++i) {
    session.push(items[i]);
    app.template params<"m1">().template set<"more">(static_cast<float>(i));
  }
  check(0, **session.pop(), 3);
  for (i = 1; i < 5; ++i) check(i, **session.pop(), static_cast<float>(i - 1));
}

}  // namespace run_three_modules
