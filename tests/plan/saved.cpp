// SPDX-License-Identifier: Apache-2.0
// A plan as a line: what it looks like, that it comes back exactly, what is said when it no longer fits, and any text
// at all.

#include <doctest/doctest.h>

#include <string>

#include <levada/plan/detail/options.hpp>
#include <levada/plan/detail/pinned.hpp>
#include <levada/plan/detail/plan.hpp>

#include "random_graph.hpp"
#include "soak.hpp"

namespace lv = levada;
using lv::plan_change;
using std::is_same_v;

namespace {

constexpr lv::graph_info<6> graph = [] {
  lv::graph_info<6> g;
  g.values.push_back({4, 4});
  const auto add = [&](std::string_view name, lv::form how) {
    lv::node_info node;
    node.name = name;
    node.how = how;
    node.in = g.nodes.size();
    node.out = g.result = node.in + 1;
    g.nodes.push_back(node);
    g.values.push_back({4, 4});
  };
  add("decode", lv::form::map);
  add("conv 1", lv::form::op);
  add("relu", lv::form::op);
  add("say \"hi\"\n", lv::form::map);
  g.nodes[2].split_after = true;
  return g;
}();
constexpr lv::device_info devices[] = {{lv::cpu<2>::id, 2}, {lv::vulkan<0>::id}, {lv::simulated<1>::id}};
constexpr lv::backend_info backs[] = {{"simd"}, {"my own"}, {"spirv", lv::device_kind::vulkan}};
constexpr lv::candidate cands[] = {{1, 1, 0, 0, 0}, {1, 2, 0, 0, 0}, {2, 1, 0, 0, 0}, {2, 1, 1, 0, 0}, {1, 2, 2, 0, 0}};

constexpr auto parts = lv::choose_partition(graph, devices, cands, backs);
constexpr auto plan = lv::make_plan(graph, parts, {32}, devices, cands, backs);
constexpr auto text = lv::saved<plan>();

static_assert(text.view() ==
              R"(levada plan 1: 32 slots | cpu: "decode" simd("conv 1" "relu") | cpu: "say \"hi\"\x0a")");
static_assert(lv::parse_plan<6>(text).slots == 32 && lv::parse_plan<6>(text).count == 4);
[[maybe_unused]] constexpr lv::pinned<text> option{};  // a template argument

template <lv::fixed_string Line>
using mistake = lv::pinned_mistake<Line, graph, devices, cands, backs>;
template <lv::fixed_string Line>
constexpr const auto& partition_of = lv::pinned_partition<Line, graph, devices, cands, backs>;

static_assert(is_same_v<mistake<text>, lv::no_mistake>);
static_assert(partition_of<text>.parts == parts && partition_of<text>.slots == 32);

// ---- written by hand, another partition than the one that would be chosen; white space is free ----
using by_hand = mistake<"levada plan 1:\n  7 slots\n| vulkan<0>: spirv(\"conv 1\"\n\"relu\")">;
static_assert(is_same_v<by_hand, lv::pinned_plan_names_another_stage<"decode", "conv 1", 0>>);
constexpr auto moved = lv::fixed_string(
    "levada plan 1:7 slots\n| simulated<1>: \"decode\" | vulkan<0> :spirv( \"conv 1\"\n\t\"relu\" )|cpu:\"say "
    "\\\"hi\\\"\\x0a\"");
static_assert(is_same_v<mistake<moved>, lv::no_mistake>);
static_assert(partition_of<moved>.parts.size() == 3 && partition_of<moved>.slots == 7);
static_assert(partition_of<moved>.parts[1] == lv::partition_unit{1, 2, 2, 4, lv::vulkan<0>::id, true});
constexpr auto quoted_backend = lv::fixed_string(
    "levada plan 1: 32 slots | cpu: \"decode\" simd(\"conv 1\") \"my own\"(\"relu\") | cpu: \"say \\\"hi\\\"\\x0a\"");
static_assert(partition_of<quoted_backend>.parts[2].backend == 1 &&
              partition_of<quoted_backend>.parts[2].candidate == 3);

// ---- what changed ----
#define LEVADA_START "levada plan 1: 32 slots | "
#define LEVADA_END " | cpu: \"say \\\"hi\\\"\\x0a\""
static_assert(is_same_v<mistake<"">, lv::pinned_plan_is_malformed<0>>);
static_assert(is_same_v<mistake<"levada plan 2: 32 slots">, lv::pinned_plan_is_malformed<12>>);
static_assert(is_same_v<mistake<LEVADA_START "tpu: \"decode\"">, lv::pinned_plan_is_malformed<26>>);
static_assert(is_same_v<mistake<LEVADA_START "cpu: \"decode\" simd(\"conv 1\" \"relu\")" LEVADA_END " | cpu: \"more\"">,
                        lv::pinned_plan_has_another_number_of_stages<4, 5>>);
static_assert(is_same_v<mistake<LEVADA_START "cpu: \"decode\" simd(\"conv 1\" \"relu\")">,
                        lv::pinned_plan_has_another_number_of_stages<4, 3>>);
static_assert(is_same_v<mistake<LEVADA_START "cpu: \"decode\" simd(\"conv \\\"1\\\"\" \"relu\")" LEVADA_END>,
                        lv::pinned_plan_names_another_stage<"conv 1", "conv \"1\"", 1>>);
static_assert(is_same_v<mistake<LEVADA_START "vulkan<3>: \"decode\" | cpu: simd(\"conv 1\" \"relu\")" LEVADA_END>,
                        lv::pinned_plan_names_a_device_the_target_lacks<"decode", "vulkan<3>">>);
static_assert(is_same_v<mistake<LEVADA_START "vulkan<0>: \"decode\" | cpu: simd(\"conv 1\" \"relu\")" LEVADA_END>,
                        lv::pinned_plan_puts_a_callable_on_a_device_that_runs_none<"decode", "vulkan<0>">>);
static_assert(is_same_v<mistake<LEVADA_START "cpu: \"decode\" \"conv 1\" \"relu\"" LEVADA_END>,
                        lv::pinned_plan_names_no_backend_for_the_op<"conv 1">>);
static_assert(is_same_v<mistake<LEVADA_START "cpu: \"decode\" eigen(\"conv 1\" \"relu\")" LEVADA_END>,
                        lv::pinned_plan_names_a_backend_that_is_not_there<"eigen", "cpu">>);
static_assert(is_same_v<mistake<LEVADA_START "cpu: \"decode\" spirv(\"conv 1\" \"relu\")" LEVADA_END>,
                        lv::pinned_plan_names_a_backend_that_is_not_there<"spirv", "cpu">>);
static_assert(is_same_v<mistake<LEVADA_START "cpu: \"decode\" \"my own\"(\"conv 1\" \"relu\")" LEVADA_END>,
                        lv::pinned_plan_fuses_what_the_backend_does_not_take<"my own", "conv 1">>);
static_assert(is_same_v<mistake<LEVADA_START "cpu: simd(\"decode\") simd(\"conv 1\" \"relu\")" LEVADA_END>,
                        lv::pinned_plan_fuses_what_the_backend_does_not_take<"simd", "decode">>);
static_assert(is_same_v<mistake<LEVADA_START "cpu: \"decode\" simd(\"conv 1\" \"relu\") \"say \\\"hi\\\"\\x0a\"">,
                        lv::pinned_plan_has_no_border_after_the_stage<"relu">>);

constexpr lv::graph_info<6> with_a_pin = [] {
  auto g = graph;
  g.nodes[2].pin = lv::vulkan<0>::id;
  return g;
}();
static_assert(is_same_v<lv::pinned_mistake<text, with_a_pin, devices, cands, backs>,
                        lv::pinned_plan_contradicts_the_device_of_the_stage<"relu", "vulkan<0>", "cpu">>);

// ---- lines that are none ----
constexpr bool malformed(std::string_view line) {
  return lv::parse_plan<6>(line).malformed_at != lv::written_plan<6>::nowhere;
}
static_assert(malformed("levada plan 1: 0 slots | cpu: \"a\""));
static_assert(malformed("levada plan 1: 99999999999999999999 slots | cpu: \"a\""), "a number too large");
static_assert(malformed("levada plan 1: 1 slots | cpu:") && malformed("levada plan 1: 1 slots | cpu: \"a\" |"));
static_assert(malformed("levada plan 1: 1 slots | cpu: simd()") &&
              malformed("levada plan 1: 1 slots | cpu: simd(\"a\""));
static_assert(malformed("levada plan 1: 1 slots | cpu: \"a") && malformed("levada plan 1: 1 slots | cpu: \"a\\"));
static_assert(malformed("levada plan 1: 1 slots | cpu: \"\\x0\"") &&
              malformed("levada plan 1: 1 slots | cpu: \"\\x0G\""));
static_assert(malformed("levada plan 1: 1 slots | cpu: \"\\n\"") &&
              malformed("levada plan 1: 1 slots | cpu: \"a\nb\""));
static_assert(malformed("levada plan 1: 1 slots | vulkan<4294967296>: \"a\"") &&
              malformed("levada plan 1: 1 slots | vulkan: \"a\""));
static_assert(malformed("levada plan 1: 1 slots | cpus: \"a\"") && malformed("levada plan 12: 1 slots | cpu: \"a\""));
static_assert(!malformed("levada plan 1: 1 slots | simulated<-2>: \"a\""));
static_assert(!malformed("levada plan 1: 1 slots | any_of<vulkan<0>, vulkan<1>>: \"a\"") &&
              malformed("levada plan 1: 1 slots | any_of<any_of<vulkan<0>, vulkan<1>>, vulkan<2>>: \"a\""));

}  // namespace

