// SPDX-License-Identifier: Apache-2.0
// Prometheus' text exposition format 0.0.4: what is written is read here by the rules of the format.

#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <levada/levada.hpp>
#include <levada/run/prometheus.hpp>

namespace run_prometheus {

namespace lv = levada;

struct sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

/// A strict reader: every line is a HELP or TYPE comment or a sample, and each metric is declared before its samples,
/// which stand together.
struct exposition {
  std::map<std::string, std::string> types;
  std::vector<sample> samples;
  std::set<std::string> seen;  ///< names with labels
  std::string current, helped;

  explicit exposition(const std::string& text) {
    REQUIRE(!text.empty());
    REQUIRE(text.back() == '\n');
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = text.find('\n', at);
      line(text.substr(at, end - at));
      at = end + 1;
    }
  }

  void line(const std::string& l) {
    CAPTURE(l);
    if (l.rfind("# HELP ", 0) == 0) {
      helped = l.substr(7, l.find(' ', 7) - 7);
      REQUIRE(is_name(helped));
      REQUIRE(types.count(helped) == 0);  // one group for each metric
    } else if (l.rfind("# TYPE ", 0) == 0) {
      const std::size_t space = l.find(' ', 7);
      current = l.substr(7, space - 7);
      REQUIRE(current == helped);
      const std::string type = l.substr(space + 1);
      REQUIRE((type == "counter" || type == "gauge" || type == "summary"));
      types[current] = type;
    } else {
      samples.push_back(read(l));
    }
  }

  static bool is_name(const std::string& n) {
    if (n.empty() || std::isdigit(static_cast<unsigned char>(n[0]))) return false;
    for (const char c : n)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
    return true;
  }

  sample read(const std::string& l) {
    sample s;
    std::size_t at = l.find_first_of("{ ");
    REQUIRE(at != std::string::npos);
    s.name = l.substr(0, at);
    REQUIRE(is_name(s.name));
    if (l[at] == '{') {
      ++at;
      while (l[at] != '}') {
        const std::size_t equals = l.find('=', at);
        const std::string name = l.substr(at, equals - at);
        REQUIRE(is_name(name));
        REQUIRE(l[equals + 1] == '"');
        std::string value;
        for (at = equals + 2; l[at] != '"'; ++at) {
          REQUIRE(at < l.size());
          if (l[at] != '\\') {
            value += l[at];
            continue;
          }
          ++at;
          REQUIRE((l[at] == 'n' || l[at] == '\\' || l[at] == '"'));
          value += l[at] == 'n' ? '\n' : l[at];
        }
        REQUIRE(s.labels.emplace(name, value).second);
        ++at;
        if (l[at] == ',') ++at;
      }
      ++at;
    }
    REQUIRE(l[at] == ' ');
    std::size_t used = 0;
    s.value = std::stod(l.substr(at + 1), &used);
    REQUIRE(at + 1 + used == l.size());
    // The name is the metric's, or a summary's sum or count.
    const bool is_summary = types[current] == "summary";
    if (is_summary && s.name != current)
      REQUIRE((s.name == current + "_sum" || s.name == current + "_count"));
    else
      REQUIRE(s.name == current);
    REQUIRE((is_summary && s.name == current) == (s.labels.count("quantile") == 1));
    if (types[current] == "counter") REQUIRE(s.name.substr(s.name.size() - 6) == "_total");
    REQUIRE(seen.insert(l.substr(0, at)).second);  // no sample twice
    return s;
  }

  double value(const std::string& name, const std::map<std::string, std::string>& labels = {}) const {
    for (const sample& s : samples) {
      bool all = s.name == name;
      for (const auto& [n, v] : labels) all = all && s.labels.count(n) != 0 && s.labels.at(n) == v;
      if (all) return s.value;
    }
    FAIL("there is no " << name);
    return 0;
  }
};

