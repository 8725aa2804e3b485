// SPDX-License-Identifier: Apache-2.0
// What people do with TVM's Pipeline Executor, here: modules with named inputs and outputs, wired by name; where each
// runs; the configuration printed and saved; inputs pushed by name; parameters replaced while items are on their way;
// outputs and counts. What is wired wrongly does not compile.
//
//   m0: o2 = d0 - 2, o3 = d0 + 3      m1: n = o3 + d1 + more      m2: y = 3 n + o2, which passes by m1

#include <cstdio>
#include <string>
#include <thread>

#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;
namespace nn = lv::nn;

namespace {

using matrix = lv::tensor<float, 3, 3>;

/// y of the module graph, by hand.
float expected(float d0, float d1, float more) { return 3 * (d0 + 3 + d1 + more) + d0 - 2; }

matrix filled(float v) {
  matrix m;
  m.fill(v);
  return m;
}

// ---- the modules: each is a graph of its own, and a stage of a larger one ----

auto first() {
  return lv::graph(lv::port<"d0", matrix>,
                   lv::node<"o2", "d0">(lv::transform<"less 2">([](auto v) { return v - 2.0f; })),
                   lv::node<"o3", "d0">(lv::transform<"plus 3">([](auto v) { return v + 3.0f; })),
                   lv::output<"o2", "o2">, lv::output<"o3", "o3">);
}

auto second() {
  // Its parameters are a group, to be replaced while the pipeline runs.
  const auto plus = lv::adjustable<"more">(
      +[](const matrix& in, const float& more) {
        matrix out = in;
        for (float& v : out) v += more;
        return out;
      },
      0.0f);
  return lv::graph(lv::port<"o3", matrix>, lv::port<"d1", matrix>, lv::node<"sum", "o3", "d1">(nn::add),
                   lv::node<"n", "sum">(lv::params<"m1">(lv::stage<"plus more">(plus))), lv::output<"n", "n">);
}

auto third() {
  return lv::graph(lv::port<"n", matrix>, lv::port<"o2", matrix>,
                   lv::node<"3 n", "n">(lv::transform<"times 3">([](auto v) { return v * 3.0f; })),
                   lv::node<"y", "3 n", "o2">(nn::add), lv::output<"y", "y">);
}

/// The wiring. A border behind a module makes a segment of it, which may have a device of its own:
/// `on<vulkan<0>>(second())`.
auto wired() {
  return lv::graph(lv::port<"d0", matrix>, lv::port<"d1", matrix>, lv::node<"m0", "d0">(first() | lv::split_here),
                   lv::node<"m1", "m0.o3", "d1">(second() | lv::split_here), lv::node<"m2", "m1", "m0.o2">(third()),
                   lv::output<"y", "m2">);
}

}  // namespace

int main() {
  using box = lv::target<lv::cpu<2>>;
  const auto app = lv::deploy<box>(wired());
  static_assert(decltype(app)::plan.segments == 3);

  std::printf("The configuration:\n%s\n", lv::report(app).c_str());
  std::printf("As one line, from which deploy<box, pinned<\"...\">> gives the same partition:\n%s\n\n",
              lv::save(app).c_str());

  // Pushing waits only while all slots are taken; an item of each port make one of the pipeline, wherever they come
  // from.
  constexpr int items = 8;
  auto session = app.open();
  std::thread second_input([&] {
    for (int i = 0; i < items; ++i) session.push<"d1">(filled(0.5f * static_cast<float>(i)));
  });
  // Parameters replaced in between: every item sees one version at all of its stages.
  for (int i = 0; i < items; ++i) {
    if (i == items / 2) second_input.join();
    if (i == items / 2) app.params<"m1">().set<"more">(100.0f);
    session.push<"d0">(filled(static_cast<float>(i)));
  }
  session.close();

  int wrong = 0, popped = 0;
  while (auto y = session.pop()) {
    if (!*y) {  // an item that failed comes as the exception of its stage, in its place
      std::printf("item %d failed\n", popped);
      ++wrong;
    } else {
      const auto i = static_cast<float>(popped);
      const float value = (**y)[0];
      const bool fits = value == expected(i, 0.5f * i, 0) || value == expected(i, 0.5f * i, 100);
      std::printf("y[%d] = %g%s\n", popped, static_cast<double>(value), fits ? "" : ", which is wrong");
      wrong += fits ? 0 : 1;
    }
    ++popped;
  }
  const lv::item_counts counts = session.counts();
  std::printf("pushed %llu, delivered %llu, in flight %llu\n", static_cast<unsigned long long>(counts.pushed),
              static_cast<unsigned long long>(counts.delivered), static_cast<unsigned long long>(counts.in_flight));

  // The same, one item on this thread: what a debugger likes.
  decltype(app)::item one;
  one.get<"d0">() = filled(1);
  one.get<"d1">() = filled(2);
  const matrix y = app(one);
  std::printf("one at a time: %g\n", static_cast<double>(y[0]));
  return wrong == 0 && popped == items && y[0] == expected(1, 2, 100) ? 0 : 1;
}
