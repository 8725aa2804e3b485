// SPDX-License-Identifier: Apache-2.0
// Reports: JSON is read back by nlohmann-json, DOT by a scanner of its quoting and by Graphviz where it is installed.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include <levada/plan/detail/plan.hpp>
#include <levada/plan/detail/report.hpp>

#include "random_graph.hpp"
#include "soak.hpp"

namespace lv = levada;
using nlohmann::json;

namespace {

constexpr lv::graph_info<5> graph = [] {
  lv::graph_info<5> g;
  g.source = "camera";
  const auto value = [&](lv::element type, lv::shape extents, std::size_t bytes) {
    g.values.push_back({bytes, bytes % 64 == 0 ? 64u : 4u, type, extents, true, g.nodes.size() - 1});
  };
  const auto node = [&](std::string_view name, lv::form how, double flops) {
    lv::node_info n;
    n.name = name;
    n.kind = how == lv::form::op ? "op" : "callable";
    n.how = how;
    n.flops = flops;
    n.in = g.values.size() - 1;
    n.out = g.result = how == lv::form::sink ? n.in : n.in + 1;
    g.nodes.push_back(n);
  };
  value(lv::element::u8, lv::shape(28, 28), 832);
  node("to float", lv::form::map, 0);
  value(lv::element::f32, lv::shape(1, 28, 28), 3136);
  node("conv", lv::form::op, 1.2e6);
  value(lv::element::f32, lv::shape(8, 28, 28), 25088);
  node("relu", lv::form::op, 6272);
  value(lv::element::f32, lv::shape(8, 28, 28), 25088);
  node("größe", lv::form::in_place, 0);
  value(lv::element::f32, lv::shape(8, 28, 28), 25088);
  node("keep", lv::form::sink, 0);
  g.nodes[3].order = lv::concurrency::serial;
  g.nodes[2].split_after = true;
  g.ends_in_sink = true;
  return g;
}();
constexpr lv::device_info devices[] = {{lv::cpu<2>::id, 2}};
constexpr lv::backend_info backs[] = {{"simd"}};
constexpr lv::candidate cands[] = {{1, 2, 0, 100, 1000}};
constexpr auto plan =
    lv::make_plan(graph, lv::choose_partition(graph, devices, cands, backs), {}, devices, cands, backs);

/// Whether every quote of a DOT text is closed on its line and every bracket outside of quotes.
bool balanced(std::string_view dot) {
  int brackets = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < dot.size(); ++i) {
    if (quoted && dot[i] == '\\')
      ++i;
    else if (dot[i] == '"')
      quoted = !quoted;
    else if (dot[i] == '\n' && quoted)
      return false;
    else if (!quoted && (dot[i] == '{' || dot[i] == '['))
      ++brackets;
    else if (!quoted && (dot[i] == '}' || dot[i] == ']') && --brackets < 0)
      return false;
  }
  return !quoted && brackets == 0;
}

/// What Graphviz says of a text: nothing where it is not installed.
bool graphviz_refuses(const std::string& dot) {
  if (std::system("command -v dot > /dev/null 2>&1") != 0) return false;
  std::FILE* pipe = popen("dot -Tcanon > /dev/null", "w");
  if (pipe == nullptr) return false;
  std::fwrite(dot.data(), 1, dot.size(), pipe);
  return pclose(pipe) != 0;
}

}  // namespace

TEST_CASE("the text report has a line for each unit and sums up the bytes") {
  const std::string text = lv::text_report(plan);
  CAPTURE(text);
  for (const char* part :
       {"5 stages in 4 units, 2 segments, fed by camera\n", "conv + relu  simd      parallel",
        "uint8[28x28] -> float[1x28x28]", "1.2 MFLOP", "slot +0; 1 in registers", "slot +0, in place",
        "größe        callable  serial ", "segment 0 on cpu: grain 8, 12 in flight", "\nslots        64 x ",
        "\nweights      1000 B\n", "\ntotal        "})
    CHECK(text.find(part) != std::string::npos);
  // Columns line up under their titles, counted in characters, not in bytes.
  const std::size_t header = text.find("segment  device"), row = text.find("1        cpu     gr");
  const auto column_of = [&](std::size_t line, std::string_view word) {
    const std::size_t at = text.find(word, line);
    return lv::detail::terminal_columns(std::string_view(text).substr(line, at - line));
  };
  CHECK(column_of(header, "backend") == column_of(row, "callable"));
  CHECK(column_of(header, "output in") == column_of(row, "slot +0, in place"));
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at)
    CHECK((at == 0 || text[at - 1] != ' '));
}