TEST_CASE("a line may be nested as deep as its writer likes") {
  std::string line = "levada plan 1: 1 slots | ";
  for (int i = 0; i < 200'000; ++i) line += "any_of<";
  CHECK(malformed(line));
  for (int i = 0; i < 200'000; ++i) line += '(';
  CHECK(malformed(line));
}

TEST_CASE("a line is UTF-8 whatever the names are, and the names come back") {
  std::string name;
  for (int c = 0; c < 256; ++c) name += static_cast<char>(c);
  name += "\u00e4\u20ac\U0001F600\xed\xa0\x80\xf4\x90\x80\x80\xc3";
  std::string quoted;
  lv::detail::append_quoted_name(quoted, name);
  for (std::size_t at = 0; at < quoted.size();) {
    const std::size_t length = lv::detail::utf8_length(quoted, at);
    REQUIRE(length > 0);
    at += length;
  }
  CHECK(quoted.find("\u00e4\u20ac\U0001F600\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xc3") != std::string::npos);
  const std::string line = "levada plan 1: 1 slots | cpu: " + quoted;  // what is read names parts of it
  const auto read = lv::parse_plan<1>(line);
  REQUIRE(read.malformed_at == read.nowhere);
  CHECK(read.stages[0].name == name);
}

TEST_CASE("any plan comes back from its line exactly, and is saved as the same line again") {
  for (unsigned seed = 0; seed < 3000u * static_cast<unsigned>(lv::test::soak_scale()); ++seed) {
    const auto d = lv::test::make_random_deployment(seed);
    const auto made = d.plan();
    const std::string line = lv::save(made);
    CAPTURE(line);
    REQUIRE(line.find('\n') == std::string::npos);
    const auto reading = lv::read_plan(line, d.graph, d.devices, d.candidates, d.backends);
    REQUIRE(reading.change == plan_change::none);
    REQUIRE(reading.parts == d.parts());
    REQUIRE(reading.slots == made.slots);
    const auto again = d.plan_with(reading.parts, reading.slots);
    REQUIRE(lv::save(again) == line);
    REQUIRE(again.bytes_total == made.bytes_total);
  }
}

TEST_CASE("a line read against another pipeline says what changed or gives a partition that holds") {
  for (unsigned seed = 0; seed < 3000u * static_cast<unsigned>(lv::test::soak_scale()); ++seed) {
    const auto d = lv::test::make_random_deployment(seed);
    auto other = lv::test::make_random_deployment(seed + 1);
    if (seed % 2 == 0) other.graph = d.graph;  // same pipeline, other candidates, devices and backends
    const auto reading =
        lv::read_plan(lv::save(d.plan()), other.graph, other.devices, other.candidates, other.backends);
    CAPTURE(seed);
    if (reading) {
      const auto made =
          lv::make_plan(other.graph, reading.parts, {reading.slots}, other.devices, other.candidates, other.backends);
      REQUIRE(made.units == reading.parts.size());
    }
  }
}

TEST_CASE("any text has an answer: a mutated line is a plan for the graph or says where and why not") {
  lv::test::random_source random(4);
  constexpr std::string_view pieces[] = {"\"",     "\\",    "(", ")",          "|",    ":",   "<",
                                         ">",      "-",     " ", "\n",         "\\x",  "cpu", "vulkan",
                                         "levada", "slots", "1", "9999999999", "\xff", "simd"};
  std::size_t malformed_lines = 0, plans = 0;
  for (unsigned i = 0; i < 20000u * static_cast<unsigned>(lv::test::soak_scale()); ++i) {
    const auto d = lv::test::make_random_deployment(i % 50);
    std::string line = lv::save(d.plan());
    for (std::size_t edits = random.below(4); edits > 0; --edits) {
      const std::size_t at = random.below(line.size() + 1);
      switch (random.below(4)) {
        case 0:
          line.erase(at, 1 + random.below(6));
          break;
        case 1:
          line.insert(at, random.one_of(pieces));
          break;
        case 2:
          line.resize(at);
          break;
        default:
          if (at < line.size()) line[at] = static_cast<char>(random.below(256));
      }
      if (line.empty()) break;
    }
    // A copy of exactly that size: a sanitizer sees any byte read behind it.
    const std::vector<char> exact(line.begin(), line.end());
    const auto reading =
        lv::read_plan(std::string_view(exact.data(), exact.size()), d.graph, d.devices, d.candidates, d.backends);
    if (reading) {
      ++plans;
      REQUIRE(lv::covered_nodes(reading.parts) == d.graph.nodes.size());
      REQUIRE(reading.slots > 0);
    } else if (reading.change == plan_change::malformed) {
      ++malformed_lines;
      REQUIRE(reading.at <= line.size());
    } else
      REQUIRE(reading.at <= d.graph.nodes.size());
  }
  CHECK(plans > 1000);
  CHECK(malformed_lines > 1000);
}

TEST_CASE("random bytes are no plan") {
  lv::test::random_source random(5);
  for (int i = 0; i < 5000; ++i) {
    std::string line(random.below(80), ' ');
    for (char& c : line) c = static_cast<char>(random.below(256));
    REQUIRE(malformed(line));
  }
}

TEST_CASE("save gives at run time the line that saved gives while compiling") {
  CHECK(lv::save(plan) == text.view());
  CHECK(lv::name_of(lv::device_id{lv::device_kind::simulated, -2147483647 - 1}) == "simulated<-2147483648>");
}
