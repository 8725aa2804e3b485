// SPDX-License-Identifier: Apache-2.0
#pragma once
// fuzz/plan_file_property.hpp: what must hold for any bytes at all given to the reader of saved plans.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <levada/interop/saved_plan.hpp>
#include <levada/plan/detail/json_report.hpp>
#include <levada/plan/detail/saved_differences.hpp>
#include <nlohmann/json.hpp>

#include "../plan/random_graph.hpp"

namespace levada_test {

/// What plans are compared with: the first byte says which of these.
inline const levada::test::random_deployment& planned(std::size_t which) {
  static const std::vector<levada::test::random_deployment> all = [] {
    std::vector<levada::test::random_deployment> some;
    for (unsigned seed = 0; seed < 16; ++seed) some.push_back(levada::test::make_random_deployment(seed));
    return some;
  }();
  return all[which % all.size()];
}

/// A file that `reads_plan_file` accepts, behind the byte that says of which deployment.
inline std::string plan_file_of(unsigned char which) {
  levada::detail::json_writer json;
  json.open('{');
  json.field("plan", levada::save(planned(which).plan()));
  json.field("machine", std::string_view("a \"box\""));
  json.field("costs", std::string_view());
  json.key("report");
  json.open('[');
  json.number(1.5);
  json.open('{');
  json.field("plan", std::size_t{1});
  json.close('}');
  json.close(']');
  json.close('}');
  return std::string(1, static_cast<char>(which)) + json.take();
}

enum class plan_file_outcome { refused, differs, same };

/// Reads `bytes` as the JSON of a saved plan, or, where the highest bit of the first byte is set, as its line alone;
/// and says what of it holds for a deployment. Refused is what a `levada::error` says; every other exception gets out,
/// and so does std::logic_error where another reader of JSON finds another line, or a partition that was read is none.
inline plan_file_outcome reads_plan_file(std::string_view bytes) {
  const unsigned char which = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
  const std::string_view text = bytes.substr(bytes.empty() ? 0 : 1);
  const levada::test::random_deployment& d = planned(which);
  std::string line(text);
  if (which < 0x80) {
    try {
      line = levada::detail::read_saved_plan(text, "f").line;
    } catch (const levada::error&) {
      return plan_file_outcome::refused;
    }
    if (nlohmann::json::parse(text).at("plan") != line) throw std::logic_error("another reader finds another line");
  }
  const auto own = d.plan();
  const auto differences = levada::saved_differences(line, own, d.devices, d.candidates, d.backends);
  const auto reading = levada::read_plan(line, d.graph, d.devices, d.candidates, d.backends);
  if (!reading) {
    if (differences.empty()) throw std::logic_error("what cannot be built does not differ");
    return plan_file_outcome::differs;
  }
  if (reading.slots < 100'000) {
    const auto built = levada::read_plan(levada::save(d.plan_with(reading.parts, reading.slots)), d.graph, d.devices,
                                         d.candidates, d.backends);
    if (!built || built.parts != reading.parts) throw std::logic_error("what was built is another plan");
  }
  return differences.empty() ? plan_file_outcome::same : plan_file_outcome::differs;
}

}  // namespace levada_test