lv::session_statistics some() {
  lv::session_statistics s;
  s.items = {20, 10, 3, 2, 1, 1, 3};
  s.slots = 64;
  s.stages.resize(2);
  s.stages[0].name = "decode";
  s.stages[0].items = 20;
  s.stages[0].time = {10, 1'500'000'000, 1, 100'000'000, 200'000'000, 300'000'000};
  s.items.drops = {.overdue = 1};
  s.items.refused = 7;
  s.stages[0].failed = 3;
  s.stages[1].name = "decode";  // the same name twice
  s.segments.resize(2);
  s.segments[1].compute = {5, 10'000, 1'000, 2'000, 3'000, 4'000};
  s.age = {13, 26'000'000'007, 1'000'000'000, 2'000'000'000, 2'500'000'000, 3'000'000'000};
  s.occupied = {20, 40, 1, 2, 5, 6};
  return s;
}

TEST_CASE("every line follows the format, and every number is there") {
  const exposition e(lv::prometheus_text(some()));
  CHECK(e.value("levada_items_pushed_total") == 20);
  CHECK(e.value("levada_items_total", {{"outcome", "failed"}}) == 3);
  CHECK(e.value("levada_items_in_flight") == 3);
  CHECK(e.value("levada_items_dropped_total", {{"reason", "replaced"}}) == 0);
  CHECK(e.value("levada_items_dropped_total", {{"reason", "overdue"}}) == 1);
  CHECK(e.value("levada_pushes_refused_total") == 7);
  CHECK(e.value("levada_stage_items_total", {{"stage", "decode"}, {"position", "0"}}) == 20);
  CHECK(e.value("levada_stage_items_total", {{"stage", "decode"}, {"position", "1"}}) == 0);
  CHECK(e.value("levada_stage_ended_total", {{"position", "0"}, {"outcome", "failed"}}) == 3);
  CHECK(e.value("levada_stage_seconds", {{"position", "0"}, {"quantile", "0.5"}}) == doctest::Approx(0.1));
  CHECK(e.value("levada_stage_seconds", {{"position", "0"}, {"quantile", "0"}}) == doctest::Approx(1e-9));
  CHECK(e.value("levada_stage_seconds_sum", {{"position", "0"}}) == doctest::Approx(1.5));
  CHECK(e.value("levada_stage_seconds_count", {{"position", "0"}}) == 10);
  CHECK(std::isnan(e.value("levada_stage_seconds", {{"position", "1"}, {"quantile", "0.99"}})));
  CHECK(e.value("levada_stage_seconds_count", {{"position", "1"}}) == 0);
  CHECK(e.value("levada_device_seconds_sum", {{"segment", "1"}, {"part", "compute"}}) == doctest::Approx(1e-5));
  for (const auto& s : e.samples)
    if (s.name == "levada_device_seconds_count") CHECK(s.labels.at("part") == "compute");
  CHECK(e.value("levada_age_seconds_sum") == doctest::Approx(26.000000007).epsilon(1e-12));
  CHECK(e.value("levada_age_seconds", {{"quantile", "0.99"}}) == 2.5);
  CHECK(e.value("levada_slots") == 64);
  CHECK(e.value("levada_slots_occupied_max") == 6);
}

TEST_CASE("labels are on every sample, and whatever is in them is escaped") {
  lv::session_statistics s = some();
  s.stages[0].name = "a \"b\"\\n\nc";
  const std::string odd = "C:\\cam\n\"2\"";
  const lv::prometheus_label labels[] = {{"pipeline", odd}, {"host", "\xc3\xa9"}};
  const exposition e(lv::prometheus_text(s, labels));
  for (const sample& one : e.samples) {
    CHECK(one.labels.at("pipeline") == odd);
    CHECK(one.labels.at("host") == "\xc3\xa9");
  }
  CHECK(e.value("levada_stage_items_total", {{"stage", "a \"b\"\\n\nc"}}) == 20);
}

TEST_CASE("a page is UTF-8, whatever labels and stages are called") {
  lv::session_statistics s = some();
  s.stages[0].name = "\xff\xc3\x28 caf\u00e9\t\xed\xa0\x80";
  const lv::prometheus_label labels[] = {{"pipeline", "\xc3"}, {"host", std::string_view("a\0b", 3)}};
  const std::string text = lv::prometheus_text(s, labels);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = lv::detail::utf8_length(text, at);
    REQUIRE(length > 0);
    at += length;
  }
  const exposition e(text);
  CHECK(e.value("levada_stage_items_total", {{"stage", "\ufffd\ufffd( caf\u00e9\t\ufffd\ufffd\ufffd"}}) == 20);
  CHECK(e.value("levada_slots", {{"pipeline", "\ufffd"},
                                 {"host",
                                  "a\ufffd"
                                  "b"}}) == 64);
  // Two sessions that are told apart by such bytes alone are one on the page.
  const lv::prometheus_label one[] = {{"pipeline", "\xff"}}, other[] = {{"pipeline", "\xfe"}};
  const std::vector<lv::labelled_statistics> both{{one, some()}, {other, some()}};
  CHECK_THROWS_WITH_AS(lv::prometheus_text(both), "levada: prometheus_text: two sessions have the same labels",
                       lv::error);
}

TEST_CASE("a label name that Prometheus does not take, or that is taken, is refused") {
  for (const char* name : {"", "1a", "a-b", "__name__", "stage", "quantile", "le", "caf\xc3\xa9"}) {
    CAPTURE(name);
    const lv::prometheus_label labels[] = {{name, "x"}};
    CHECK_THROWS_AS(lv::prometheus_text(some(), labels), lv::error);
  }
  const lv::prometheus_label twice[] = {{"a", "x"}, {"a", "y"}};
  CHECK_THROWS_WITH_AS(lv::prometheus_text(some(), twice), "levada: prometheus_text: label \"a\" cannot be used",
                       lv::error);
}

TEST_CASE("several sessions are one page: each metric has its lines once, and the samples of all below") {
  const lv::prometheus_label left[] = {{"camera", "left"}}, right[] = {{"camera", "right"}};
  lv::session_statistics other = some();
  other.slots = 8;
  other.stages.pop_back();
  const lv::labelled_statistics both[] = {{left, some()}, {right, other}};
  const exposition e(lv::prometheus_text(both));
  CHECK(e.value("levada_slots", {{"camera", "left"}}) == 64);
  CHECK(e.value("levada_slots", {{"camera", "right"}}) == 8);
  const exposition one(lv::prometheus_text(some(), left)), another(lv::prometheus_text(other, right));
  CHECK(e.types == one.types);
  CHECK(e.samples.size() == one.samples.size() + another.samples.size());
  for (const exposition* alone : {&one, &another})
    for (const sample& s : alone->samples)
      if (!std::isnan(s.value)) CHECK(e.value(s.name, s.labels) == s.value);
}

TEST_CASE("sessions that Prometheus could not tell apart are refused") {
  const lv::prometheus_label ab[] = {{"a", "1"}, {"b", "2"}}, ba[] = {{"b", "2"}, {"a", "1"}}, empty[] = {{"a", ""}},
                             wrong[] = {{"le", "1"}};
  using list = std::vector<lv::labelled_statistics>;
  const std::string same = "levada: prometheus_text: two sessions have the same labels";
  CHECK_THROWS_WITH_AS(lv::prometheus_text(list{{ab, some()}, {ba, some()}}), same.c_str(), lv::error);
  CHECK_THROWS_WITH_AS(lv::prometheus_text(list{{ab, some()}, {{}, some()}, {empty, some()}}), same.c_str(), lv::error);
  CHECK_THROWS_AS(lv::prometheus_text(list{{ab, some()}, {wrong, some()}}), lv::error);
  const exposition e(lv::prometheus_text(list{{ab, some()}, {{}, some()}}));
  CHECK(e.value("levada_slots", {{"a", "1"}, {"b", "2"}}) == 64);
}

TEST_CASE("a session's own statistics are written the same way") {
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"twice">([](const int& x) { return 2 * x; }));
  auto session = app.open();
  session.measure();
  for (int i = 0; i < 30; ++i) session.push(i);
  session.close();
  while (session.pop()) {
  }
  const exposition e(lv::prometheus_text(session.statistics()));
  CHECK(e.value("levada_items_total", {{"outcome", "delivered"}}) == 30);
  CHECK(e.value("levada_stage_items_total", {{"stage", "twice"}}) == 30);
  CHECK(e.value("levada_age_seconds_count") == 30);
}

TEST_CASE("regions behind a change of the rate have outcomes of their own") {
  lv::session_statistics s = some();
  CHECK(lv::prometheus_text(s).find("levada_region_items_total") == std::string::npos);
  s.regions_behind.push_back({.pushed = 3, .delivered = 2, .failed = 1});
  s.regions_behind.push_back({.pushed = 9, .delivered = 9});
  const exposition e(lv::prometheus_text(s));
  CHECK(e.value("levada_region_items_total", {{"rate_region", "1"}, {"outcome", "failed"}}) == 1);
  CHECK(e.value("levada_region_items_total", {{"rate_region", "2"}, {"outcome", "delivered"}}) == 9);
}

}  // namespace run_prometheus
