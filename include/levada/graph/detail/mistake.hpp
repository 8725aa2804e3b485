// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/mistake.hpp: the sentences of compile errors. A wrong pipeline fails one constraint, `correct<...>`,
// whose argument is one of these types: its name is the sentence, its arguments are the place.

#include <cstddef>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>

namespace levada {

struct no_mistake {
  static constexpr bool is_mistake = false;
};

/// The constraint on a deployment: no mistake was found in it. Otherwise the argument says which and where.
template <class Mistake>
concept correct = !Mistake::is_mistake;

/// What a wrong call returns: `Mistake` is the sentence, its arguments are the place. Never defined, so that the call
/// is the one error, which spells out this type, and nothing behind it is looked at: what it was to initialise has no
/// type.
template <class Mistake>
struct mistake_found;

namespace detail {
struct mistake {
  static constexpr bool is_mistake = true;
};
}  // namespace detail

/// What is there, and what should be there instead: so that no reader of a sentence has to know the order of its
/// arguments.
template <class... Given>
struct gives {};
template <class... Wanted>
struct wants {};

namespace detail {
/// An item as a sentence shows it: specialised for items that are several, and for those that carry what no user
/// writes.
template <class Item, template <class...> class Role>
struct shown : type_tag<Role<Item>> {};
template <class Item>
using gives_item = typename shown<Item, gives>::type;
template <class Item>
using wants_item = typename shown<Item, wants>::type;
}  // namespace detail

/// What an op takes, in words, as a type.
template <fixed_string Text>
struct expects {};
/// What to write instead, as a type.
template <fixed_string Text>
struct write {};

// ---- what deploy is called with ----
template <class Given>
struct only_a_pipeline_can_be_deployed : detail::mistake {};
template <class Given>
struct deploy_needs_a_target_first : detail::mistake {};
template <class Pipeline>
struct pipeline_cannot_be_copied_write_std_move_around_it : detail::mistake {};
struct cpu_fallback_deploys_a_copy_of_a_pipeline_that_cannot_be_copied : detail::mistake {};
struct target_has_no_device : detail::mistake {};
template <class Given>
struct target_names_something_that_is_no_device : detail::mistake {};
template <class Device>
struct target_names_a_device_twice : detail::mistake {};
template <class Device>
struct device_takes_a_bound_on_its_memory_and_nothing_else : detail::mistake {};
template <class Devices>
struct any_of_takes_different_devices_of_one_kind_that_is_not_the_processor : detail::mistake {};
template <int Min, int Max>
struct cpu_needs_at_least_one_thread_and_a_maximum_not_below_its_minimum : detail::mistake {};
template <class Cpu>
struct cpu_takes_a_maximum_an_affinity_and_an_l2_each_once : detail::mistake {};
template <class Given>
struct deploy_has_no_such_option : detail::mistake {};
struct deploy_needs_at_least_one_slot : detail::mistake {};
template <class Option, class Again>
struct deploy_takes_each_option_once : detail::mistake {};
template <class Given>
struct deploy_counts_slots_in_32_bits : detail::mistake {};
template <class Given>
struct name_of_a_worker_has_15_characters_at_most : detail::mistake {};
template <class Given>
struct hook_of_a_worker_is_a_noexcept_function_that_takes_and_returns_nothing : detail::mistake {};

// ---- the line ----
template <class Given>
struct no_part_of_a_pipeline_write_stage_with_a_name_around_it : detail::mistake {};
template <class Given>
struct input_is_not_a_plain_object_type : detail::mistake {};
template <class... Given>
struct input_takes_a_pace_longer_than_nothing_and_nothing_else : detail::mistake {};
struct pipeline_has_no_stage : detail::mistake {};
template <fixed_string Stage, class Parameter>
struct stage_takes_beside_its_item_what_is_no_reference_to_plain_data : detail::mistake {};
template <fixed_string Stage>
struct stage_that_writes_into_its_second_argument_has_to_name_its_output : detail::mistake {};
template <fixed_string Stage>
struct stage_reads_side_data_that_no_stage_before_it_attached : detail::mistake {};
template <fixed_string FirstStage>
struct pipeline_starts_without_input_or_source : detail::mistake {};
template <fixed_string Before, class Given, fixed_string Stage, class Taken>
struct stage_cannot_take_what_the_one_before_gives : detail::mistake {};
template <fixed_string Stage, class Item, class Write>
struct image_op_has_to_be_told_the_order_of_axes_hwc_or_chw : detail::mistake {};
template <fixed_string Before, auto Given, fixed_string Stage, auto Taken>
struct stage_takes_another_order_of_axes_than_the_one_before_gives : detail::mistake {};
template <fixed_string Before, auto Given, fixed_string Stage, class Item>
struct stage_takes_features_along_the_last_axis_flatten_the_picture_before_it : detail::mistake {};
template <fixed_string Stage, class Option, class Again>
struct op_takes_each_option_once : detail::mistake {};
template <fixed_string Before, class Given, class Declared>
struct nested_pipeline_declares_another_input_than_it_gets : detail::mistake {};
template <fixed_string Before, fixed_string Source>
struct source_is_not_the_first_stage : detail::mistake {};
template <fixed_string Sink, fixed_string Next>
struct nothing_can_follow_a_sink : detail::mistake {};

// ---- branches ----
template <std::size_t Branches>
struct fork_takes_two_to_eight_branches : detail::mistake {};
template <fixed_string Stage>
struct stage_behind_a_fork_has_to_join_its_branches : detail::mistake {};
template <fixed_string Join, class Given>
struct join_has_no_fork_before_it : detail::mistake {};
struct fork_is_joined_by_no_stage : detail::mistake {};
template <fixed_string Sink>
struct branch_ends_in_a_sink_and_gives_nothing_to_join : detail::mistake {};
template <fixed_string Last, class Item>
struct tee_has_to_end_in_a_sink : detail::mistake {};
template <fixed_string Filter>
struct filter_in_a_branch_would_leave_its_join_without_a_partner : detail::mistake {};
template <fixed_string Stage>
struct stage_changes_or_consumes_an_item_that_another_branch_takes_too : detail::mistake {};
template <fixed_string Node>
struct graph_has_two_nodes_of_that_name : detail::mistake {};
template <fixed_string Node, fixed_string Name>
struct graph_has_no_node_or_port_of_that_name : detail::mistake {};
template <fixed_string Node>
struct graph_node_takes_what_it_gives_itself : detail::mistake {};
template <fixed_string Node, fixed_string Later>
struct graph_node_takes_what_a_node_behind_it_gives : detail::mistake {};
template <fixed_string Node>
struct graph_node_takes_nothing : detail::mistake {};
template <fixed_string NodeOrPort>
struct nothing_in_the_graph_takes_what_this_gives : detail::mistake {};
template <fixed_string Output>
struct graph_output_is_its_input : detail::mistake {};
template <fixed_string Output, fixed_string Node>
struct graph_gives_the_same_by_two_names : detail::mistake {};
template <class Given>
struct graph_is_ports_then_nodes_then_outputs : detail::mistake {};
template <class Given, class Ports>
struct graph_of_several_ports_takes_other_items : detail::mistake {};

// ---- stages that hold pipelines ----
template <fixed_string ForEach>
struct for_each_is_followed_by_no_collect : detail::mistake {};
template <fixed_string Before, class Given>
struct collect_has_no_for_each_before_it : detail::mistake {};
template <fixed_string ForEach>
struct for_each_has_room_for_one_part_or_more : detail::mistake {};
template <fixed_string ForEach, class Item>
struct what_for_each_collects_has_no_default_constructor : detail::mistake {};
template <fixed_string ForEach, class Item>
struct what_for_each_collects_cannot_be_assigned : detail::mistake {};
template <fixed_string Route, std::size_t Branches>
struct route_takes_a_choice_and_two_to_eight_branches : detail::mistake {};
template <fixed_string Route, class Item>
struct route_is_chosen_by_a_bool_or_an_index_of_the_item : detail::mistake {};
template <fixed_string Route, std::size_t Branches>
struct route_by_a_bool_has_two_branches : detail::mistake {};
template <fixed_string Route, class One, class Another>
struct branches_of_a_route_give_different_items : detail::mistake {};
template <fixed_string Route, fixed_string Filter>
struct filter_inside_a_route_belongs_behind_it : detail::mistake {};
template <fixed_string Outer, fixed_string Last>
struct pipeline_inside_a_stage_ends_in_a_sink_and_gives_nothing : detail::mistake {};
template <fixed_string Outer>
struct group_of_parameters_belongs_inside_the_stage_that_holds_them : detail::mistake {};
template <fixed_string Outer, fixed_string Stage, class Device>
struct stages_inside_another_run_where_that_one_runs : detail::mistake {};
template <fixed_string Outer, fixed_string Stage>
struct stages_inside_another_see_no_envelope : detail::mistake {};
template <fixed_string Outer, fixed_string Stage, class Item>
struct stage_inside_another_changes_or_consumes_what_cannot_be_copied : detail::mistake {};

// ---- feedback ----
template <fixed_string State, class Delay>
struct feedback_comes_back_after_one_item_or_more : detail::mistake {};
template <fixed_string State, class Type>
struct feedback_state_cannot_be_copied : detail::mistake {};
template <fixed_string State>
struct feedback_body_has_no_port_of_that_name : detail::mistake {};
template <fixed_string State>
struct feedback_body_has_no_output_of_that_name : detail::mistake {};
template <fixed_string State, class Taken, class Initial>
struct feedback_body_takes_another_state_than_the_initial_one : detail::mistake {};
template <fixed_string State, fixed_string Last, class Given, class Initial>
struct feedback_body_gives_another_state_than_the_initial_one : detail::mistake {};
template <fixed_string Stage, class Device>
struct stage_inside_a_feedback_cannot_run_on_a_device_of_its_own : detail::mistake {};
template <fixed_string State, fixed_string Rate>
struct feedback_would_wait_for_the_state_of_items_that_its_body_takes_together : detail::mistake {};
template <fixed_string Stage>
struct feedback_cannot_be_split_behind_a_stage_inside_it : detail::mistake {};

// ---- rates ----
template <fixed_string Rate, std::size_t... Numbers>
struct rate_takes_and_gives_one_item_or_more : detail::mistake {};
template <fixed_string Rate, class Item>
struct what_a_rate_gives_has_no_default_constructor : detail::mistake {};
template <fixed_string Rate, class Callable>
struct callable_of_a_rate_cannot_be_copied : detail::mistake {};
template <fixed_string Rate, class Given>
struct rate_has_no_such_option : detail::mistake {};
template <fixed_string Rate, class Option>
struct rate_takes_each_option_once : detail::mistake {};
template <fixed_string Rate, class Given>
struct rate_cannot_take_what_the_stage_before_gives : detail::mistake {};
template <fixed_string Rate>
struct rate_changes_inside_a_branch : detail::mistake {};
/// So many items given of so many taken.
template <std::size_t Gives, std::size_t Takes>
struct given_of {};
template <class First, std::size_t Branch, class Other>
struct branches_of_a_fork_give_at_different_rates : detail::mistake {};
template <fixed_string NodeOrOutput, class First, std::size_t Index, class Other>
struct graph_takes_together_what_comes_at_different_rates : detail::mistake {};
template <fixed_string NodeOrOutput>
struct graph_that_changes_its_rate_takes_whole_nodes : detail::mistake {};
template <fixed_string Rate, class Given>
struct rate_in_a_branch_depends_on_its_items : detail::mistake {};
template <fixed_string Rate>
struct rate_in_a_branch_knows_no_time : detail::mistake {};
struct split_after_counts_no_stages_where_the_rate_changes_write_split_here : detail::mistake {};
template <class Option>
struct deploy_option_is_not_for_a_pipeline_that_changes_its_rate : detail::mistake {};
struct any_pipeline_cannot_hold_a_pipeline_that_changes_its_rate : detail::mistake {};
struct pipeline_that_changes_its_rate_is_streamed_or_pushed_to_not_called : detail::mistake {};
template <class Result>
struct large_result_is_written_to_a_place_given_to_the_call_or_streamed_or_opened_with_external_results
    : detail::mistake {};
template <class Result>
struct large_result_of_any_pipeline_is_streamed_or_popped : detail::mistake {};

// ---- one callable ----
template <fixed_string Stage, class Member>
struct stage_is_a_pointer_to_a_member_write_a_lambda_that_calls_it : detail::mistake {};
template <fixed_string Stage, class ByReference>
struct stage_takes_a_large_item_by_value_write_const_reference : detail::mistake {};
template <fixed_string Stage>
struct generic_stage_returns_nothing_write_in_place_or_sink : detail::mistake {};
template <fixed_string Stage, class Item>
struct stage_changes_its_input_and_returns_another_item : detail::mistake {};
template <fixed_string Stage, class Item>
struct in_place_stage_cannot_be_called_with_a_reference_to_the_item : detail::mistake {};
template <fixed_string Stage, class Item>
struct sink_cannot_be_called_with_the_item : detail::mistake {};
template <fixed_string Stage, class In, class Out>
struct destination_stage_cannot_be_called_with_input_and_output : detail::mistake {};
template <fixed_string Stage, class Out>
struct output_of_a_destination_stage_has_no_default_constructor : detail::mistake {};
template <fixed_string Source>
struct source_does_not_return_an_optional_item : detail::mistake {};
template <fixed_string Stage, class Item>
struct item_cannot_be_moved : detail::mistake {};

template <fixed_string Stage, class Item>
struct only_a_stage_that_leaves_its_item_as_it_is_can_be_retried : detail::mistake {};
template <fixed_string Stage>
struct stage_is_told_of_missing_items_by_a_member_that_has_to_be_noexcept : detail::mistake {};

// ---- weights ----
template <fixed_string Stage, class Source>
struct weights_have_to_outlive_deploy_give_them_a_name : detail::mistake {};
template <fixed_string Stage, class Given>
struct weights_come_from_something_with_find : detail::mistake {};

// ---- parameters that are replaced ----
template <class F>
struct adjustable_takes_a_callable_without_state : detail::mistake {};
template <fixed_string Group>
struct pipeline_has_no_parameters_of_that_name : detail::mistake {};
template <fixed_string Group, fixed_string Parameter>
struct group_has_no_parameter_of_that_name : detail::mistake {};
template <fixed_string Group, fixed_string Parameter>
struct group_has_several_parameters_of_that_name_write_the_stage_and_a_dot_before_it : detail::mistake {};
template <fixed_string Group, fixed_string Parameter, class Given, class Wanted>
struct parameter_is_of_another_type_or_shape : detail::mistake {};

// ---- items of an app ----
template <class Item, class Given>
struct pipeline_takes_another_item : detail::mistake {};
template <class Given>
struct item_is_captured_at_a_time_point_of_the_steady_clock : detail::mistake {};
template <fixed_string Port, class Item>
struct session_has_no_port_of_that_name : detail::mistake {};
template <fixed_string Port, class Item, class Given>
struct port_takes_another_item : detail::mistake {};
template <fixed_string Output, class Outputs>
struct session_has_no_output_of_that_name : detail::mistake {};
template <class Item, class Range>
struct pipeline_streams_a_range_of_its_items : detail::mistake {};
template <class Item>
struct item_cannot_be_copied_move_it_in : detail::mistake {};
template <class Session>
struct results_are_handed_out_by_a_session_of_an_app_and_popped_from_any_other : detail::mistake {};
template <class Item, class Result>
struct results_of_a_session_with_external_results_are_popped_not_handed_out : detail::mistake {};
template <class Session>
struct session_takes_no_items_from_several_threads : detail::mistake {};
template <class Given>
struct on_error_takes_a_noexcept_function_of_a_sequence_number_and_an_exception : detail::mistake {};
template <class Declared, class Actual>
struct any_pipeline_has_another_signature : detail::mistake {};
struct any_pipeline_cannot_hold_a_source : detail::mistake {};
struct pipeline_with_a_source_is_run_or_streamed_not_opened : detail::mistake {};

// ---- splits and places ----
template <std::size_t Index, std::size_t Stages>
struct split_after_names_no_stage : detail::mistake {};
struct split_here_has_no_stage_on_one_side : detail::mistake {};
template <fixed_string Stage, class Device, class Target>
struct stage_is_pinned_to_a_device_the_target_lacks : detail::mistake {};
template <fixed_string Stage, class Device>
struct callable_cannot_run_on_this_device : detail::mistake {};
template <fixed_string Stage, class Devices>
struct stage_that_takes_its_items_in_order_cannot_run_on_several_devices_at_once : detail::mistake {};
template <class Device>
struct device_needs_the_header_that_brings_its_driver : detail::mistake {};
/// A backend has more kernels than those of the headers that were included.
template <fixed_string Header>
struct more_kernels_in {};
template <fixed_string Stage, class Op, class In, class Device, class... MoreKernelsIn>
struct no_backend_takes_this_op_on_this_device : detail::mistake {};
template <fixed_string Backend, fixed_string Stages, class Why>
struct backend_cannot_take_this_region_as_one : detail::mistake {};
// Why not.
struct a_stage_in_it_is_no_op {};
struct its_stages_are_not_in_a_line_of_which_each_gives_to_the_next_alone {};
struct a_border_of_two_segments_is_in_it {};
struct backend_is_not_among_those_of_the_deployment {};
struct backend_computes_on_no_device_of_the_target_where_these_stages_may_run {};
struct it_is_longer_than_what_the_backend_takes_as_one {};
struct backend_has_no_kernel_for_this_run_of_ops {};
struct rules_of_the_backend_do_not_find_it {};
struct its_longest_path_has_more_nodes_than_the_rules_allow {};
struct more_of_its_values_are_taken_outside_than_the_rules_allow {};
struct a_value_is_taken_inside_and_outside_which_the_rules_do_not_allow {};

}  // namespace levada
