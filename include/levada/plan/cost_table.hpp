// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/cost_table.hpp: the seconds of kernels and transfers on a machine, as values that a program is compiled with.
// They were measured, or are estimated by the roofline of a backend, which the table has, else the backend itself.
//
//   inline constexpr levada::kernel_cost box_kernels[] = {{"simd", "relu(float[10]) -> float[10], 10 FLOP", 1.2e-8,
//   1e-9}}; inline constexpr levada::cost_table box{.machine = "Xeon, 2 cores", .kernels = box_kernels};

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <levada/core/detail/device.hpp>
#include <levada/plan/detail/candidate.hpp>
#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/placement.hpp>
#include <levada/plan/detail/region_runs.hpp>
#include <levada/plan/detail/signature.hpp>

namespace levada {

/// The measured seconds of a backend's kernel for one item. Stages that are no op have the backend "callable".
struct kernel_cost {
  std::string_view backend;
  std::string_view signature;  ///< see plan/detail/signature.hpp
  double seconds = 0;
  double spread = 0;
  double p95 = 0;  ///< 19 of 20 samples take no more; 0 where nobody measured that
};

/// A partition that was measured as a whole, and found the fastest of those that were tried:
/// plan/detail/measured_whole.hpp.
struct whole_cost {
  std::uint64_t question = 0;  ///< `question_of` the graph, the devices and the backends
  std::string_view plan;       ///< the line that `save` writes
  double seconds = 0;
  double spread = 0;
};

/// The costs of a machine. Values of static storage, each sorted or not.
struct cost_table {
  std::string_view machine;  ///< where it was measured
  std::span<const kernel_cost> kernels{};
  std::span<const transfer_cost> transfers{};
  std::span<const roofline> rooflines{};
  std::span<const whole_cost> wholes{};
  std::string_view date{};                    ///< of the last measurement, in UTC: "2026-11-25"
  std::span<const contention> contentions{};  ///< by ascending threads
};

/// The cost of moving values between two devices; of equal ones that of the first.
constexpr crossing transfer_of(const cost_table& table, device_id from, device_id to) {
  if (from == to) return {};
  return find_transfer(table.transfers, from, to).value_or(assumed_transfer);
}

/// What a run of nodes computes, and the bytes that it takes, keeps and gives.
struct run_work {
  double flops = 0, bytes = 0;
};
template <std::size_t N>
constexpr run_work work_of_run(const graph_info<N>& graph, std::size_t first, std::size_t count) {
  run_work work;
  std::size_t bytes = graph.values[graph.nodes[first + count - 1].out].bytes;
  for (const std::size_t v : inputs_of_run(graph, first, count)) bytes += graph.values[v].bytes;
  for (std::size_t n = first; n < first + count; ++n) {
    work.flops += graph.nodes[n].flops;
    bytes += graph.nodes[n].parameter_bytes;
  }
  work.bytes = static_cast<double>(bytes);
  return work;
}

/// The costs of the nodes of one graph on some backends, looked up in a table.
template <std::size_t N>
class graph_costs {
 public:
  constexpr graph_costs(const graph_info<N>& graph, std::span<const backend_info> backends, const cost_table& table)
      : graph_(graph), table_(table) {
    for (const backend_info& b : backends) {
      known_backend known{key_of(b.name), b.own, b.own.flops_per_second > 0};
      for (const roofline& r : table.rooflines)
        if (r.backend == b.name) known.line = r, known.has_line = true;
      backends_.push_back(known);
    }
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) describe(n, graph.nodes[n]);
    entries_.reserve(table.kernels.size());
    for (std::size_t i = 0; i < table.kernels.size(); ++i) {
      detail::text_hash key = key_of(table.kernels[i].backend);
      key += table.kernels[i].signature;
      entries_.push_back({key.value(), i});
    }
    std::sort(entries_.begin(), entries_.end());
  }

