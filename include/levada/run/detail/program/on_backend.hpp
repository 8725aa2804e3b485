// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/on_backend.hpp: why a backend does not take a region that it was given by hand, as a compile
// error.

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/on_backend.hpp>
#include <levada/plan/detail/given.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada::detail {

/// In the order of `given_fault`.
using given_reasons =
    type_list<void, a_stage_in_it_is_no_op, its_stages_are_not_in_a_line_of_which_each_gives_to_the_next_alone,
              a_border_of_two_segments_is_in_it, backend_is_not_among_those_of_the_deployment,
              backend_computes_on_no_device_of_the_target_where_these_stages_may_run,
              it_is_longer_than_what_the_backend_takes_as_one, backend_has_no_kernel_for_this_run_of_ops,
              rules_of_the_backend_do_not_find_it, its_longest_path_has_more_nodes_than_the_rules_allow,
              more_of_its_values_are_taken_outside_than_the_rules_allow,
              a_value_is_taken_inside_and_outside_which_the_rules_do_not_allow>;

template <class Backend, class... B>
inline constexpr bool is_backend_of = (std::same_as<Backend, B> || ...);

/// `Planned` knows the flattened pipeline, its backends and its target.
template <class Planned, std::size_t Region>
struct given_check {
  using flat = typename Planned::flat;
  using given = type_at<typename flat::given_backends, Region - 1>;
  static constexpr const auto& graph = Planned::graph;
  static constexpr given_region region = find_given(graph, Region);

  template <class... B>
  static consteval bool is_known(type_list<B...>) {
    return is_backend_of<given, B...>;
  }
  template <std::size_t... I>
  static consteval bool has_kernel(std::index_sequence<I...>) {
    return Planned::found::template run<region.first, sizeof...(I)>::template taken_by<given>;
  }

  static consteval given_fault fault() {
    using enum given_fault;
    if constexpr (constexpr given_fault in_itself = fault_of_given(graph, region); in_itself != none) {
      return in_itself;
    } else if constexpr (!is_known(typename Planned::backend_types{})) {
      return given_fault::backend;
    } else if constexpr (!has_device_for(graph, region, {given::name, given::device}, Planned::devices)) {
      return device;
    } else if constexpr (region.count > given::longest_run) {
      return length;
    } else if constexpr (!has_kernel(std::make_index_sequence<region.count>{})) {
      return kernel;
    } else if constexpr (requires { given::rules; }) {
      constexpr auto answer = ask_rule(given::rules, graph, region.first, region.count);
      if (answer.is_found) return none;
      using limit = std::remove_const_t<decltype(answer.limit)>;
      return answer.limit == limit::depth   ? depth
             : answer.limit == limit::exits ? exits
             : answer.limit == limit::tap   ? tap
                                            : rules;
    } else {
      return none;
    }
  }

  static consteval auto mistake() {
    if constexpr (region.count == 0) {
      return no_mistake{};  // a part without stages
    } else if constexpr (constexpr given_fault found = fault(); found == given_fault::none) {
      return no_mistake{};
    } else {
      constexpr auto name = written_fixed_string<[](auto& into) { into += given::name; }>();
      constexpr auto stages = written_fixed_string<[](auto& into) {
        for (std::size_t n = region.first; n < region.behind; ++n) {
          if (graph.nodes[n].region != Region) continue;
          if (n != region.first) into += " + ";
          into += graph.nodes[n].name;
        }
      }>();
      return backend_cannot_take_this_region_as_one<name, stages,
                                                    type_at<given_reasons, static_cast<std::size_t>(found)>>{};
    }
  }
};

/// The first region that its backend does not take.
template <class Planned, std::size_t... R>
consteval auto find_given_mistake(std::index_sequence<R...>) {
  constexpr bool wrong[] = {decltype(given_check<Planned, R + 1>::mistake())::is_mistake...};
  if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(R))
    return given_check<Planned, at + 1>::mistake();
  else
    return no_mistake{};
}
template <class Planned>
consteval auto given_mistake() {
  if constexpr (Planned::flat::gives_regions)
    return find_given_mistake<Planned>(std::make_index_sequence<Planned::flat::given_backends::size>{});
  else
    return no_mistake{};
}

}  // namespace levada::detail
