// SPDX-License-Identifier: Apache-2.0
// Runs of ops whose nodes are written apart in a graph: a kernel takes them as one, and what else is in the graph keeps
// its order.

#include <doctest/doctest.h>

#include <string_view>

#include <levada/backend/prepared.hpp>
#include <levada/backend/reference/detail/activation.hpp>
#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/interop/report.hpp>
#include <levada/nn/activation.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

namespace run_node_order {

namespace lv = levada;
using lv::nn::relu, lv::nn::softmax;

using vector = lv::tensor<float, 6>;
using box = lv::target<lv::cpu<2>>;

/// Takes relus, any number in a row, as one.
struct rows {
  static constexpr std::string_view name = "rows";
  static constexpr lv::device_kind device = lv::device_kind::cpu;
  static constexpr std::size_t longest_run = 8;
  static constexpr bool takes(lv::op_run run) {
    for (const lv::op_info& op : run)
      if (op.kind != "relu") return false;
    return true;
  }
  static std::size_t prepare(lv::op_run run, lv::parameter_values) { return run.front().gives.extents.elements(); }
  static void run(const std::size_t& elements, const void* const* inputs, void* output, std::byte*) {
    for (std::size_t i = 0; i < elements; ++i) {
      const float v = static_cast<const float*>(inputs[0])[i];
      static_cast<float*>(output)[i] = v < 0 ? 0 : v;
    }
  }
  template <class In, class... Ops>
  using kernel = lv::prepared_kernel<rows, In, Ops...>;
};

constexpr auto sum = lv::join<"sum">([](const vector& a, const vector& b) { return a[0] + 10 * b[1]; });
template <lv::fixed_string Name>
constexpr auto named_relu = lv::named<Name>(relu);

/// The names of the nodes in the order of the plan.
template <class App>
constexpr bool stands(std::initializer_list<std::string_view> names) {
  const auto& nodes = App::plan.graph.nodes;
  if (nodes.size() != names.size()) return false;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].name != names.begin()[i]) return false;
  return true;
}

TEST_CASE("a callable is a node: a stage, or of several others a join") {
  const auto app = lv::deploy<box>(lv::graph(
      lv::port<"x", int>, lv::node<"twice", "x">([](const int& v) { return 2 * v; }),
      lv::node<"all", "twice", "x">([](const int& a, const int& b) { return a + b; }), lv::output<"all", "all">));
  CHECK(app(5) == 15);
}

TEST_CASE("two lines of ops whose nodes are written by turns are a kernel each") {
  const auto app = lv::deploy<box, lv::backends<rows, lv::reference>>(
      lv::graph(lv::port<"x", vector>, lv::node<"a", "x">(named_relu<"a">), lv::node<"b", "x">(named_relu<"b">),
                lv::node<"c", "a">(named_relu<"c">), lv::node<"d", "b">(named_relu<"d"> | named_relu<"e">),
                lv::node<"f", "c">(named_relu<"f">), lv::node<"sum", "f", "d">(sum), lv::output<"y", "sum">));
  using plan_of = decltype(app);
  static_assert(stands<plan_of>({"a", "c", "f", "b", "d", "e", "sum"}));
  static_assert(plan_of::plan.unit.size() == 3 && plan_of::plan.unit[0].count == 3 && plan_of::plan.unit[1].count == 3);
  vector in;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) + 1;
  CHECK(app(in) == 1 + 10 * 2);
}

TEST_CASE("nodes stay where they are written if others take what they would follow, or if they are more than ops") {
  const auto plain = [] { return lv::stage<"plain">([](const vector& v) { return v; }); };
  // "a" is taken twice; "d" follows a callable; "e" is one; "g" takes two.
  const auto app = lv::deploy<box, lv::backends<rows, lv::reference>>(
      lv::graph(lv::port<"x", vector>, lv::node<"a", "x">(named_relu<"a">), lv::node<"b", "x">(plain()),
                lv::node<"c", "a">(named_relu<"c">), lv::node<"d", "b">(named_relu<"d">), lv::node<"e", "a">(plain()),
                lv::node<"f", "c">(plain()), lv::node<"g", "d", "e">(sum),
                lv::node<"h", "g", "f">(lv::join<"last">([](float g, const vector& f) { return g + f[2]; })),
                lv::output<"y", "h">));
  static_assert(stands<decltype(app)>({"a", "plain", "c", "d", "plain", "plain", "sum", "last"}));
  vector in;
  in.fill(2);
  CHECK(app(in) == 2 + 20 + 2);
}

TEST_CASE("states and side data around moved ops are as they were written") {
  struct note {
    float first;
  };
  // "tell" attaches what "ask" reads; the relu behind "a" is moved ahead of both.
  const auto app = lv::deploy<box, lv::backends<rows, lv::reference>>(lv::graph(
      lv::port<"x", vector>, lv::node<"a", "x">(named_relu<"a">),
      lv::node<"tell", "x">(lv::stage<"tell">([seen = 0.0f](const vector& v, note& n) mutable {
        n.first = v[0] + ++seen;
        return v;
      })),
      lv::node<"b", "a">(named_relu<"b">), lv::node<"ask", "tell">(lv::stage<"ask">([](const vector& v, const note& n) {
        vector out = v;
        out[1] = n.first;
        return out;
      })),
      lv::node<"sum", "b", "ask">(sum), lv::output<"y", "sum">));
  static_assert(stands<decltype(app)>({"a", "b", "tell", "ask", "sum"}));
  vector in;
  in.fill(3);
  CHECK(app(in) == 3 + 10 * 4);
  CHECK(app(in) == 3 + 10 * 5);
}

}  // namespace run_node_order
