// SPDX-License-Identifier: Apache-2.0
// Plans in files: the header builds the same partition again, and another deployment says what of the JSON does not
// hold for it.

#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <levada/backend/reference/detail/activation.hpp>
#include <levada/backend/simd/detail/activation.hpp>
#include <levada/backend/simd/detail/region.hpp>
#include <levada/interop/plan_file.hpp>
#include <levada/interop/report.hpp>
#include <levada/nn/activation.hpp>
#include <levada/plan/detail/pinned.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <nlohmann/json.hpp>

#include <files.hpp>
#include "box.plan.hpp"

namespace interop_plan_file {

namespace lv = levada;
using namespace levada::test;

bool has(const std::vector<std::string>& sentences, const char* wanted) {
  return std::find(sentences.begin(), sentences.end(), wanted) != sentences.end();
}

using vector = lv::tensor<float, 6>;
using box = lv::target<lv::cpu<2>>;
using simd_first = lv::backends<lv::simd, lv::reference>;
using reference_first = lv::backends<lv::reference, lv::simd>;

constexpr auto pipeline =
    lv::input<vector> | lv::nn::relu | lv::stage<"a \"\\n\" name">([](const vector& v) { return v[0]; });

constexpr lv::kernel_cost kernels[] = {{"simd", "relu(float[6]) -> float[6], 6 FLOP", 2e-6}};
constexpr lv::cost_table elsewhere{.machine = "another machine", .kernels = kernels};

struct kept_lines final : lv::log_sink {
  void write(lv::log_level level, std::string_view line) noexcept override {
    if (level == lv::log_level::warning) warnings.emplace_back(line);
  }
  std::vector<std::string> warnings;
};

TEST_CASE("from the header the compiler builds the same partition again; the JSON says who made it") {
  const temporary_folder in;
  const auto app = lv::deploy<box, simd_first>(pipeline);
  lv::save(app, in.file("box.plan.hpp"));
  const std::string header = contents_of(in.file("box.plan.hpp"));
  // box.plan.hpp beside this file is such a header: all but who made it.
  const std::string kept = contents_of(LEVADA_SOURCE_DIR "/tests/interop/box.plan.hpp");
  const auto from_pragma = [](const std::string& text) { return text.substr(text.find("#pragma once")); };
  CHECK(from_pragma(header) == from_pragma(kept));
  const auto again = lv::deploy<box, reference_first, lv::pinned<box_plan>>(pipeline);
  CHECK(lv::save(again) == lv::save(app));
  lv::save(app, in.file("box.plan.json"));
  const auto json = nlohmann::json::parse(contents_of(in.file("box.plan.json")));
  CHECK(json["plan"] == lv::save(app));
  CHECK(json["report"]["units"].size() == 2);
  CHECK(lv::check_plan(app, in.file("box.plan.json")).empty());
  CHECK_THROWS_WITH_AS(lv::save(app, "/no such folder/x.plan.hpp"),
                       "levada: plan: cannot write \"/no such folder/x.plan.hpp\": No such file or directory",
                       lv::error);
  CHECK_THROWS_WITH_AS(lv::check_plan(app, "/no such folder/x.plan.json"),
                       "levada: plan: cannot read \"/no such folder/x.plan.json\": No such file or directory",
                       lv::error);
}

TEST_CASE("a deployment of other backends says what the plan decides otherwise, and what it cannot build") {
  const temporary_folder in;
  const std::string path = in.file("box.plan.json");
  lv::save(lv::deploy<box, simd_first>(pipeline), path);
  const auto other = lv::deploy<box, reference_first, lv::slots<8>>(pipeline);
  const auto differences = lv::check_plan(other, path);
  CHECK(differences.size() == 2);
  CHECK(has(differences, "256 slots there, 8 here"));
  CHECK(has(differences, "\"relu\" is computed by simd on cpu there, reference on cpu here"));
  const auto alone = lv::deploy<box, lv::backends<lv::reference>>(pipeline);
  CHECK(has(lv::check_plan(alone, path), "\"relu\" is computed by \"simd\", which does not compute on cpu here"));
}

TEST_CASE("a plan of another machine, of another pipeline, or none") {
  const temporary_folder in;
  const std::string path = in.file("box.plan.json");
  const auto app = lv::deploy<box, simd_first>(pipeline);
  const auto check = [&](const char* json) {
    std::ofstream(path) << json;
    return lv::check_plan(app, path);
  };
  const auto of_another = check(
      R"json({"plan":"levada plan 1: 256 slots | vulkan<0>: spirv(\"relu\") | cpu: \"a \\\"\\\\n\\\" name\"",)json"
      R"json("machine":"a \"box\"","costs":"a third"})json");
  CHECK(of_another.front().starts_with("it was made on a \"box\", this is "));
  CHECK(has(of_another, "its costs are those of a third"));
  CHECK(has(of_another, "\"relu\" is on vulkan<0>, which the target lacks"));
  CHECK(has(of_another, "\"relu\" is computed by spirv on vulkan<0> there, simd on cpu here"));
  CHECK(has(of_another, "\"a \"\\n\" name\" begins a segment there, not here"));
  CHECK(has(check(R"json({"plan":"levada plan 1: 256 slots | cpu: simd(\"tanh\") \"x\""})json"),
            "stage 0 is \"tanh\" there, \"relu\" here"));
  CHECK(has(check(R"json({"plan":"levada plan 1: 256 slots | cpu: simd(\"relu\")"})json"), "1 stages there, 2 here"));
  CHECK(check(R"json({"plan":"levada plan 1: 256 slots | cpu: simd(\"relu\")"})json")
            .front()
            .starts_with("it was made on a machine that it does not name, this is "));
  CHECK(has(check(R"({"plan":"levada plan 2"})"), "the line is no plan from its byte 12 on"));
}

TEST_CASE("a file that is no saved plan is an error that says why") {
  const temporary_folder in;
  const std::string path = in.file("box.plan.json");
  const auto app = lv::deploy<box, simd_first>(pipeline);
  const auto error_of = [&](const std::string& of) -> std::string {
    try {
      return std::to_string(lv::check_plan(app, of).size()) + " differences";
    } catch (const lv::error& e) {
      return e.what();
    }
  };
  const auto refused = [&](const std::string& json) {
    std::ofstream(path) << json;
    const std::string text = error_of(path), before = "levada: plan: \"" + path + "\" ";
    return text.starts_with(before) ? text.substr(before.size()) : text;
  };
  CHECK(refused("{") == "is no JSON from its byte 2 on");
  std::filesystem::resize_file(path, 64'000'001);
  CHECK(error_of(path).ends_with("has 64000001 bytes; at most 64000000 are accepted"));
  CHECK(refused("") == "is no JSON from its byte 1 on");
  CHECK(refused("{}") == "is no saved plan: it has no text \"plan\"");
  CHECK(refused(R"(["plan","x"])") == "is no saved plan: it has no text \"plan\"");
  CHECK(refused(R"({"report":{"plan":"x"}})") == "is no saved plan: it has no text \"plan\"");
  CHECK(refused(R"({"plan":7})") == "is no saved plan: its \"plan\" is no text");
  CHECK(refused(R"({"plan":"x","machine":["y"]})") == "is no saved plan: its \"machine\" is no text");
  CHECK(refused(R"({"plan":"x","plan":"y"})") == "has the text \"plan\" twice");
  CHECK(refused(R"({"plan":"\u00zz"})") == "is no JSON from its byte 14 on");
  CHECK(refused("{\"plan\":\"\xff\"}") == "is no JSON from its byte 10 on");
  CHECK(refused(R"({"plan":"x"} {})") == "is no JSON from its byte 14 on");
  CHECK(refused(std::string(200'000, '[')) == "is nested deeper than 64");
  CHECK(refused(R"({"report":)" + std::string(200'000, '[')) == "is nested deeper than 64");

  const std::string cannot = "levada: plan: cannot read \"";
  CHECK(error_of(in.file("")) == cannot + in.file("") + "\": Is a directory");
  REQUIRE(::mkfifo(in.file("fifo").c_str(), 0600) == 0);
  CHECK(error_of(in.file("fifo")) == cannot + in.file("fifo") + "\": is no regular file");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  CHECK(error_of(path) == cannot + path + "\": has 1099511627776 bytes; at most 64000000 are accepted");
}

TEST_CASE("the texts of a plan are JSON's: escapes of any character, and any white space") {
  const temporary_folder in;
  const auto app = lv::deploy<box, lv::slots<8>>(lv::input<vector> |
                                                 lv::stage<"\u00e4\u20ac">([](const vector& v) { return v[0]; }));
  const std::string path = in.file("box.plan.json");
  std::ofstream(path) << "{ \"machine\"\t:\n\"" << lv::detail::machine_text()
                      << "\",\r\n \"plan\" : \"levada plan 1: 8 slots | cpu: \\\"\\u00e4\\u20AC\\\"\" }";
  CHECK(lv::check_plan(app, path) == std::vector<std::string>{});
}

TEST_CASE("a stage whose name is no UTF-8 has a plan that is the same when it is read again") {
  const temporary_folder in;
  const auto app = lv::deploy<box>(lv::input<vector> |
                                   lv::stage<"\xff\xc3\x28 \u00e4 \xed\xa0\x80">([](const vector& v) { return v[0]; }));
  CHECK(lv::save(app).ends_with(R"("\xff\xc3( )"
                                "\u00e4"
                                R"( \xed\xa0\x80")"));
  lv::save(app, in.file("box.plan.json"));
  CHECK(lv::check_plan(app, in.file("box.plan.json")).empty());
}

TEST_CASE("costs of another machine are stale, and the log says so") {
  kept_lines log;
  lv::log_sink* const before = lv::log_to(&log);
  CHECK(lv::costs_hold(lv::deploy<box, simd_first>(pipeline)));
  CHECK(log.warnings.empty());
  const auto app = lv::deploy<box, simd_first, lv::costs<elsewhere>>(pipeline);
  REQUIRE(log.warnings.size() == 1);
  CHECK(log.warnings[0].starts_with("stale costs: the app is placed by those of another machine, this is "));
  CHECK(!lv::costs_hold(app));
  REQUIRE(log.warnings.size() == 2);
  CHECK(log.warnings[1] == log.warnings[0]);
  CHECK(!lv::costs_hold(lv::deploy<box, reference_first, lv::costs<elsewhere>>(pipeline)));
  lv::log_to(before);
  REQUIRE(log.warnings.size() == 5);
  CHECK(log.warnings[3] ==
        "stale costs: of 1 kernels of the plan 1 are not among them, the first: relu(float[6]) -> float[6], 6 FLOP");
}

}  // namespace interop_plan_file
