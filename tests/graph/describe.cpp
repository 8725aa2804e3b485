// SPDX-License-Identifier: Apache-2.0
// What describe() says of a pipeline: nodes and values in order, shapes, bytes, work, splits and pins, however it is
// nested.

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <levada/graph/detail/fork.hpp>
#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/join.hpp>

#include "ops.hpp"

namespace lv = levada;
using lv::form, lv::input, lv::stage, lv::sink, lv::source, lv::split_after, lv::split_here, lv::on;
using lv::test::same_stage, lv::test::dense_stage;

namespace {

using vector = lv::tensor<float, 8>;
template <class P>
consteval auto describe(const P&) {
  return lv::describe<P>();
}
constexpr auto sum = stage<"sum">([](const lv::tensor<float, 10>& t) { return t[0]; });
constexpr auto plus = [](int v) { return v + 1; };

// ---- a line with one of each ----
constexpr auto all = [] {
  return input<vector> | same_stage<"same"> | dense_stage<"fc", 10> | sum |
         stage<"keep">([](float v) -> std::optional<std::string> { return std::to_string(v); }) |
         stage<"append">([](std::string& s) { s += "!"; }) |
         stage<"count">([n = std::size_t{0}](std::string&& s) mutable { return n += s.size(); }) |
         stage<"spread", lv::tensor<double, 2, 3>>(
             [](std::size_t n, lv::tensor<double, 2, 3>& t) { t.fill(double(n)); }) |
         sink<"print">([](const auto&) {});
};
constexpr auto g = lv::describe<decltype(all())>();

static_assert(g.nodes.size() == 8 && g.values.size() == 8 && g.ends_in_sink && g.source.empty());
static_assert(g.nodes[0].name == "same" && g.nodes[0].kind == "same" && g.nodes[0].how == form::op);
static_assert(g.nodes[0].flops == 16 && g.nodes[0].parameter_bytes == 0 &&
              g.nodes[0].order == lv::concurrency::parallel);
static_assert(g.nodes[1].name == "fc" && g.nodes[1].kind == "dense" && g.nodes[1].flops == 160);
static_assert(g.nodes[1].parameter_bytes == 10 * 8 * 4 + 10 * 2, "float weights, half biases");
static_assert(g.nodes[2].name == "sum" && g.nodes[2].kind == "callable" && g.nodes[2].how == form::map);
static_assert(g.nodes[3].how == form::filter && lv::filters(g.nodes[3]) && !lv::consumes(g.nodes[3]));
static_assert(g.nodes[4].how == form::in_place && lv::consumes(g.nodes[4]));
static_assert(g.nodes[5].how == form::consume && g.nodes[5].order == lv::concurrency::serial);
static_assert(g.nodes[6].how == form::destination && g.nodes[7].how == form::sink);

static_assert(g.values[0].bytes == 64 && g.values[0].alignment == 64 && g.values[0].type == lv::element::f32);
static_assert(g.values[0].extents == lv::shape(8) && g.values[0].producer == lv::value_info::nobody &&
              g.values[0].trivial);
static_assert(g.values[2].extents == lv::shape(10) && g.values[2].producer == 1);
static_assert(g.values[4].type == lv::element::other && g.values[4].bytes == sizeof(std::string) &&
              !g.values[4].trivial);
static_assert(g.values[7].extents == lv::shape(2, 3) && g.values[7].type == lv::element::f64);
static_assert(g.nodes[7].in == 7 && g.nodes[7].out == 7, "a sink gives nothing");
static_assert([] {
  for (std::size_t i = 0; i + 1 < g.nodes.size(); ++i)
    if (g.nodes[i].in != i || g.nodes[i].out != i + 1) return false;
  return true;
}());

// ---- branches ----
constexpr auto forked =
    describe(input<int> | stage<"a">(plus) |
             lv::fork(stage<"b">([](int v) { return v * 2.0; }) | stage<"c">([](double v) { return v; }), lv::identity,
                      lv::fork(stage<"d">(plus), lv::identity) | lv::join<"in">([](int x, int y) { return x + y; })) |
             lv::join<"out">([](double x, int y, int z) { return static_cast<float>(x + y + z); }) |
             lv::tee(sink<"log">([](const float&) {})) | stage<"z">([](float f) { return f; }));
constexpr bool takes(const lv::node_info& node, std::initializer_list<std::size_t> values) {
  std::size_t n = 0;
  bool equal = true;
  for_each_input(node, [&](std::size_t v) { equal = equal && n < values.size() && values.begin()[n++] == v; });
  return equal && n == values.size();
}
static_assert(forked.nodes.size() == 8 && forked.values.size() == 8 && forked.result == 7 && !forked.ends_in_sink);
static_assert(takes(forked.nodes[0], {0}) && takes(forked.nodes[1], {1}) && takes(forked.nodes[2], {2}));
static_assert(takes(forked.nodes[3], {1}) && takes(forked.nodes[4], {4, 1}),
              "the inner fork begins where the outer does");
static_assert(forked.nodes[5].name == "out" && takes(forked.nodes[5], {3, 1, 5}) && forked.nodes[5].out == 6);
static_assert(takes(forked.nodes[6], {6}) && forked.nodes[6].out == 6 && takes(forked.nodes[7], {6}), "past a tee");
static_assert(forked.values[2].bytes == 8 && forked.values[6].bytes == 4);

// ---- a graph by names ----
constexpr auto named = describe(
    input<int> | stage<"first">(plus) |
    lv::graph(
        lv::port<"x", int>, lv::node<"a", "x">(stage<"a1">(plus) | stage<"a2">(plus)),
        lv::node<"b", "x">(
            lv::graph(lv::port<"x", int>, lv::node<"a", "x">(stage<"inner">(plus)), lv::output<"b", "a">)),
        lv::node<"c", "a", "x", "b">(lv::join<"c">([](int x, int y, int z) { return x + y + z; }) | stage<"c2">(plus)),
        lv::node<"log", "b">(sink<"log">([](const int&) {})),
        lv::node<"d", "c", "a">(lv::join<"d">([](int x, int y) { return x * y; })), lv::output<"y", "d">) |
    stage<"last">(plus));
static_assert(named.nodes.size() == 9 && named.values.size() == 9 && named.result == 8);
static_assert(named.nodes[1].name == "a1" && takes(named.nodes[1], {1}) && takes(named.nodes[2], {2}));
static_assert(named.nodes[3].name == "inner" && takes(named.nodes[3], {1}));
static_assert(takes(named.nodes[4], {3, 1, 4}) && takes(named.nodes[5], {5}) && takes(named.nodes[6], {4}));
static_assert(named.nodes[7].name == "d" && takes(named.nodes[7], {6, 3}) && takes(named.nodes[8], {7}));

// ---- a source is no node ----
constexpr auto fed = describe(source<"camera">([] { return std::optional<int>(); }) | stage<"plus">(plus));
static_assert(fed.source == "camera" && fed.nodes.size() == 1 && fed.values.size() == 2);
static_assert(fed.values[0].bytes == sizeof(int) && fed.nodes[0].in == 0 && !fed.ends_in_sink);

// ---- nesting changes nothing ----
constexpr auto a = stage<"a">(plus);
constexpr auto b = stage<"b">(plus);
constexpr auto c = stage<"c">(plus);
constexpr auto d = stage<"d">(plus);
template <std::size_t N>
constexpr bool names_are(const lv::graph_info<N>& graph, std::string_view names) {
  if (graph.nodes.size() != names.size()) return false;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (graph.nodes[i].name != names.substr(i, 1)) return false;
  return true;
}
static_assert(names_are(describe(input<int> | a | b | c | d), "abcd"));
static_assert(names_are(describe(input<int> | (a | (b | c)) | d), "abcd"));
static_assert(names_are(describe(input<int> | ((input<int> | a | b) | (input<int> | c)) | d), "abcd"));
static_assert(names_are(describe((input<int> | a) | (b | (c | d))), "abcd"));
static_assert(describe(input<int> | (a | (b | c))).values.size() == 4);

// ---- splits: the split follows the stage; indices count over the whole pipeline, the input excluded ----
template <std::size_t N>
constexpr bool splits_are(const lv::graph_info<N>& graph, std::initializer_list<bool> splits) {
  std::size_t i = 0;
  for (const bool s : splits)
    if (graph.nodes[i++].split_after != s) return false;
  return i == graph.nodes.size();
}
static_assert(splits_are(describe(input<int> | a | b | c), {false, false, false}));
static_assert(splits_are(describe(input<int> | a | split_here | b | c), {true, false, false}));
static_assert(splits_are(describe(input<int> | a | split_here | split_here | b | split_here | c), {true, true, false}));
static_assert(splits_are(describe(input<int> | a | b | c | split_after<1>), {false, true, false}));
static_assert(splits_are(describe(split_after<0> | (input<int> | a | b | c)), {true, false, false}));
static_assert(splits_are(describe(input<int> | split_after<0, 2> | a | (b | split_here | c) | d),
                         {true, true, true, false}));
static_assert(splits_are(describe(input<int> | a | (b | split_after<0> | c)), {true, false, false}),
              "a nested one counts over the whole pipeline too");
static_assert(splits_are(describe(source<"s">([] { return std::optional<int>(); }) | a | b | split_after<1>),
                         {true, false}),
              "a source is stage 0");

// ---- pins: the innermost decides ----
constexpr auto gpu = lv::vulkan<0>::id;
constexpr auto fake = lv::simulated<1>::id;
constexpr lv::device_id anywhere{};
template <std::size_t N>
constexpr bool pins_are(const lv::graph_info<N>& graph, std::initializer_list<lv::device_id> pins) {
  std::size_t i = 0;
  for (const lv::device_id p : pins)
    if (graph.nodes[i++].pin != p) return false;
  return i == graph.nodes.size();
}
static_assert(pins_are(describe(input<int> | a | on<lv::vulkan<0>>(b) | c), {anywhere, gpu, anywhere}));
static_assert(pins_are(describe(input<int> | on<lv::vulkan<0>>(a | b) | c), {gpu, gpu, anywhere}));
static_assert(pins_are(describe(input<int> | on<lv::vulkan<0>>(a | on<lv::simulated<1>>(b | c) | d)),
                       {gpu, fake, fake, gpu}));
static_assert(pins_are(describe(input<int> | on<lv::cpu<1, 8>>(a)), {lv::cpu<2>::id}), "the processor is one device");
static_assert(splits_are(describe(input<int> | on<lv::vulkan<0>>(a | split_here | b) | c), {true, false, false}));

// ---- generic and move-only items flow ----
constexpr auto owned =
    describe(input<int> | stage<"make">([](int v) { return std::make_unique<int>(v); }) |
             stage<"pass">([](auto p) { return p; }) | stage<"read">([](const auto& p) { return *p; }));
static_assert(owned.nodes[0].how == form::map && owned.nodes[1].how == form::consume &&
              owned.nodes[2].how == form::map);
static_assert(owned.values[3].bytes == sizeof(int) && owned.values[3].trivial && !owned.values[2].trivial);

}  // namespace

TEST_CASE("the stages of a pipeline are visited in order, with their state") {
  auto pipeline = lv::split_after<0> | (input<int> | stage<"a">([n = 1](int) { return n; }) |
                                        on<lv::cpu<1>>(stage<"b">([n = 2](int) { return n; }) | split_here |
                                                       stage<"c">([p = std::make_unique<int>(3)](int) { return *p; })) |
                                        stage<"d">([n = 4](int) { return n; }));
  std::vector<int> seen;
  std::string names;
  auto visit = [&](auto& one) {
    seen.push_back(one.callable(0));
    names += one.name.view();
  };
  lv::detail::for_each_stage(pipeline, visit);
  CHECK(seen == std::vector{1, 2, 3, 4});
  CHECK(names == "abcd");
}
