// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/pinned.hpp: what has changed since a plan was saved, as a compile error.

#include <cstddef>
#include <string_view>

#include <levada/graph/detail/mistake.hpp>
#include <levada/plan/detail/saved.hpp>

namespace levada {

template <std::size_t Byte>
struct pinned_plan_is_malformed : detail::mistake {};
template <fixed_string InThePipeline, fixed_string InThePlan, std::size_t Index>
struct pinned_plan_names_another_stage : detail::mistake {};
template <std::size_t InThePipeline, std::size_t InThePlan>
struct pinned_plan_has_another_number_of_stages : detail::mistake {};
template <fixed_string Stage, fixed_string Device>
struct pinned_plan_names_a_device_the_target_lacks : detail::mistake {};
template <fixed_string Stage, fixed_string InThePipeline, fixed_string InThePlan>
struct pinned_plan_contradicts_the_device_of_the_stage : detail::mistake {};
template <fixed_string Stage>
struct pinned_plan_has_no_border_after_the_stage : detail::mistake {};
template <fixed_string Stage, fixed_string Device>
struct pinned_plan_puts_a_callable_on_a_device_that_runs_none : detail::mistake {};
template <fixed_string Stage>
struct pinned_plan_names_no_backend_for_the_op : detail::mistake {};
template <fixed_string Backend, fixed_string Device>
struct pinned_plan_names_a_backend_that_is_not_there : detail::mistake {};
template <fixed_string Backend, fixed_string FirstStage>
struct pinned_plan_fuses_what_the_backend_does_not_take : detail::mistake {};

namespace detail {

template <class Text>
constexpr void append_unescaped(Text& text, written_name name) {
  name.each([&](char c) { text += c; });
}

template <fixed_string Line, const auto& Graph, const auto& Devices, const auto& Candidates, const auto& Backends>
struct pinned_reading {
  static constexpr auto reading = read_plan(Line, Graph, Devices, Candidates, Backends);

  static consteval auto mistake() {
    using enum plan_change;
    if constexpr (reading.change == none)
      return no_mistake{};
    else if constexpr (reading.change == malformed)
      return pinned_plan_is_malformed<reading.at>{};
    else if constexpr (reading.change == stage_count)
      return pinned_plan_has_another_number_of_stages<Graph.nodes.size(), reading.count>{};
    else {
      constexpr auto stage_name = written_fixed_string<[](auto& into) { into += Graph.nodes[reading.at].name; }>();
      constexpr auto pin_name =
          written_fixed_string<[](auto& into) { append_device(into, Graph.nodes[reading.at].pin); }>();
      constexpr auto saved_name =
          written_fixed_string<[](auto& into) { append_unescaped(into, reading.written.name); }>();
      constexpr auto device_name =
          written_fixed_string<[](auto& into) { append_device(into, reading.written.device); }>();
      constexpr auto backend_name =
          written_fixed_string<[](auto& into) { append_unescaped(into, reading.written.backend); }>();
      if constexpr (reading.change == stage)
        return pinned_plan_names_another_stage<stage_name, saved_name, reading.at>{};
      else if constexpr (reading.change == device)
        return pinned_plan_names_a_device_the_target_lacks<stage_name, device_name>{};
      else if constexpr (reading.change == pin)
        return pinned_plan_contradicts_the_device_of_the_stage<stage_name, pin_name, device_name>{};
      else if constexpr (reading.change == border)
        return pinned_plan_has_no_border_after_the_stage<stage_name>{};
      else if constexpr (reading.change == callable_device)
        return pinned_plan_puts_a_callable_on_a_device_that_runs_none<stage_name, device_name>{};
      else if constexpr (reading.change == missing_backend)
        return pinned_plan_names_no_backend_for_the_op<stage_name>{};
      else if constexpr (reading.change == backend)
        return pinned_plan_names_a_backend_that_is_not_there<backend_name, device_name>{};
      else
        return pinned_plan_fuses_what_the_backend_does_not_take<backend_name, stage_name>{};
    }
  }
};

}  // namespace detail

/// What has changed since the line was saved, or `no_mistake`. The arrays of values are the deployment's own.
template <fixed_string Line, const auto& Graph, const auto& Devices, const auto& Candidates, const auto& Backends>
using pinned_mistake = decltype(detail::pinned_reading<Line, Graph, Devices, Candidates, Backends>::mistake());

/// The partition and the slots that the line says; see `plan_reading`.
template <fixed_string Line, const auto& Graph, const auto& Devices, const auto& Candidates, const auto& Backends>
inline constexpr const auto& pinned_partition =
    detail::pinned_reading<Line, Graph, Devices, Candidates, Backends>::reading;

}  // namespace levada