TEST_CASE("the text report says how much more than their parameters some ways of computing keep") {
  const auto report_of = [](std::size_t parameters) {
    lv::graph_info<5> g = graph;
    g.nodes[1].parameter_bytes = parameters;
    const lv::candidate by_tiles[] = {{1, 2, 0, 100, 1000, "tiles"}};
    return lv::text_report(
        lv::make_plan(g, lv::choose_partition(g, devices, by_tiles, backs), {}, devices, by_tiles, backs));
  };
  const auto says = [&](std::size_t parameters, const char* line) {
    return report_of(parameters).find(line) != std::string::npos;
  };
  CHECK(says(250, "\nweights      1000 B, 750 B more than the parameters by tiles\n"));
  CHECK(says(950, "\nweights      1000 B\n"));
}

TEST_CASE("the JSON report holds the numbers of the plan") {
  const json read = json::parse(lv::json_report(plan));
  CHECK(read["source"] == "camera");
  CHECK(read["segments"].size() == plan.segments);
  CHECK(read["segments"][0]["device"] == "cpu");
  CHECK(read["segments"][0]["grain"] == plan.segment[0].grain);
  CHECK(read["segments"][0]["hand_over"] == "none");
  CHECK(read["units"].size() == plan.units);
  CHECK(read["units"][1]["stages"][0]["name"] == "conv");
  CHECK(read["units"][1]["stages"][0]["flops"] == 1.2e6);
  CHECK(read["units"][1]["backend"] == "simd");
  CHECK(read["units"][2]["stages"][0]["name"] == "größe");
  CHECK(read["units"][2]["order"] == "serial");
  CHECK(read["units"][1]["out"] == 3);
  CHECK(!read["units"][3].contains("out"));
  CHECK(read["values"].size() == plan.value.size());
  CHECK(read["values"][0]["shape"] == json({28, 28}));
  CHECK(read["values"][0]["element"] == "uint8");
  CHECK(read["values"][2]["placement"] == "register");
  CHECK(read["values"][4]["storage"] == 3);
  CHECK(read["bytes_total"] == plan.bytes_total);
  CHECK(read["bytes_in_flight"].get<std::size_t>() + read["bytes_scratch"].get<std::size_t>() +
            read["bytes_weights"].get<std::size_t>() ==
        plan.bytes_total);
}

TEST_CASE("what servers store for a unit, and how many processes its slots keep busy, is in all reports") {
  static constexpr lv::queue_info queue{
      {{"levada-find-items", "levada.find.items.*", lv::retention::work_queue, 1, 16384},
       {"KV_leases", "$KV.leases.>", lv::retention::last_of_subject}},
      15,
      4,
      1};
  auto queued = plan;
  queued.graph.nodes[0].queue = &queue;
  const auto only = [](const auto& of) { return lv::queues_of(of)[0]; };
  CHECK(lv::queues_of(plan).empty());
  CHECK(only(queued).unit == 0);
  CHECK(only(queued).most_messages == plan.slots);
  CHECK(only(queued).least_messages == (plan.slots + 14) / 15);
  CHECK(only(queued).busy_threads == plan.slots);
  CHECK(only(queued).busy_workers == plan.slots / 4);
  CHECK(only(queued).sure_threads == 52);

  const std::string text = lv::text_report(queued);
  CAPTURE(text);
  CHECK(
      text.find(
          "\nto float: 64 slots keep 52 to 64 threads busy, of 16 workers with 4 threads; up to 15 short items share a "
          "message, and then 5 messages are all\n"
          "stream             subject              retention             longest message  streams\n"
          "levada-find-items  levada.find.items.*  work queue            16.0 KiB         1\n"
          "KV_leases          $KV.leases.>         last of each subject  -                1\n\nslots ") !=
      std::string::npos);
  const json read = json::parse(lv::json_report(queued))["queues"][0];
  CHECK(read["unit"] == 0);
  CHECK(read["busy_workers"] == 16);
  CHECK(read["streams"][0]["name"] == "levada-find-items");
  CHECK(read["streams"][0]["message_bytes"] == 16384);
  CHECK(!read["streams"][0].contains("replicas"));
  CHECK(json::parse(lv::json_report(plan))["queues"].empty());

  // By partitions, of which each is one thread's; by a deployment, which bounds the streams.
  auto by_key = queue;
  by_key.partitions = 8;
  by_key.items_a_message = 1;
  by_key.worker_threads = 0;
  queued.graph.nodes[0].queue = &by_key;
  lv::deployed_streams bounds{queued.segment[0].device, lv::detail::fixed_array<lv::stream_bounds>(2)};
  bounds.streams[0] = {4032, 64 << 20, 3};
  bounds.streams[1] = {0, 1 << 20, 3};
  const std::string deployed = lv::text_report(queued, {&bounds, 1});
  CAPTURE(deployed);
  CHECK(deployed.find("\nto float: 8 partitions, each run by one thread at a time, and 64 slots keep up to 8 threads "
                      "busy; each item has a message\n") != std::string::npos);
  CHECK(deployed.find("longest message  streams  messages  bytes     replicas\n") != std::string::npos);
  CHECK(deployed.find("16.0 KiB         1        4032      64.0 MiB  3\n") != std::string::npos);
  CHECK(deployed.find("-                1        -         1.0 MiB   3\n") != std::string::npos);
  CHECK(json::parse(lv::json_report(queued, {&bounds, 1}))["queues"][0]["streams"][0]["replicas"] == 3);
}

