// SPDX-License-Identifier: Apache-2.0
// A camera that does not wait: 60 pictures a second, in four buffers of its own, for a pipeline that manages 20. What
// counts is how old the results are, that every picture is accounted for, and that every buffer comes back once.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../common/run.hpp"
#include "ring.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/run/promises.hpp>
#include <nlohmann/json.hpp>

namespace {

namespace lv = levada;
using example::frame;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

using picture = lv::tensor<std::uint8_t, example::height, example::width, 3>;
using box = lv::target<lv::cpu<2>>;

using namespace lv::literals;
constexpr lv::duration between = 16'667_us;  // 60 pictures a second
constexpr std::chrono::nanoseconds period = between, service = 50ms;

/// What the model takes. What nobody measured counts as estimated.
constexpr lv::kernel_cost kernels[] = {{"callable", "model(uint8[480x640x3]) -> 4 bytes", 50e-3}};
constexpr lv::cost_table costs{.machine = "the accelerator that is imitated", .kernels = kernels};

/// Torn pictures are filtered while they still lie in the camera's memory.
std::optional<frame> whole(frame&& f) {
  const auto bright = [&](std::size_t y, std::size_t x) { return f->row(0, y)[x] > 128; };
  if (example::number_shown(bright, false) != example::number_shown(bright, true)) return std::nullopt;
  return std::move(f);
}

/// Stands for a model on some accelerator: takes its time, and tells which picture it saw.
std::uint32_t model(const picture& p) {
  std::this_thread::sleep_for(service);
  return example::number_shown([&](std::size_t y, std::size_t x) { return p(y, x, 1) > 128; }, false);
}

double milliseconds(steady_clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

double quantile(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Bytes of this process in memory; 0 where the system does not tell.
std::size_t resident() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, pages = 0;
  file >> all >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct outcome {
  lv::item_counts counts{};
  std::size_t captured = 0, skipped = 0, refused = 0;
  std::vector<double> ages;  ///< of each result when it is popped, in ms
  bool in_order = true;
  std::size_t early = 0, late = 0;  ///< bytes in memory after a tenth of the pictures and at the end
};

outcome film(example::frame_ring& ring, double seconds) {
  // More pictures come than the model takes: each session keeps the latest only, and the report says how many it drops.
  const auto app = lv::deploy<box, lv::slots<example::frame_ring::buffers>, lv::costs<costs>, lv::estimates_count,
                              lv::budget<lv::latency<60_ms>, lv::interval<51_ms>>, lv::latest_only>(
      lv::input<frame, lv::every<between>> | lv::stage<"whole">(&whole) | lv::image::to_rgb<> |
      lv::stage<"model">(lv::serial(&model)));
  std::printf("%s\n", lv::report(app).c_str());
  auto session = app.open();

  outcome o;
  const auto frames =
      static_cast<std::uint32_t>(std::max(1.0, seconds / std::chrono::duration<double>(period).count()));
  o.ages.reserve(frames);
  std::jthread camera([&] {
    const auto start = steady_clock::now();
    for (std::uint32_t number = 1; number <= frames; ++number) {
      std::this_thread::sleep_until(start + number * period);
      const steady_clock::time_point captured = steady_clock::now();
      std::optional<frame> f = ring.capture(number, number % 50 == 0);
      if (!f)
        ++o.skipped;
      else if (!session.try_push(std::move(*f), captured))
        ++o.refused;  // and `f` gives its buffer back
    }
    session.close();
  });

  std::uint32_t last = 0;
  lv::item_envelope envelope;
  while (const auto number = session.pop(envelope)) {
    const std::uint32_t n = number->value();
    o.in_order = o.in_order && n > last && n <= frames;
    last = n;
    o.ages.push_back(milliseconds(steady_clock::now() - envelope.captured));
    if (o.early == 0 && n >= frames / 10) o.early = resident();
  }
  o.late = resident();
  camera.join();
  o.captured = frames;
  o.counts = session.counts();
  return o;
}

int run(double seconds, const std::string& json) {
  example::frame_ring ring;
  outcome o = film(ring, seconds);  // the session is gone
  const lv::item_counts& c = o.counts;
  const double p50 = quantile(o.ages, 0.5), p99 = quantile(o.ages, 0.99), oldest = quantile(o.ages, 1);

  std::printf("%zu pictures at 60 a second: %zu skipped by the camera, %zu refused, %llu pushed\n", o.captured,
              o.skipped, o.refused, static_cast<unsigned long long>(c.pushed));
  std::printf(
      "pushed = %llu delivered + %llu failed + %llu filtered + %llu dropped + %llu cancelled + %llu in flight\n",
      static_cast<unsigned long long>(c.delivered), static_cast<unsigned long long>(c.failed),
      static_cast<unsigned long long>(c.filtered), static_cast<unsigned long long>(c.dropped),
      static_cast<unsigned long long>(c.cancelled), static_cast<unsigned long long>(c.in_flight));
  std::printf("age of a result: p50 %.1f ms, p99 %.1f ms, at most %.1f ms; the model takes %.0f ms\n", p50, p99, oldest,
              milliseconds(service));
  std::printf("buffers: %zu times lent, %zu times given back\n", ring.lent(), ring.returned());
  std::printf("memory: %zu KiB after a tenth of the pictures, %zu KiB at the end\n", o.early / 1024, o.late / 1024);

  const bool counted = c.pushed == c.delivered + c.failed + c.filtered + c.dropped + c.cancelled + c.in_flight &&
                       c.in_flight == 0 && c.delivered == o.ages.size() &&
                       o.captured == o.skipped + o.refused + c.pushed && ring.lent() == o.refused + c.pushed;
  if (!counted) std::printf("the counts do not add up\n");
  if (!o.in_order) std::printf("results came out of order\n");
  if (!ring.is_whole()) std::printf("a buffer was lost, or came back twice\n");
  const bool good = counted && o.in_order && ring.is_whole();

  if (!json.empty()) {
    const nlohmann::ordered_json report{
        {"captured", o.captured},
        {"skipped", o.skipped},
        {"refused", o.refused},
        {"counts",
         {{"pushed", c.pushed},
          {"delivered", c.delivered},
          {"failed", c.failed},
          {"filtered", c.filtered},
          {"dropped", c.dropped},
          {"cancelled", c.cancelled},
          {"in_flight", c.in_flight}}},
        {"service_ms", milliseconds(service)},
        {"age_ms", {{"p50", p50}, {"p99", p99}, {"max", oldest}}},
        {"buffers", {{"lent", ring.lent()}, {"returned", ring.returned()}}},
        {"resident_bytes", {{"early", o.early}, {"late", o.late}}},
        {"good", good},
    };
    std::ofstream file(json);
    file << report.dump(2) << '\n';
    if (!file) throw lv::error("levada: camera: " + json + " cannot be written");
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 3;
  std::string json;
  CLI::App arguments("A camera of 60 pictures a second before a model of 20.");
  arguments.add_option("--seconds", seconds, "How long to film")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 36000.0));
  arguments.add_option("--json", json, "Where the figures go");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return run(seconds, json); });
}
