// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/nested.hpp: pipelines inside a stage (graph/detail/nested.hpp). Each is planned for the processor
// with one slot, which lies in the scratchpad of the stage that holds it, as its own scratchpad does: so its memory is
// in the plan of the whole. Whoever runs the stage runs it, unit by unit. The backend `nested` takes these stages; it
// joins the others where a pipeline has one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/nested.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/program/inline_run.hpp>
#include <levada/run/detail/program/parameter_board.hpp>

namespace levada {
namespace detail {

/// Where the stages of a pipeline are.
struct bound_stages {
  const stage_address* first;
};

/// A planned pipeline inside a stage. Copies share the program and have states of their own.
template <class Planning>
class nested_program {
  static constexpr const auto& plan = Planning::plan;
  using flat = typename Planning::flat;
  using in = typename pipeline_types<flat>::input_item;
  using out = typename pipeline_types<flat>::output_item;

  static constexpr std::size_t scratch_behind = aligned(plan.slot_bytes, plan.alignment);
  static constexpr std::size_t segment_bytes = [] {
    std::size_t most = 0;
    for (const planned_segment& s : plan.segment) most = std::max(most, s.scratch_bytes());
    return most;
  }();
  static constexpr std::size_t shift = plan.alignment > cache_line ? plan.alignment - cache_line : 0;

 public:
  /// Of the scratchpad of the stage, aligned to a cache line.
  static constexpr std::size_t scratch_bytes = shift + scratch_behind + segment_bytes;
  static constexpr std::size_t weight_bytes = plan.bytes_weights;
  /// Each session has its own copy.
  static constexpr bool has_state = [] {
    constexpr auto texts = unit_texts<Planning>(std::make_index_sequence<plan.units>());
    for (const unit_descriptor* text : texts)
      if (text->own_copy) return true;
    return false;
  }();

  /// Parameters of its stages can be replaced.
  static constexpr bool has_groups = holds_groups<flat>;

  /// Binds the stages of `part`, which are moved from.
  template <class Part>
  explicit nested_program(Part& part) : code_(bind(part)) {}
  explicit nested_program(const bound_stages& of)
      : code_(std::make_shared<const program>(bind_plan<Planning, in, out>(of.first))) {}
  nested_program(const nested_program& other)
      : code_(other.code_), states_(has_state ? new session_states(*code_) : nullptr) {}
  nested_program(nested_program&&) = default;

  parameter_board<>* board() const { return static_cast<parameter_board<>*>(code_->board.get()); }

  /// Makes `into` from an item; false where a stage filters it. Throws what a stage throws. `objects`: of all units,
  /// where some are replaced.
  bool run(const in& item, void* into, std::byte* scratch, void* const* objects = nullptr) const {
    if constexpr (shift != 0) {
      const auto at = reinterpret_cast<std::uintptr_t>(scratch);
      scratch += aligned(at, plan.alignment) - at;
    }
    if constexpr (has_state) states_->used = true;
    inline_run run{*code_, scratch, scratch + scratch_behind, has_state ? states_->objects.begin() : nullptr, objects};
    run.into = static_cast<std::byte*>(into);
    const void* from = std::addressof(item);
    if constexpr (std::is_copy_constructible_v<in>)  // else nothing changes or consumes it
      if (code_->owns_input) from = ::new (run.input()) in(item);
    const item_state state = run(from);
    if (state == item_state::failed) std::rethrow_exception(run.error);
    return state == item_state::value;
  }

 private:
  template <class Part>
  static std::shared_ptr<const program> bind(Part& part) {
    stage_address stages[flat::stages + 1];
    stage_addresses visit{stages};
    for_each_stage(part, visit);
    return std::make_shared<const program>(bind_plan<Planning, in, out>(stages));
  }

  std::shared_ptr<const program> code_;
  owner<session_states> states_;
};

/// How a stage runs the pipelines that it holds: a kernel (graph/op.hpp) but for `make(in, into, scratch, inside)`,
/// which constructs its output; `inside` has the objects of the units of each pipeline, if any are replaced.
template <class Op, class In, class... Programs>
class nested_kernel;

/// The objects of the units of the `i`-th pipeline inside a stage.
inline void* const* objects_inside(void* const* inside, std::size_t i) {
  return inside != nullptr ? static_cast<void* const*>(inside[i]) : nullptr;
}

/// The options of a deployment that go for what is inside its stages.
template <class Option>
inline constexpr bool goes_inside = chooses_partition<Option>;
template <class... B>
inline constexpr bool goes_inside<backends<B...>> = true;

template <class Target, class Options>
struct nested_planning;
template <class Target, class... Options>
struct nested_planning<Target, type_list<Options...>> {
  using target = typename processor_of<Target>::type;
  static constexpr bool has_processor = !std::same_as<target, levada::target<>>;
  template <class Pipeline>
  using of = planned<typename Pipeline::flat, target, Options..., slots<1>, without_workers>;
  template <class Pipeline>
  using mistake = decltype(plan_mistake<typename Pipeline::flat, target, Options..., slots<1>, without_workers>());

