// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/save_plan.hpp: the partition of an app into a file: as a header, from which the compiler builds the same
// again or says what changed; or as JSON, which interop/plan_file.hpp reads.
//
//   save(app, "box.plan.hpp");                       // deploy<box, pinned<box_plan>>(pipeline)
//   save(app, "box.plan.json");

#include <cstddef>
#include <string>
#include <string_view>

#include <levada/core/detail/whole_file.hpp>
#include <levada/interop/header_file.hpp>
#include <levada/interop/planned_from.hpp>
#include <levada/plan/detail/json_report.hpp>
#include <levada/plan/detail/saved.hpp>
#include <levada/run/detail/workers/machine.hpp>

namespace levada {
namespace detail {

inline std::string plan_header(const std::string& name, std::string_view line, std::string_view costs) {
  return "// The partition of an app, saved on " + machine_text() +
         (costs.empty() ? "" : "\n// by the costs of " + std::string(costs)) +
         ".\n#pragma once\n\n#include <levada/core/detail/fixed_string.hpp>\n\n// clang-format off\ninline constexpr "
         "levada::fixed_string " +
         name + "{\"" + literal_text(line) + "\"};\n";
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
  write_whole(path,
              path.ends_with(".json") ? json.take() : plan_header(constant_of_header(path, "_plan"), save(plan), costs),
              "plan");
}

}  // namespace detail

/// Writes the partition of an app: JSON with the whole plan where the path ends in ".json", else a header whose
/// constant, "box_plan" of "box.plan.hpp", is for `pinned`. Throws levada::error where it cannot be written; what was
/// there is there then.
template <class App>
  requires requires { typename detail::deployment_types_of<App>::type::planning; }
[[gnu::always_inline]] inline void save(const App&, const std::string& path) {
  detail::planned_from<typename detail::deployment_types_of<App>::type::planning>::visit([&](
      const auto& plan, const plan_choice& choice) __attribute__((always_inline)) {
    detail::write_plan_file(plan, choice.costs != nullptr ? choice.costs->machine : std::string_view(), path);
  });
}

}  // namespace levada
