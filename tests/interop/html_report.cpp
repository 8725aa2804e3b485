// SPDX-License-Identifier: Apache-2.0
// The page of a report: it needs nothing but itself, its data is JSON by a reader that nobody here wrote, and no name
// in it can become a tag. With LEVADA_REPORT_PAGES the pages are left in that folder, for tools/report_screenshot.py.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/backend/reference/detail/activation.hpp>
#include <levada/backend/simd/detail/activation.hpp>
#include <levada/graph/detail/batch.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/interop/html_report.hpp>
#include <levada/nn/activation.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/promises.hpp>
#include <levada/run/simulated.hpp>
#include <nlohmann/json.hpp>

#include <files.hpp>
#include <plan/residual_blocks.hpp>

namespace interop_html_report {

namespace lv = levada;
using levada::test::contents_of;
using levada::test::temporary_file;
using nlohmann::json;

void keep(const std::string& page, const char* name) {
  if (const char* folder = std::getenv("LEVADA_REPORT_PAGES"))
    std::ofstream(std::filesystem::path(folder) / name) << page;
}

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; at += word.size()) ++count;
  return count;
}

/// What the page reads, if it is a page that needs nothing else.
json data_of(const std::string& page) {
  for (const char* foreign : {"http:", "https:", "//cdn", "src=", "@import", "url(h", "fetch(", "XMLHttp", "innerHTML"})
    CHECK_MESSAGE(count_of(page, foreign) == 0, foreign);
  CHECK(count_of(page, "href=") == count_of(page, "href=\"#"));
  CHECK(count_of(page, "<script") == 2);
  CHECK(count_of(page, "</script>") == 2);
  CHECK(page.starts_with("<!doctype html>"));
  constexpr std::string_view opening = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(opening) + opening.size();
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  CHECK(data.find('<') == std::string::npos);
  return json::parse(data);
}

using vector = lv::tensor<float, 6>;
using box = lv::target<lv::cpu<2>>;
using both = lv::backends<lv::simd, lv::reference>;

constexpr lv::kernel_cost kernels[] = {
    {"simd", "relu(float[6]) -> float[6], 6 FLOP", 2e-6},
    {"simd", "softmax(float[6]) -> float[6], 24 FLOP", 1e-6},
    {"reference", "relu(float[6]) -> float[6], 6 FLOP", 1e-6},
    {"reference", "softmax(float[6]) -> float[6], 24 FLOP", 2e-6},
};
constexpr lv::cost_table table{.machine = "a made-up one", .kernels = kernels};

TEST_CASE("by costs: each kernel's cost, where it is from, and by how much the others lost") {
  const auto app = lv::deploy<box, both, lv::costs<table>>(lv::input<vector> | lv::nn::relu | lv::nn::softmax);
  const std::string page = lv::html_report(app);
  CHECK(page == lv::html_report(app));
  const json data = data_of(page);
  const json& reasons = data["regions"][0]["reasons"];
  CHECK(reasons["machine"] == "a made-up one");
  CHECK(reasons["seconds"] == doctest::Approx(2e-6));
  const json& relu = reasons["units"][0];
  CHECK(relu["why"] == "cost");
  CHECK(relu["cost"]["origin"] == "measured");
  CHECK(relu["cost"]["seconds"] == 1e-6);
  REQUIRE(relu["others"].size() == 1);
  CHECK(relu["others"][0]["backend"] == "simd");
  CHECK(relu["others"][0]["more_seconds"] == doctest::Approx(1e-6));
  CHECK(data["regions"][0]["plan"]["units"].size() == 2);
  CHECK(data["regions"][0]["memory"]["arena_bytes"] >= data["regions"][0]["memory"]["arena_bound"]);
  CHECK(!data.contains("statistics"));
  CHECK(!data.contains("trace"));
}

TEST_CASE("of branches it is said whether they run at once, and why") {
  const auto app =
      lv::deploy<lv::target<lv::cpu<1>>, both>(lv::input<vector> | lv::fork(lv::nn::relu, lv::nn::softmax) |
                                               lv::join<"first">([](const vector& a, const vector&) { return a; }));
  const json forks = data_of(lv::html_report(app))["regions"][0]["forks"];
  REQUIRE(forks.size() == 1);
  CHECK(forks[0] == "2 branches, relu to softmax: one after the other, since the processor has one thread");
}

TEST_CASE("without costs the default is said; names with quotes, ampersands and tags are data and nothing else") {
  const auto app =
      lv::deploy<box, both>(lv::input<vector> | lv::nn::relu |
                            lv::stage<"</script><script>alert('x')</script>">([](const vector& v) { return v[0]; }) |
                            lv::stage<"<!-- \"a\" & 'b' <b>">([](const float& x) { return x + 1; }));
  const std::string page = lv::html_report(app);
  keep(page, "names.html");
  const json region = data_of(page)["regions"][0];
  const json &reasons = region["reasons"], &units = region["plan"]["units"];
  CHECK(reasons["has_costs"] == false);
  CHECK(reasons["units"][0]["why"] == "preference");
  CHECK(reasons["units"][0]["cost"]["origin"] == "unknown");
  CHECK(reasons["units"][0]["others"][0]["backend"] == "reference");
  CHECK(reasons["units"][1]["why"] == "only way");
  CHECK(units[1]["stages"][0]["name"] == "</script><script>alert('x')</script>");
  CHECK(units[2]["stages"][0]["name"] == "<!-- \"a\" & 'b' <b>");
}

