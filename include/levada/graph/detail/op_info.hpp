// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/op_info.hpp: an op with the tensors that it takes and gives, as a plain value: what backends look at.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/window2d.hpp>
#include <levada/graph/op.hpp>

namespace levada {

/// A tensor's type as a value.
struct tensor_info {
  element type = element::other;
  shape extents{};

  constexpr std::size_t bytes() const { return extents.elements() * size_of(type); }
};

/// An op of a run as a value.
struct op_info {
  std::string_view kind;
  bounded<tensor_info, most_inputs> takes;
  tensor_info gives;
  std::span<const parameter_info> parameters;
  double flops = 0;
  window2d window{};            ///< of ops that have one
  std::size_t groups = 1;       ///< of convolutions
  bool counts_padding = false;  ///< of average pools
  double epsilon = 0;           ///< of norms; known at start-up only
  bounded<float, 2> numbers;    ///< of functions, as low and high of clip; known at start-up only
  op_kind fuses_as = op_kind::opaque;
  bool has_function = false;                 ///< of one element of each input: in the kernel language, `op.function`
  bool joins_parameter = false;              ///< the same of an element of its input and one of its parameter
  bounded<std::uint16_t, most_inputs> from;  ///< in a region: the values that it takes, by their numbers
  std::uint16_t to = 0;                      ///< in a region: the value that it gives

  constexpr const tensor_info& input() const { return takes[0]; }
};

/// Ops of which each takes what the one before it gives.
using op_run = std::span<const op_info>;

/// Ops that one kernel computes, in an order in which they can run. What the last one gives leaves the region; what
/// each other one gives is taken by later ones of them alone, unless it is an output, too.
class region_info {
 public:
  static constexpr std::size_t outside = ~std::size_t{0};

  constexpr explicit region_info(op_run ops) : ops_(ops) {}
  /// Of several outputs: the ops that give them, in ascending order.
  constexpr region_info(op_run ops, std::span<const std::uint16_t> outputs) : ops_(ops), outputs_(outputs) {}

  constexpr op_run ops() const { return ops_; }
  constexpr std::size_t size() const { return ops_.size(); }
  constexpr const op_info& operator[](std::size_t op) const { return ops_[op]; }
  constexpr const tensor_info& gives() const { return ops_.back().gives; }

  constexpr std::size_t outputs() const { return outputs_.empty() ? 1 : outputs_.size(); }
  /// The op that gives an output.
  constexpr std::size_t output(std::size_t i) const { return outputs_.empty() ? size() - 1 : outputs_[i]; }

  /// The op that gives what an op takes as its `operand`-th, or `outside`.
  constexpr std::size_t producer(std::size_t op, std::size_t operand) const {
    for (std::size_t before = 0; before < op; ++before)
      if (ops_[before].to == ops_[op].from[operand]) return before;
    return outside;
  }
  /// How many of the operands of an op come from another one.
  constexpr std::size_t operands_from(std::size_t op, std::size_t producer) const {
    std::size_t count = 0;
    for (const std::size_t value : ops_[op].from) count += value == ops_[producer].to ? 1u : 0u;
    return count;
  }

 private:
  op_run ops_;
  std::span<const std::uint16_t> outputs_{};
};

namespace detail {

/// Each element is a function of elements of the inputs, which the op has as a lambda of the kernel language.
template <class Op>
concept element_op = (op_kind_of<Op>() == op_kind::element_wise || op_kind_of<Op>() == op_kind::broadcast) &&
                     requires(const Op& op) { op.function; };

template <class T>
constexpr tensor_info tensor_info_of() {
  if constexpr (any_tensor<T>)
    return {element_of<typename T::value_type>, shape_of<T>};
  else
    return {};
}

/// A tensor, or several.
template <class T>
inline constexpr bool all_tensors = any_tensor<T>;
template <class... T>
inline constexpr bool all_tensors<std::tuple<T...>> = (any_tensor<T> && ...);

template <class T>
struct taken_tensors {
  static constexpr void add(op_info& op) { op.takes.push_back(tensor_info_of<T>()); }
};
template <class... T>
struct taken_tensors<std::tuple<T...>> {
  static constexpr void add(op_info& op) { (op.takes.push_back(tensor_info_of<T>()), ...); }
};

template <class In, class Op>
constexpr op_info describe_op() {
  op_info info;
  info.kind = Op::kind;
  taken_tensors<In>::add(info);
  info.gives = tensor_info_of<typename Op::template output<In>>();
  info.parameters = Op::template parameters<In>;
  info.flops = Op::template flops<In>;
  info.fuses_as = op_kind_of<Op>();
  info.has_function = element_op<Op>;
  if constexpr (requires { Op::joins_parameter; }) info.joins_parameter = Op::joins_parameter;
  if constexpr (requires { Op::window; }) info.window = Op::window;
  if constexpr (requires { Op::groups; }) info.groups = Op::groups;
  if constexpr (requires { Op::counts_padding; }) info.counts_padding = Op::counts_padding;
  return info;
}

template <class In>
constexpr void describe_ops(op_info*) {}
template <class In, class Op, class... Rest>
constexpr void describe_ops(op_info* to) {
  *to = describe_op<In, Op>();
  describe_ops<typename Op::template output<In>, Rest...>(to + 1);
}

template <class In, class... Ops>
inline constexpr std::array<op_info, sizeof...(Ops)> run_info = [] {
  std::array<op_info, sizeof...(Ops)> all;
  describe_ops<In, Ops...>(all.data());
  return all;
}();

}  // namespace detail
}  // namespace levada
