// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html_report.hpp: a plan, why it is as it is, and what a run of it measured, as one page for a browser that
// needs nothing else: the graph, kernels with their costs and alternatives, memory over time, timelines.
//
//   lv::report(app, "plan.html");                // the plan
//   lv::report(app, session, "plan.html");       // and what this session, or stream, measured and traced

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/whole_file.hpp>
#include <levada/interop/html/data.hpp>
#include <levada/interop/html/page.hpp>
#include <levada/interop/planned_from.hpp>
#include <levada/plan/detail/promises_report.hpp>
#include <levada/run/detail/measure/verification_report.hpp>

namespace levada {
namespace detail {

/// Of an app, region by region.
template <class App>
[[gnu::always_inline]] inline void write_regions(json_writer& json, std::span<const deployed_streams> deployed) {
  using deployment_types = typename deployment_types_of<App>::type;
  json.key("regions");
  json.open('[');
  if constexpr (deployment_types::changes_rate)
    [&]<std::size_t... R>(std::index_sequence<R...>) {
      constexpr auto rates = deployment_types::plan.rate;
      constexpr auto repetitions = deployment_types::plan.repetitions;
      (planned_from<typename deployment_types::template planning<R>>::visit([&](
           const auto& plan, const plan_choice& choice) __attribute__((always_inline)) {
         write_region(json, plan, choice, rates[R], repetitions[R], deployed);
       }),
       ...);
    }(std::make_index_sequence<deployment_types::regions>());
  else
    planned_from<typename deployment_types::planning>::visit([&](const auto& plan, const plan_choice& choice)
                                                                 __attribute__((always_inline)) {
                                                                   write_region(json, plan, choice, {}, 1, deployed);
                                                                 });
  json.close(']');
}

}  // namespace detail

/// The page as a text: the plan of an app, and what a run of it measured where that is given.
template <class App>
[[gnu::always_inline]] inline std::string html_report(const App& app, const session_statistics* statistics = nullptr,
                                                      const session_trace* trace = nullptr,
                                                      const verification* verified = nullptr) {
  detail::json_writer json;
  json.open('{');
  const auto deployed = app.streams_at_servers();
  detail::write_regions<App>(json, {deployed.begin(), deployed.end()});
  if (verified != nullptr) {
    json.key("verification");
    detail::write_verification(json, *verified);
    json.field("verified", text_report(*verified));
  }
  if constexpr (requires { typename App::types::promises; }) {
    constexpr promised_times promises = App::types::promises::values;
    json.key("promises");
    detail::write_promises(json, promises);
    json.field("promised", text_report(promises));
  }
  detail::write_run(json, statistics, trace);
  json.close('}');
  return detail::html_page(json.take());
}

/// The same of a plan that was made from values.
template <std::size_t N>
std::string html_report(const plan_info<N>& plan, const plan_choice& choice,
                        const session_statistics* statistics = nullptr, const session_trace* trace = nullptr) {
  detail::json_writer json;
  json.open('{');
  json.key("regions");
  json.open('[');
  detail::write_region(json, plan, choice, {}, 1);
  json.close(']');
  detail::write_run(json, statistics, trace);
  json.close('}');
  return detail::html_page(json.take());
}

/// Writes the page into a file. Throws levada::error where it cannot be written; what was there is there then.
template <class App>
  requires requires { typename detail::deployment_types_of<App>::type; }
[[gnu::always_inline]] inline void report(const App& app, const std::string& path) {
  detail::write_whole(path, html_report(app), "report");
}

/// With what it takes on this machine: `report(app, app.verify(sample), "plan.html")`.
template <class App>
  requires requires { typename detail::deployment_types_of<App>::type; }
[[gnu::always_inline]] inline void report(const App& app, const verification& verified, const std::string& path) {
  detail::write_whole(path, html_report(app, nullptr, nullptr, &verified), "report");
}

/// With what a session or a stream of the app measured, and its trace: `session.measure()` and `session.trace()` switch
/// them on.
template <class App, class Session>
  requires requires(Session& run) {
    typename detail::deployment_types_of<App>::type;
    run.statistics();
    run.traced();
  }
[[gnu::always_inline]] inline void report(const App& app, Session& session, const std::string& path) {
  const session_statistics statistics = session.statistics();
  const session_trace trace = session.traced();
  detail::write_whole(path, html_report(app, &statistics, &trace), "report");
}

}  // namespace levada