TEST_CASE("what is promised of time is in the page, as numbers and as it is read; else there is no such section") {
  using namespace levada::literals;
  static constexpr lv::kernel_cost rows[] = {{"callable", "a(4 bytes) -> 4 bytes", 30e-3}};
  static constexpr lv::cost_table costs{.machine = "a <board>", .kernels = rows};
  constexpr auto same = [](const int& i) { return i; };
  const auto app = lv::deploy<box, lv::costs<costs>, lv::budget<lv::latency<40_ms>>, lv::latest_only>(
      lv::input<int, lv::every<10_ms>> | lv::stage<"a">(same));
  const std::string page = lv::html_report(app);
  keep(page, "promises.html");
  const json data = data_of(page);
  CHECK(data["promises"]["pace_seconds"] == 10e-3);
  CHECK(data["promises"]["drops"] == true);
  CHECK(data["promises"]["dropped"].get<double>() == doctest::Approx(1.0 / 3));
  CHECK(data["promises"]["budgets"][0]["most_seconds"] == 40e-3);
  CHECK(data["promises"]["loads"][0]["load"] == 1.5);
  CHECK(data["promised"].get<std::string>().find("  cpu: 150 %, 30 ms on 2 workers\n") != std::string::npos);
  CHECK_FALSE(data.contains("verification"));
  const temporary_file file("verified.html");
  lv::report(app, app.verify(1, 2), file.path);
  const json verified = data_of(contents_of(file.path));
  CHECK(verified["verification"]["parts"][0]["expected_seconds"] == 30e-3);
  CHECK(verified["verification"]["costs_of"] == "a <board>");
  CHECK(verified["verified"].get<std::string>().starts_with("part "));
  CHECK_FALSE(data_of(lv::html_report(lv::deploy<box>(lv::input<int> | lv::stage<"a">(same)))).contains("promises"));
}

TEST_CASE("a session's statistics and trace are in the file, with those of its devices") {
  lv::simulated_device<0>().reset();
  const auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>>(
      lv::input<int> | lv::stage<"before">([](const int& x) { return x; }) |
      lv::on<lv::simulated<0>>(lv::stage<"there">([](const int& x) { return x + 1; })) |
      lv::stage<"behind">(lv::serial([](const int& x) { return x; })));
  auto session = app.open();
  session.measure();
  session.trace();
  std::thread pusher([&] {
    for (int i = 0; i < 400; ++i) session.push(i);
    session.close();
  });
  while (session.pop()) {
  }
  pusher.join();
  const temporary_file file("page.html");
  lv::report(app, session, file.path);
  const std::string page = contents_of(file.path);
  keep(page, "session.html");
  const json data = data_of(page);
  CHECK(data["statistics"]["items"]["delivered"] == 400);
  CHECK(data["statistics"]["stages"][1]["name"] == "there");
  CHECK(data["statistics"]["stages"][2]["items"] == 400);
  const json& events = data["trace"]["events"];
  REQUIRE(!events.empty());
  std::uint64_t at_device = 0, last = 0;
  for (const json& e : events) {
    at_device += e[0] == "device";
    CHECK(e[5].get<std::uint64_t>() >= last);
    last = e[5];
  }
  CHECK(events[0][5] == 0);
  CHECK(at_device == 400);
}

TEST_CASE("a pipeline that changes its rate has a plan for each region; a file that cannot be written is named") {
  const auto app = lv::deploy<box>(lv::input<int> | lv::stage<"one">([](const int& x) { return x; }) | lv::batch<4> |
                                   lv::stage<"four">([](const std::array<int, 4>& x) { return x[0]; }));
  const temporary_file file("page.html");
  lv::report(app, file.path);
  keep(contents_of(file.path), "regions.html");
  const json regions = data_of(contents_of(file.path))["regions"];
  REQUIRE(regions.size() == 2);
  CHECK(regions[1]["takes"] == 4);
  CHECK(regions[1]["gives"] == 1);
  CHECK(regions[1]["plan"]["units"][0]["stages"][0]["name"] == "four");
  auto session = app.open();
  for (int i = 0; i < 8; ++i) session.push(i);
  session.close();
  while (session.pop()) {
  }
  lv::report(app, session, file.path);
  const json statistics = data_of(contents_of(file.path))["statistics"];
  CHECK(statistics["items"]["pushed"] == 8);
  REQUIRE(statistics["regions_behind"].size() == 1);
  CHECK(statistics["regions_behind"][0]["items"]["delivered"] == 2);
  CHECK_THROWS_WITH_AS(lv::report(app, "/no such folder/plan.html"),
                       "levada: report: cannot write \"/no such folder/plan.html\": No such file or directory",
                       lv::error);
}

