// SPDX-License-Identifier: Apache-2.0
// The log: lines of deployments and swaps reach the sink that is set, and nobody else.

#include <mutex>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <levada/core/detail/log.hpp>
#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/hot_swap.hpp>

namespace run_log {

namespace lv = levada;

struct kept_lines final : lv::log_sink {
  std::mutex mutex;
  std::vector<std::string> lines;
  void write(lv::log_level level, std::string_view line) noexcept override {
    const std::lock_guard lock(mutex);
    lines.push_back((level == lv::log_level::info ? "info " : "warning ") + std::string(line));
  }
};

auto two_stages() {
  return lv::deploy<lv::target<lv::cpu<1>>, lv::slots<3>>(lv::input<int> |
                                                          lv::stage<"a">([](const int& x) { return x + 1; }) |
                                                          lv::stage<"b">([](const int& x) { return x * 2; }));
}

TEST_CASE("a sink hears what is deployed and swapped while it is set") {
  kept_lines kept;
  static_cast<void>(two_stages());
  CHECK(lv::log_to(&kept) == nullptr);
  const auto app = two_stages();
  CHECK(app(1) == 4);
  lv::hot_swap<int(int)> admission_queue(app);
  admission_queue.swap(app);
  admission_queue.swap(app);
  CHECK(lv::log_to(nullptr) == &kept);
  admission_queue.swap(app);
  static_cast<void>(two_stages());
  CHECK(kept.lines == std::vector<std::string>{
                          "info deployed: \"a\" \"b\"; segments: 1, threads at once: 1, slots: 3",
                          "info hot_swap: swapped for the 1. time",
                          "info hot_swap: swapped for the 2. time",
                      });
}

TEST_CASE("a line of the log is one line of UTF-8, whatever stages are called") {
  kept_lines kept;
  CHECK(lv::log_to(&kept) == nullptr);
  static_cast<void>(lv::deploy<lv::target<lv::cpu<1>>, lv::slots<3>>(
      lv::input<int> | lv::stage<"a\n\xff \u00e4">([](const int& x) { return x + 1; })));
  CHECK(lv::log_to(nullptr) == &kept);
  CHECK(kept.lines ==
        std::vector<std::string>{"info deployed: \"a?\ufffd \u00e4\"; segments: 1, threads at once: 1, slots: 3"});
}

}  // namespace run_log
