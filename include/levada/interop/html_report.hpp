// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html_report.hpp: a plan, why it is as it is, and what a run of it measured, as one page for a browser that needs
// nothing else: the graph, kernels with their costs and alternatives, memory over time, timelines.
//
//   lv::report(app, "plan.html");                // the plan
//   lv::report(app, session, "plan.html");       // and what this session, or stream, measured and traced

#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/interop/html/data.hpp>
#include <levada/interop/html/page.hpp>
#include <levada/run/deploy.hpp>

namespace levada {
namespace detail {

template <class Option>
inline constexpr const cost_table* table_of = nullptr;
template <const cost_table& Table, objective Goal>
inline constexpr const cost_table* table_of<costs<Table, Goal>> = &Table;
template <class Option>
inline constexpr objective goal_of = objective::latency;
template <const cost_table& Table, objective Goal>
inline constexpr objective goal_of<costs<Table, Goal>> = Goal;

/// What a region of a deployment was planned from. Copies, since the constants themselves would become symbols that spell
/// out the pipeline.
template <class Planning>
struct planned_from;
template <class Flat, class Target, class... Options>
struct planned_from<planned<Flat, Target, Options...>> {
  using planning = planned<Flat, Target, Options...>;
  using chooser = typename partition_option<Options...>::type;

  [[gnu::always_inline]] static void write(json_writer& json, const planned_rate& rate, std::size_t times) {
    constexpr auto plan = planning::plan;
    constexpr auto candidates = planning::found::candidates;
    constexpr auto backends = backend_values<typename planning::backend_list>::values;
    const plan_choice choice{planning::devices, {candidates.data(), candidates.size()}, backends, table_of<chooser>,
                             goal_of<chooser>,  !std::is_void_v<typename planning::pin>};
    write_region(json, plan, choice, rate, times);
  }
};

template <class App>
struct regions_of_app;
template <class Rim, class Executor>
struct regions_of_app<executable<Rim, Executor>> {
  [[gnu::always_inline]] static void write(json_writer& json) {
    json.key("regions");
    json.open('[');
    if constexpr (Rim::changes_rate)
      [&]<std::size_t... R>(std::index_sequence<R...>) {
        constexpr auto rates = Rim::plan.rate;
        constexpr auto times = Rim::plan.times;
        (planned_from<typename Rim::template planning<R>>::write(json, rates[R], times[R]), ...);
      }(std::make_index_sequence<Rim::regions>());
    else
      planned_from<typename Rim::planning>::write(json, {}, 1);
    json.close(']');
  }
};

inline void write_page(const std::string& path, const std::string& page) {
  std::ofstream file(path, std::ios::binary);
  file << page;
  file.close();
  if (!file) throw error("levada: report: cannot write \"" + path + "\"");
}

}  // namespace detail

/// The page as a text: the plan of an app, and what a run of it measured where that is given.
template <class App>
[[gnu::always_inline]] inline std::string html_report(const App&, const session_statistics* statistics = nullptr,
                                                      const session_trace* trace = nullptr) {
  detail::json_writer json;
  json.open('{');
  detail::regions_of_app<App>::write(json);
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

/// Writes the page into a file. Throws levada::error where it cannot be written.
template <class App>
  requires requires { detail::regions_of_app<App>{}; }
[[gnu::always_inline]] inline void report(const App& app, const std::string& path) {
  detail::write_page(path, html_report(app));
}

/// With what a session or a stream of the app measured, and its trace: `session.measure()` and `session.trace()` switch them on.
template <class App, class Session>
  requires requires(Session& run) {
    detail::regions_of_app<App>{};
    run.statistics();
    run.traced();
  }
[[gnu::always_inline]] inline void report(const App& app, Session& session, const std::string& path) {
  const session_statistics statistics = session.statistics();
  const session_trace trace = session.traced();
  detail::write_page(path, html_report(app, &statistics, &trace));
}

}  // namespace levada