TEST_CASE("numbers that JSON lacks are null") {
  auto strange = plan;
  strange.graph.nodes[1].flops = std::numeric_limits<double>::infinity();
  strange.graph.nodes[2].flops = std::nan("");
  const json read = json::parse(lv::json_report(strange));
  CHECK(read["units"][1]["stages"][0]["flops"].is_null());
  CHECK(read["units"][1]["stages"][1]["flops"].is_null());
}

TEST_CASE("the DOT report frames segments and joins units by their items") {
  const std::string dot = lv::dot_report(plan);
  CHECK(balanced(dot));
  CHECK(dot.find("subgraph cluster_1") != std::string::npos);
  CHECK(dot.find("u0 -> u1 [label=\"float[1x28x28]\"]") != std::string::npos);
  CHECK(dot.find("conv\\nrelu\\nsimd, parallel") != std::string::npos);
  CHECK(dot.find("camera") != std::string::npos);
  CHECK(dot.find("result") == std::string::npos);
  CHECK(!graphviz_refuses(dot));
}

TEST_CASE("any plan, whatever its names, gives JSON that parses and DOT that balances") {
  for (unsigned seed = 0; seed < 500u * static_cast<unsigned>(lv::test::soak_scale()); ++seed) {
    const auto made = lv::test::make_random_deployment(seed).plan();
    CAPTURE(seed);
    const json read = json::parse(lv::json_report(made));
    std::size_t node = 0;
    for (const json& unit : read["units"])
      for (const json& stage : unit["stages"]) {
        const std::string_view name = made.graph.nodes[node++].name;
        if (name != "\xff broken")
          REQUIRE(stage["name"] == name);
        else
          REQUIRE(stage["name"] == "\xef\xbf\xbd broken");
      }
    REQUIRE(node == made.nodes);
    const std::string dot = lv::dot_report(made);
    REQUIRE(balanced(dot));
    if (seed < 10) REQUIRE(!graphviz_refuses(dot));
    const std::string text = lv::text_report(made);
    REQUIRE(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) ==
            made.units + made.segments + made.fork.size() + lv::transfers_of(made).size() + 9);
  }
}

TEST_CASE("report gives the format that is asked for") {
  CHECK(lv::report(lv::format::text, plan) == lv::text_report(plan));
  CHECK(lv::report(lv::format::json, plan) == lv::json_report(plan));
  CHECK(lv::report(lv::format::dot, plan) == lv::dot_report(plan));
}

TEST_CASE("what is no UTF-8 becomes the replacement character, and what is passes") {
  const auto cleaned = [](std::string_view raw) {
    std::string text;
    lv::detail::append_utf8(text, raw, [&](char c) { text += c; });
    return text;
  };
  for (const char* good : {"", "plain", "ä", "\xe2\x82\xac", "\xf0\x9f\x9a\xb0", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    CHECK(cleaned(good) == good);
  // Overlong, a surrogate, beyond U+10FFFF, cut short, a lone continuation byte.
  CHECK(cleaned("\xc0\xaf") == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(cleaned("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(cleaned("\xf4\x90\x80\x80").find('\xf4') == std::string::npos);
  CHECK(cleaned("a\xe2\x82") == "a\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(cleaned("\x80z") == "\xef\xbf\xbdz");
}
