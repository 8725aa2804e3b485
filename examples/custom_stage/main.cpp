// SPDX-License-Identifier: Apache-2.0
// Stages of one's own: own types, a stage that fails for some items, a filter, and a stage with state.
// Lines of a thermometer log become readings, implausible ones are filtered out, and a running mean raises alarms.

#include <charconv>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

namespace {

struct reading {
  std::string sensor;
  double celsius = 0;
};

struct judged {
  reading latest;
  double mean = 0;
  bool alarm = false;
};

/// Any callable is a stage. What it throws is delivered in the place of this one item; the others go on.
reading parse(const std::string& line) {
  const std::size_t space = line.find(' ');
  reading r;
  if (space != line.npos) {
    r.sensor = line.substr(0, space);
    const char* const end = line.data() + line.size();
    if (std::from_chars(line.data() + space + 1, end, r.celsius).ptr == end) return r;
  }
  throw std::invalid_argument("not a reading: \"" + line + "\"");
}

/// A stage that returns an optional is a filter.
std::optional<reading> plausible(reading&& r) {
  if (r.celsius < -90 || r.celsius > 60) return std::nullopt;
  return std::move(r);
}

/// State makes a stage serial: it sees the readings one by one, in the order of the lines. Each session has a copy of
/// its own.
struct watch {
  double mean = 20;

  judged operator()(reading&& r) {
    mean += 0.25 * (r.celsius - mean);
    return {.latest = std::move(r), .mean = mean, .alarm = mean > 30};
  }
};

}  // namespace

int main() {
  // clang-format off
  const auto watch_log = lv::input<std::string>
      | lv::stage<"parse">(parse)          // no state: works on several lines at once
      | lv::stage<"plausible">(plausible)
      | lv::stage<"watch">(watch{});       // state: takes one reading after the other, in order
  // clang-format on
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(watch_log);

  const std::vector<std::string> log{"cellar 19.5", "cellar 20.0", "roof 999",    "roof 35.5",  "roof thirty",
                                     "roof 41.0",   "roof 44.5",   "cellar 21.0", "roof 45.25", "roof"};

  // A session: push and pop, on one thread or two.
  auto session = app.open();
  for (const std::string& line : log) session.push(line);
  session.close();
  while (auto r = session.pop()) {
    try {
      const judged& j = r->value();
      std::printf("%-7s %6.2f C, mean %5.2f%s\n", j.latest.sensor.c_str(), j.latest.celsius, j.mean,
                  j.alarm ? "  ALARM" : "");
    } catch (const std::invalid_argument& e) {
      std::printf("%s\n", e.what());
    }
  }

  const auto counts = session.counts();
  std::printf("pushed %zu = delivered %zu + failed %zu + filtered %zu\n", counts.pushed, counts.delivered,
              counts.failed, counts.filtered);
  return counts.delivered == 7 && counts.failed == 2 && counts.filtered == 1 ? 0 : 1;
}