  /// The cost of a run of nodes as one kernel of a backend: measured, else estimated, else unknown.
  constexpr cost of_run(std::size_t backend, std::size_t first, std::size_t count) const {
    const known_backend& by = backends_[backend];
    const cost found = measured(by.key, first, count);
    if (found.origin == cost_origin::measured || !by.has_line) return found;
    // Values between the nodes of a region stay in registers.
    std::size_t bytes = (parameters_[first + count] - parameters_[first]) + given_[first + count - 1];
    if (is_chain(graph_, first, count))
      bytes += taken_[first];
    else
      for (const std::size_t v : inputs_of_run(graph_, first, count)) bytes += graph_.values[v].bytes;
    return estimate(by.line, flops_[first + count] - flops_[first], static_cast<double>(bytes));
  }

  /// The same of a run of another graph, of which nothing was kept.
  template <std::size_t M>
  constexpr cost of_run(const graph_info<M>& graph, std::size_t backend, std::size_t first, std::size_t count) const {
    const known_backend& by = backends_[backend];
    detail::text_hash key = by.key;
    if (entries_.size() != 0) append_signature(key, graph, first, count);
    const cost found = found_by(key);
    if (found.origin == cost_origin::measured || !by.has_line) return found;
    const run_work work = work_of_run(graph, first, count);
    return estimate(by.line, work.flops, work.bytes);
  }

  /// The cost of a stage that is no op; nothing where it was not measured, since there is no other backend for it.
  constexpr cost of_callable(std::size_t node) const {
    const cost found = measured(key_of("callable"), node, 1);
    return found.origin == cost_origin::measured ? found : cost::estimated(0);
  }

 private:
  struct known_backend {
    detail::text_hash key;
    roofline line{};
    bool has_line = false;  // no pointer: g++ 12 with sanitizers takes no comparison of one for a constant
  };
  struct entry {
    std::uint64_t key = 0;
    std::size_t index = 0;
    constexpr bool operator<(const entry& other) const {
      return key != other.key ? key < other.key : index < other.index;
    }
  };

  static constexpr detail::text_hash key_of(std::string_view backend) {
    detail::text_hash key(backend);
    key += '\n';
    return key;
  }

  constexpr void describe(std::size_t n, const node_info& node) {
    append_signature(signature_[n], graph_, n);
    for_each_input(node, [&](std::size_t v) { taken_[n] += graph_.values[v].bytes; });
    if (node.how != form::sink) given_[n] = graph_.values[node.out].bytes;
    flops_[n + 1] = flops_[n] + node.flops;
    parameters_[n + 1] = parameters_[n] + node.parameter_bytes;
  }

  /// Unknown where the table does not have it.
  constexpr cost measured(detail::text_hash key, std::size_t first, std::size_t count) const {
    if (entries_.size() == 0) return {};
    if (is_chain(graph_, first, count)) {
      constexpr detail::text_hash joint(" + ");
      key += signature_[first];
      for (std::size_t n = first + 1; n < first + count; ++n) {
        key += joint;
        key += signature_[n];
      }
    } else {
      append_signature(key, graph_, first, count);
    }
    return found_by(key);
  }
  constexpr cost found_by(const detail::text_hash& key) const {
    if (entries_.size() == 0) return {};
    const entry wanted{key.value(), 0};
    const entry* found = std::lower_bound(entries_.begin(), entries_.end(), wanted);
    if (found == entries_.end() || found->key != wanted.key) return {};
    const kernel_cost& by = table_.kernels[found->index];
    return cost::measured(by.seconds, by.spread, by.p95);
  }

  const graph_info<N>& graph_;
  const cost_table& table_;
  detail::constexpr_vector<known_backend> backends_;
  detail::constexpr_vector<entry> entries_;
  detail::text_hash signature_[N];
  std::size_t taken_[N]{}, given_[N]{};
  double flops_[N + 1]{};            // of all nodes before
  std::size_t parameters_[N + 1]{};  // their bytes
};

}  // namespace levada
