// SPDX-License-Identifier: Apache-2.0
// Several deployments in one program: the first that the machine can run, and the reasons why none before it.

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <levada/run/choose_deployment.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/thread_executor.hpp>

namespace run_choose_deployment {

namespace lv = levada;

auto adding(int n) {
  return lv::deploy<lv::target<lv::cpu<2>>, lv::run_by<lv::thread_executor>>(
      lv::input<int> | lv::stage<"add">(lv::parallel([n](const int& x) { return x + n; })));
}
lv::any_pipeline<int(int)> without_device() { throw lv::device_error("levada: vulkan<0>: no such device"); }
constexpr lv::machine_needs too_much{.processors = 1'000'000};

struct kept_lines final : lv::log_sink {
  void write(lv::log_level, std::string_view line) noexcept override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

TEST_CASE("the first deployment that the machine can run is chosen, and the log says which and why none before it") {
  kept_lines log;
  lv::log_sink* const before = lv::log_to(&log);
  const auto chosen = lv::choose_deployment<int(int)>({{"gpu", without_device},
                                                       {"many", [] { return adding(1); }, too_much},
                                                       {"plain", [] { return adding(2); }},
                                                       {"last", [] { return adding(3); }}});
  lv::log_to(before);
  CHECK(chosen.name == "plain");
  CHECK(chosen.app(1) == 3);
  CHECK(chosen.said.find("\"gpu\" cannot run: levada: vulkan<0>: no such device;") != std::string::npos);
  CHECK(chosen.said.find(" of 1000000 processors here;") != std::string::npos);
  CHECK(chosen.said.find("\"plain\" is chosen") != std::string::npos);
  CHECK(chosen.said.find("last") == std::string::npos);
  CHECK(log.lines.back() == chosen.said);
}

TEST_CASE("no deployment that can run is an error with all reasons") {
  try {
    static_cast<void>(
        lv::choose_deployment<int(int)>({{"gpu", without_device}, {"many", [] { return adding(1); }, too_much}}));
    FAIL("something was chosen");
  } catch (const lv::error& e) {
    const std::string said = e.what();
    CHECK(said.find("no deployment can run on this machine") != std::string::npos);
    CHECK(said.find("no such device") != std::string::npos);
    CHECK(said.find("processors here") != std::string::npos);
  }
}

TEST_CASE("what is wrong with a deployment itself is no reason to choose another") {
  const auto broken = []() -> lv::any_pipeline<int(int)> { throw std::runtime_error("no weights"); };
  CHECK_THROWS_WITH_AS(
      static_cast<void>(lv::choose_deployment<int(int)>({{"broken", broken}, {"plain", [] { return adding(2); }}})),
      "no weights", std::runtime_error);
}

TEST_CASE("wide instructions include narrow ones") {
  if (lv::detail::has_instructions(lv::instruction_set::avx512_vnni))
    CHECK(lv::detail::has_instructions(lv::instruction_set::avx512));
  if (lv::detail::has_instructions(lv::instruction_set::avx512))
    CHECK(lv::detail::has_instructions(lv::instruction_set::avx2));
  CHECK(lv::detail::has_instructions(lv::instruction_set::any));
}

}  // namespace run_choose_deployment