  template <class Op, class In, class... Pipelines>
  static nested_kernel<Op, In, nested_program<of<Pipelines>>...> kernel_of(type_list<Pipelines...>);
  template <class... Pipelines>
  static consteval auto mistake_of(type_list<Pipelines...>) {
    constexpr bool wrong[] = {mistake<Pipelines>::is_mistake...};
    if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(Pipelines))
      return mistake<type_at<type_list<Pipelines...>, at>>{};
    else
      return no_mistake{};
  }
};

}  // namespace detail

/// The backend that runs stages that hold pipelines.
template <class Target, class Options>
struct nested {
  static constexpr std::string_view name = "nested";
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = 1;

  template <class In, class... Ops>
  struct no_kernel;
  template <class In, class... Ops>
  static no_kernel<In, Ops...> find(...);
  template <class In, class Op>
    requires requires { typename Op::holds_pipelines; }
  static auto find(int) -> decltype(detail::nested_planning<Target, Options>::template kernel_of<Op, In>(
      typename Op::template pipelines<In>{}));
  template <class In, class... Ops>
  using kernel = decltype(find<In, Ops...>(0));
};

namespace detail {

template <class Backends, class Target, class Options>
struct joined_by_nested;
template <class... B, class Target, class Options>
struct joined_by_nested<backends<B...>, Target, Options> : type_tag<backends<B..., nested<Target, Options>>> {};

template <class Backends, class Flat, class Target, class... Options>
  requires has_nesting<Flat>
struct with_nested<Backends, Flat, Target, Options...> {
  using options =
      decltype((type_list<>{} + ... + std::conditional_t<goes_inside<Options>, type_list<Options>, type_list<>>{}));
  static constexpr bool has_processor = nested_planning<Target, options>::has_processor;
  using type =
      typename std::conditional_t<has_processor, joined_by_nested<Backends, Target, options>, type_tag<Backends>>::type;
};

/// What is wrong with the plans of the pipelines inside a stage.
template <class Flat, class Target, class Options, std::size_t Node>
consteval auto nested_mistake_at() {
  using stage = stage_at<Flat, Node>;
  if constexpr (is_nesting<stage>) {
    using in = op_input_t<typename Flat::template node_place<Node>::in>;
    if constexpr (Flat::has_groups && Flat::template nodes_in_group<"">()[Node])
      return group_of_parameters_belongs_inside_the_stage_that_holds_them<stage::name>{};
    else
      return nested_planning<Target, Options>::mistake_of(typename stage::op_type::template pipelines<in>{});
  } else {
    return no_mistake{};
  }
}
template <class Flat, class Target, class... Options>
  requires(has_nesting<Flat> && with_nested<backends<>, Flat, Target, Options...>::has_processor)
struct nested_mistake<Flat, Target, Options...> {
  using options = typename with_nested<backends<>, Flat, Target, Options...>::options;
  template <std::size_t... Node>
  static consteval auto find(std::index_sequence<Node...>) {
    constexpr bool wrong[] = {decltype(nested_mistake_at<Flat, Target, options, Node>())::is_mistake...};
    if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(Node))
      return nested_mistake_at<Flat, Target, options, at>();
    else
      return no_mistake{};
  }
  using type = decltype(find(std::make_index_sequence<Flat::nodes>()));
};

template <class Kernel, class In, class Out>
void run_nested(unit_call& call) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(call.object);
  void* const* const inside = static_cast<void* const*>(call.inside);
  for_each_item(call, [&](void* in, void* out, std::size_t) {
    if constexpr (is_branch_items<In>)
      static_cast<const In*>(in)->apply(
          [&](const auto&... parts) { kernel.make(std::tie(parts...), out, call.scratch, inside); });
    else
      kernel.make(*static_cast<const In*>(in), out, call.scratch, inside);
    return true;
  });
}

template <class Kernel, class In, class Out>
  requires requires { Kernel::has_state; }
inline constexpr unit_descriptor kernel_text<Kernel, In, Out>{.run = &run_nested<Kernel, In, Out>,
                                                              .own_copy = Kernel::has_state,
                                                              .destroy = destroy_code_of<typename Kernel::result>(),
                                                              .holds_pipelines = true};

}  // namespace detail
}  // namespace levada
