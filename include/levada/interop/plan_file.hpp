// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/plan_file.hpp: the partition of an app in a file: as a header, from which the compiler builds the same again or says
// what changed; and as JSON, against which an app on another machine, or of another target, says what does not hold.
//
//   save(app, "box.plan.hpp");                       // deploy<box, pinned<box_plan>>(pipeline)
//   save(app, "box.plan.json");
//   for (const auto& sentence : check_plan(app, "box.plan.json")) ...

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/core/log.hpp>
#include <levada/interop/header_file.hpp>
#include <levada/interop/planned_from.hpp>
#include <levada/plan/json_report.hpp>
#include <levada/plan/saved_differences.hpp>
#include <levada/run/machine.hpp>

namespace levada {
namespace detail {

inline std::string plan_header(const std::string& name, std::string_view line, std::string_view costs) {
  std::string literal;
  for (const char c : line) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return "// The partition of an app, saved on " + machine_text() +
         (costs.empty() ? "" : "\n// by the costs of " + std::string(costs)) +
         ".\n#pragma once\n\n#include <levada/core/fixed_string.hpp>\n\n// clang-format off\ninline constexpr "
         "levada::fixed_string " +
         name + "{\"" + literal + "\"};\n";
}

/// A text of an object as json_writer writes it, the first of that name.
inline std::string text_field(std::string_view json, std::string_view name) {
  const std::string key = '"' + std::string(name) + "\":\"";
  std::size_t at = json.find(key);
  if (at == std::string_view::npos) return {};
  std::string text;
  for (at += key.size(); at < json.size() && json[at] != '"'; ++at) {
    if (json[at] != '\\') {
      text += json[at];
    } else if (++at < json.size() && json[at] == 'u' && at + 4 < json.size()) {
      text +=
          static_cast<char>(std::stoi(std::string(json.substr(at + 3, 2)), nullptr, 16));  // control characters alone
      at += 4;
    } else if (at < json.size()) {
      text += json[at];
    }
  }
  return text;
}

/// Whether a table has all kernels of a plan; the log has a warning where it lacks some.
template <std::size_t N>
bool are_measured(const plan_info<N>& plan, const cost_table& table) {
  const graph_costs<N> costs(plan.graph, std::span<const backend_info>(plan.backend.data(), plan.backend.size()),
                             table);
  std::size_t kernels = 0, missing = 0;
  std::string first;
  for (const planned_unit& u : plan.unit) {
    if (u.backend == partition_unit::callable) continue;
    ++kernels;
    if (costs.of_run(u.backend, u.first, u.count).origin == cost_origin::measured) continue;
    if (missing++ == 0) append_signature(first, plan.graph, u.first, u.count);
  }
  if (missing == 0) return true;
  log(log_level::warning, "stale costs: of " + std::to_string(kernels) + " kernels of the plan " +
                              std::to_string(missing) + " are not among them, the first: " + first);
  return false;
}

template <std::size_t N>
void write_plan_file(const plan_info<N>& plan, std::string_view costs, const std::string& path) {
  json_writer json;
  json.open('{');
  json.field("plan", save(plan));
  json.field("machine", machine_text());
  json.field("costs", costs);
  json.key("report");
  write_plan(json, plan);
  json.close('}');
  std::ofstream file(path, std::ios::binary);
  file << (path.ends_with(".json") ? json.take() : plan_header(constant_of_header(path, "_plan"), save(plan), costs));
  file.close();
  if (!file) throw error("levada: plan: cannot write \"" + path + "\"");
}

}  // namespace detail

/// Writes the partition of an app: JSON with the whole plan where the path ends in ".json", else a header whose constant, "box_plan" of
/// "box.plan.hpp", is for `pinned`. Throws levada::error where it cannot be written.
template <class App>
  requires requires { typename detail::rim_of<App>::type::planning; }
[[gnu::always_inline]] inline void save(const App&, const std::string& path) {
  detail::planned_from<typename detail::rim_of<App>::type::planning>::visit([&](
      const auto& plan, const plan_choice& choice) __attribute__((always_inline)) {
    detail::write_plan_file(plan, choice.costs != nullptr ? choice.costs->machine : std::string_view(), path);
  });
}

/// What of a plan saved as JSON does not hold for this app on this machine, a sentence each: another machine, costs that were
/// measured on another, a line that this target and these backends cannot build, stages that this app places otherwise. Throws
/// levada::error where the file cannot be read.
template <class App>
  requires requires { typename detail::rim_of<App>::type::planning; }
[[gnu::always_inline]] inline std::vector<std::string> check_plan(const App&, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw error("levada: plan: cannot read \"" + path + "\"");
  const std::string json = text.str(), line = detail::text_field(json, "plan"),
                    there = detail::text_field(json, "machine"), costs = detail::text_field(json, "costs");
  std::vector<std::string> found;
  if (const std::string here = detail::machine_text(); there != here) {
    found.push_back("it was made on " + there + ", this is " + here);
    if (!costs.empty() && costs != here) found.push_back("its costs are those of " + costs);
  }
  detail::planned_from<typename detail::rim_of<App>::type::planning>::visit([&](
      const auto& plan, const plan_choice& choice) __attribute__((always_inline)) {
    for (std::string& one : saved_differences(line, plan, choice.devices, choice.candidates, choice.backends))
      found.push_back(std::move(one));
  });
  return found;
}

/// Whether the costs that an app was placed by hold: measured on this machine, by this compiler and for these instructions, and
/// each kernel of the plan among them. What does not hold is a warning in the log. True without costs.
template <class App>
  requires requires { typename detail::rim_of<App>::type::planning; }
[[gnu::always_inline]] inline bool costs_hold(const App&) {
  using from = detail::planned_from<typename detail::rim_of<App>::type::planning>;
  constexpr const cost_table* table = detail::table_of<typename from::chooser>;
  if constexpr (table == nullptr)
    return true;
  else
    return from::visit([](const auto& plan, const plan_choice& choice) __attribute__((always_inline)) {
      return detail::are_measured(plan, *choice.costs) & detail::are_of_this_machine(choice.costs->machine);
    });
}

}  // namespace levada