TEST_CASE(
    "ports, branches, outputs and feedback: the parts of values say whose they are, and the end of a loop its head") {
  const auto app = lv::deploy<box>(
      lv::graph(lv::port<"left", int>, lv::port<"right", float>,
                lv::node<"total", "left">(lv::feedback<"total">(
                    lv::join<"add">([](const int& x, const int& so_far) { return x + so_far; }), 0)),
                lv::node<"halved", "right">(lv::stage<"halved">([](const float& x) { return x / 2; }) |
                                            lv::stage<"rounded">([](const float& x) { return static_cast<int>(x); })),
                lv::node<"sum", "total", "halved", "left">(
                    lv::join<"sum">([](const int& a, const int& b, const int& c) { return a + b + c; })),
                lv::output<"sum", "sum">, lv::output<"half", "halved">));
  const std::string page = lv::html_report(app);
  keep(page, "ports.html");
  const json plan = data_of(page)["regions"][0]["plan"];
  std::size_t ports = 0, outputs = 0;
  for (const json& value : plan["values"]) {
    if (!value.contains("part_of")) continue;
    ports += value["part_of"] == 0;
    outputs += value["part_of"] == plan["result"];
  }
  CHECK(ports == 2);
  CHECK(outputs == 2);
  std::size_t loops = 0;
  for (const json& unit : plan["units"]) {
    if (!unit.contains("state_of")) continue;
    CHECK(plan["units"][unit["state_of"].get<std::size_t>()]["order"] == "serial");
    ++loops;
  }
  CHECK(loops == 1);
}

constexpr lv::device_info devices[] = {{lv::cpu<2>::id, 2}, {lv::vulkan<0>::id}};
constexpr lv::backend_info backs[] = {{"simd"}, {"onednn"}, {"spirv", lv::device_kind::vulkan}};
constexpr lv::roofline rooflines[] = {
    {"simd", 60e9, 20e9, 1e-7}, {"onednn", 80e9, 15e9, 4e-7}, {"spirv", 1e12, 1e11, 5e-6}};
constexpr lv::cost_table estimates{.machine = "three rooflines", .rooflines = rooflines};

TEST_CASE("a plan of 200 ops has a page, with every unit's reasons; of a long trace it shows the last events") {
  constexpr std::size_t ops = 200;
  const auto graph = levada::test::residual_blocks<ops>(3e5);
  const auto feeds = lv::feeds_only_the_next(graph);
  std::vector<lv::candidate> candidates;
  for (std::size_t first = 0; first < ops; ++first)
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t count = 1; count <= 3 && first + count <= ops; ++count) {
        candidates.push_back({first, count, b, b == 1 ? 2048u : 0u, 9216});
        if (!feeds[first + count - 1]) break;
      }
  const auto parts = lv::choose_partition(graph, devices, candidates, backs, estimates);
  const auto plan = lv::make_plan(graph, parts, {}, devices, candidates, backs);
  lv::session_trace trace;
  trace.stages = {"of another plan"};
  for (std::uint64_t i = 0; i < lv::detail::most_drawn_events + 10; ++i)
    trace.events.push_back({lv::trace_kind::stage, 0, 0, 1, i, 1000 + 10 * i, 1005 + 10 * i});
  const std::string page = lv::html_report(plan, {devices, candidates, backs, &estimates}, nullptr, &trace);
  keep(page, "large.html");
  const json data = data_of(page);
  const json &region = data["regions"][0], &drawn = data["trace"];
  std::size_t stages = 0;
  for (const json& unit : region["plan"]["units"]) stages += unit["stages"].size();
  CHECK(stages == ops);
  CHECK(region["reasons"]["units"].size() == plan.units);
  CHECK(page.size() < 2'000'000);
  CHECK(drawn["left_out"] == 10);
  CHECK(drawn["events"].size() == lv::detail::most_drawn_events);
  CHECK(drawn["events"][0] == json({"stage", 0, 0, 1, 10, 0, 5}));

  // What servers store for a unit is a table of its own.
  static constexpr lv::queue_info queue{{{"levada-find-items", "levada.find.items.*", lv::retention::work_queue}}};
  auto queued = plan;
  queued.graph.nodes[0].queue = &queue;
  const std::string with_streams = lv::html_report(queued, {devices, candidates, backs, &estimates});
  keep(with_streams, "streams.html");
  const json streams = data_of(with_streams)["regions"][0];
  CHECK(streams["plan"]["queues"][0]["streams"][0]["retention"] == "work queue");
  CHECK(streams["queues"][0].get<std::string>().find("; each item has a message") != std::string::npos);
  CHECK(region["queues"].empty());

  // Late items are events among the others.
  trace.events = {{lv::trace_kind::stage, 0, 0, 1, 3, 1000, 1400}, {lv::trace_kind::late, 0, 0, 1, 3, 900, 1500}};
  const json marked = data_of(lv::html_report(plan, {devices, candidates, backs, &estimates}, nullptr, &trace));
  CHECK(marked["trace"]["events"] == json({{"late", 0, 0, 1, 3, 0, 600}, {"stage", 0, 0, 1, 3, 100, 400}}));
}

}  // namespace interop_html_report
