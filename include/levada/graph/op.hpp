// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/op.hpp: the definition of an op, and the stage that it becomes by a name and a source of weights.
//
// An op is a type that says everything but the code:
//
//   struct relu_op {
//     static constexpr std::string_view kind = "relu";  // ONNX's term
//     // The shape rule. Constrained: where it is not there, the op does not take that input.
//     template <any_tensor In> using output = In;
//     template <class In> static constexpr double flops = ...;  // per item
//     template <class In> static constexpr std::array<parameter_info, 0> parameters{};
//     static constexpr std::string_view expects = "a tensor";  // its input, for the message
//     // For rules (plan/rules.hpp); opaque where it does not say.
//     static constexpr op_kind fuses_as = op_kind::element_wise;
//     // Only where `kind` does not say what is computed, since a user's lambda does: a hash of that lambda's source.
//     template <class In> static consteval std::uint64_t source();
//     // Where its output may lie in memory that is there already, one of these or none. Element i needs only the
//     // elements i of the inputs:
//     static constexpr bool in_place = true;
//     // It is the input from that element on; negative: no.
//     template <class In> static constexpr std::ptrdiff_t view_at;
//     // It is the inputs, one behind the other.
//     template <class In> static constexpr bool joins_in_a_row;
//   };
//
// How it is computed is a backend's: `Backend::kernel<In, Op...>`, a class that is complete where the backend takes
// that run of ops (see op_kernel below).

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/tensor.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/op_kind.hpp>
#include <levada/graph/detail/parameters.hpp>

namespace levada {

/// A computation described by its type alone; see the head of this file.
template <class T>
concept op = requires {
  { T::kind } -> std::convertible_to<std::string_view>;
  { T::expects } -> std::convertible_to<std::string_view>;
};

/// The op's shape rule takes that input.
template <class Op, class In>
concept op_takes = op<Op> && requires { typename Op::template output<In>; };

/// A stage computed by an op: its name, the op, and where its weights are found ("<name>.<parameter>").
template <fixed_string Name, op Op>
struct op_stage {
  using op_type = Op;
  static constexpr auto name = Name;

  [[no_unique_address]] Op description{};
  parameter_source_ref weights{};
};

/// Makes the stage `Name` of an op from the source of its parameters, which must outlive `deploy`.
template <fixed_string Name, class Op>
struct weighted_stage {
  template <parameter_source Source>
  constexpr op_stage<Name, Op> operator()(const Source& weights) const {
    return {{}, parameter_source_ref(weights)};
  }
  template <parameter_source Source>
  mistake_found<weights_have_to_outlive_deploy_give_them_a_name<Name, Source>> operator()(const Source&&) const;
  template <class Given>
    requires(!parameter_source<Given>)
  mistake_found<weights_come_from_something_with_find<Name, Given>> operator()(const Given&) const;
};

namespace detail {

template <class In, class... Ops>
struct run_output {
  using type = In;
};
template <class In, class First, class... Rest>
  requires op_takes<First, In>
struct run_output<In, First, Rest...> : run_output<typename First::template output<In>, Rest...> {};

/// Each op of a run takes the result of the one before it.
template <class In, class... Ops>
inline constexpr bool run_takes = true;
template <class In, class Op, class... Rest>
inline constexpr bool run_takes<In, Op, Rest...> = false;
template <class In, class Op, class... Rest>
  requires op_takes<Op, In>
inline constexpr bool run_takes<In, Op, Rest...> = run_takes<typename Op::template output<In>, Rest...>;

}  // namespace detail

/// The result of a run of ops for the input `In`.
template <class In, class... Ops>
using run_output_t = typename detail::run_output<In, Ops...>::type;

/// A backend computes that run of ops as one. Its kernel
/// - is constructed from the ops and their parameters in order, and packs the weights then (its size is their bytes, or
///   `static constexpr std::size_t weight_bytes`),
/// - has `static constexpr std::size_t scratch_bytes`, which the plan provides, aligned to 64,
/// - is called as `kernel(in, out, scratch)` on any thread, several at once, and writes all of `out`;
/// - or, of a device that computes by itself, is a `detail::device_kernel` that the device's driver knows;
/// - or, of a stage that holds pipelines, constructs its output by `kernel.make(in, into, scratch)`,
/// - of ops that are `in_place`, reads element i of all inputs before it writes element i: `out` may be one of them.
///   What it moves as a view, or joins in a row, may lie where it is moved to.
template <class Backend, class In, class... Ops>
concept op_kernel =
    requires { sizeof(typename Backend::template kernel<In, Ops...>); } &&
    requires {
      { Backend::template kernel<In, Ops...>::scratch_bytes } -> std::convertible_to<std::size_t>;
    } &&
    (
        std::derived_from<typename Backend::template kernel<In, Ops...>, detail::device_kernel> ||
        requires(const typename Backend::template kernel<In, Ops...>& kernel, const In& in,
                 run_output_t<In, Ops...>& out, std::byte* scratch) { kernel(in, out, scratch); } ||
        requires(const typename Backend::template kernel<In, Ops...>& kernel, const In& in, void* into,
                 std::byte* scratch) { kernel.make(in, into, scratch); }) &&
    std::constructible_from<typename Backend::template kernel<In, Ops...>, const Ops&..., parameter_values>;

/// Anything with kernels for ops: a tag with a name and the kind of device it computes on. One whose kernels are not
/// all in one header names the one that has them all, `more_kernels`, for the message of one that is missing.
template <class T>
concept backend = requires {
  { T::name } -> std::convertible_to<std::string_view>;
  T::device;
  { T::longest_run } -> std::convertible_to<std::size_t>;
};

namespace detail {
/// The header `Backend::more_kernels` was included.
template <class Backend>
inline constexpr bool has_all_kernels = false;
}  // namespace detail

}  // namespace levada
