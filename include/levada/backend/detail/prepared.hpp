// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/prepared.hpp: backends that look at runs of ops as values and make them ready when the program starts,
// as libraries with objects of their own want it. Such a backend names one kernel for all:
//
//   struct mine {
//     static constexpr std::string_view name = "mine";
//     static constexpr lv::device_kind device = lv::device_kind::cpu;
//     static constexpr std::size_t longest_run = 3;
//     static constexpr bool takes(lv::op_run run);                                   // decided while compiling
//     static ready prepare(lv::op_run run, lv::parameter_values p);                  // once, at start-up
//     static void run(const ready&, const void* const* inputs, void* output, std::byte* scratch);   // any thread,
//     several at once template <class In, class... Ops>
//     using kernel = lv::prepared_kernel<mine, In, Ops...>;
//   };

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/op.hpp>
#include <levada/nn/window.hpp>

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

  constexpr const tensor_info& input() const { return takes[0]; }
};

/// Ops of which each takes what the one before it gives.
using op_run = std::span<const op_info>;

namespace detail {

template <class T>
constexpr tensor_info tensor_info_of() {
  if constexpr (any_tensor<T>)
    return {element_of<typename T::value_type>, shape_of<T>};
  else
    return {};
}

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

/// Tensors in and out, as every prepared backend wants them.
template <class T>
inline constexpr bool all_tensors = any_tensor<T>;
template <class... T>
inline constexpr bool all_tensors<std::tuple<T...>> = (any_tensor<T> && ...);

template <class Backend, class In, class... Ops>
consteval bool prepares() {
  if constexpr (all_tensors<In> && run_takes<In, Ops...>) {
    if constexpr (any_tensor<run_output_t<In, Ops...>>) return Backend::takes(op_run(run_info<In, Ops...>));
  }
  return false;
}

}  // namespace detail

/// The kernel of any run that `Backend::takes`, of tensors; see the head of this file. `Backend` may say, too,
/// `static constexpr std::size_t scratch_bytes(op_run)`, what `run` wants while it runs, and
/// `static constexpr std::size_t weight_bytes(op_run)`, what it keeps, where that is not what the parameters take.
template <class Backend, class In, class... Ops>
class prepared_kernel;

template <class Backend, class In, class... Ops>
  requires(sizeof...(Ops) > 0 && detail::prepares<Backend, In, Ops...>())
class prepared_kernel<Backend, In, Ops...> {
  static constexpr const auto& described = detail::run_info<In, Ops...>;

 public:
  static constexpr std::size_t scratch_bytes = [] {
    if constexpr (requires { Backend::scratch_bytes(op_run()); })
      return Backend::scratch_bytes(op_run(described));
    else
      return std::size_t{0};
  }();
  static constexpr std::size_t weight_bytes = [] {
    if constexpr (requires { Backend::weight_bytes(op_run()); }) return Backend::weight_bytes(op_run(described));
    std::size_t bytes = 0;
    for (const op_info& op : described)
      for (const parameter_info& p : op.parameters) bytes += p.extents.elements() * size_of(p.type);
    return bytes;
  }();

  prepared_kernel(const Ops&... ops, parameter_values p) : ready_(make(p, ops...)) {}

  void operator()(const auto& in, run_output_t<In, Ops...>& out, std::byte* scratch) const {
    if constexpr (any_tensor<In>) {
      const void* const inputs[most_inputs] = {in.data()};
      Backend::run(ready_, inputs, out.data(), scratch);
    } else {
      std::apply(
          [&](const auto&... each) {
            const void* const inputs[most_inputs] = {each.data()...};
            Backend::run(ready_, inputs, out.data(), scratch);
          },
          in);
    }
  }

 private:
  static auto make(parameter_values p, const Ops&... ops) {
    auto run = described;
    std::size_t i = 0;
    (
        [&] {
          if constexpr (requires { ops.epsilon; }) run[i].epsilon = ops.epsilon;
          ++i;
        }(),
        ...);
    return Backend::prepare(op_run(run), p);
  }

  decltype(Backend::prepare(op_run(), std::declval<parameter_values>())) ready_;
};

}  // namespace levada
