// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/made_kernels.hpp: the candidates of a pipeline as kernels with their weights, and partitions of them
// as programs.

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/graph/detail/sourced_graph.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/deploy/bind_plan.hpp>
#include <levada/run/detail/deploy/kernel_candidates.hpp>
#include <levada/run/detail/program/make_program.hpp>
#include <levada/run/detail/program/program_layout.hpp>
#include <levada/run/detail/program/unit.hpp>

namespace levada::detail {

/// A candidate with its weights, and how it is called.
struct made_kernel {
  erased_object kernel;
  const unit_descriptor* text = nullptr;
};

/// Those of a pipeline of one rate.
template <class Flat, class Backends>
class made_kernels {
 public:
  using found = enumerated<Flat, Backends>;
  static constexpr const auto& graph = sourced_graph<Flat>;
  static constexpr std::size_t nodes = Flat::nodes;
  static constexpr std::size_t nodes_bound = std::remove_cvref_t<decltype(found::graph.nodes)>::capacity();
  static constexpr std::size_t candidates = found::candidates.size();

  explicit made_kernels(const stage_address* stages) : stages_(stages) {}

  /// The kernel of a candidate, made anew.
  template <std::size_t C>
  made_kernel make() const {
    constexpr std::size_t first = found::candidates[C].first;
    using backend = type_at<typename backend_values<Backends>::list, found::candidates[C].backend>;
    constexpr const unit_descriptor* text =
        unit_of_ops<Flat, backend, first, std::make_index_sequence<found::candidates[C].count>>::type::text;
    return {text->make_kernel(stages_ + first), text};
  }
  /// The kernel of a candidate, made once.
  const made_kernel& operator[](std::size_t c) {
    static constexpr auto makers = makers_of(std::make_index_sequence<candidates>{});
    if (kernels_.empty()) kernels_.resize(candidates);
    if (kernels_[c].text == nullptr) kernels_[c] = (this->*makers[c])();
    return kernels_[c];
  }

  /// A partition as a program of the processor, whose kernels are the profiler's. The stages' objects are moved from.
  template <class In, class Out>
  program program_of(const partition<nodes_bound>& parts, std::size_t slots, std::span<const device_info> devices,
                     const stage_address* stages) {
    static constexpr auto callables = callable_texts(std::make_index_sequence<nodes>{});
    const auto plan = make_plan(graph, parts, {slots}, devices, {found::candidates.data(), candidates},
                                backend_values<Backends>::values);
    const auto layout = layout_of(plan);
    std::vector<const unit_descriptor*> texts;
    std::size_t computed = 0;
    for (const auto& u : plan.unit) {
      const bool is_kernel = u.candidate != partition_unit::callable;
      texts.push_back(is_kernel ? (*this)[u.candidate].text : callables[u.first]);
      computed += is_kernel;
    }
    fixed_array<erased_object> nothing(computed);
    constexpr auto sides = side_places<Flat>();
    program code = make_program(layout,
                                {layout.arrays(), texts.data(), destroy_code_of<In>(), destroy_code_of<Out>(), stages,
                                 nothing.begin(), sides.data()},
                                1);
    for (std::size_t u = 0; u < plan.units; ++u)
      if (plan.unit[u].candidate != partition_unit::callable)
        code.units[u].shared = (*this)[plan.unit[u].candidate].kernel.get();
    return code;
  }

 private:
  using kernel_maker = made_kernel (made_kernels::*)() const;
  template <std::size_t... C>
  static constexpr std::array<kernel_maker, sizeof...(C)> makers_of(std::index_sequence<C...>) {
    return {&made_kernels::template make<C>...};
  }
  template <std::size_t Node>
  static consteval const unit_descriptor* callable_text_at() {
    if constexpr (is_op(graph.nodes[Node]))
      return nullptr;
    else
      return callable_unit<typename Flat::template node_place<Node>, false, false>::text;
  }
  template <std::size_t... Node>
  static constexpr std::array<const unit_descriptor*, sizeof...(Node)> callable_texts(std::index_sequence<Node...>) {
    return {callable_text_at<Node>()...};
  }

  const stage_address* stages_;
  std::vector<made_kernel> kernels_;
};

}  // namespace levada::detail
