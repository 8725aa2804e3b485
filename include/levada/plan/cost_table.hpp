// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/cost_table.hpp: what kernels and transfers take on a machine, as values that a program is compiled with; and what they are
// estimated to take where nobody measured: by the roofline of a backend (Williams et al., CACM 2009), from FLOPs and bytes.
//
//   inline constexpr levada::kernel_cost box_kernels[] = {{"simd", "relu(float[10]) -> float[10], 10 FLOP", 1.2e-8, 1e-9}};
//   inline constexpr levada::cost_table box{.machine = "Xeon, 2 cores", .kernels = box_kernels};

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <levada/core/device.hpp>
#include <levada/plan/candidate.hpp>
#include <levada/plan/cost.hpp>
#include <levada/plan/growing.hpp>
#include <levada/plan/placement.hpp>
#include <levada/plan/signature.hpp>

namespace levada {

/// What a backend's kernel was measured to take for one item. Stages that are no op have the backend "callable".
struct kernel_cost {
  std::string_view backend;
  std::string_view signature;  ///< see plan/signature.hpp
  double seconds = 0;
  double spread = 0;
};

/// What was measured to take a value from one device to another.
struct transfer_cost {
  device_id from{}, to{};
  double seconds = 0;
  double seconds_per_byte = 0;
};

/// What a backend can do at most.
struct roofline {
  std::string_view backend;
  double flops_per_second = 0;
  double bytes_per_second = 0;
  double launch_seconds = 0;  ///< before each kernel
};

/// The costs of a machine. Values of static storage, each sorted or not.
struct cost_table {
  std::string_view machine;  ///< where it was measured, and when
  std::span<const kernel_cost> kernels{};
  std::span<const transfer_cost> transfers{};
  std::span<const roofline> rooflines{};
};

/// Where a table says nothing of a transfer.
inline constexpr crossing assumed_transfer{10e-6, 1e-10};

/// What it takes to move values between two devices.
constexpr crossing transfer_of(const cost_table& table, device_id from, device_id to) {
  if (from == to) return {};
  for (const transfer_cost& t : table.transfers)
    if (t.from == from && t.to == to) return {t.seconds, t.seconds_per_byte};
  return assumed_transfer;
}

/// What a roofline allows: the slower of computing and moving.
constexpr cost estimate(const roofline& of, double flops, double bytes) {
  if (!(of.flops_per_second > 0 && of.bytes_per_second > 0)) return {};
  return cost::estimated(of.launch_seconds + std::max(flops / of.flops_per_second, bytes / of.bytes_per_second));
}

/// The costs of the nodes of one graph, looked up in a table.
template <std::size_t N>
class graph_costs {
 public:
  constexpr graph_costs(const graph_info<N>& graph, const cost_table& table) : graph_(graph), table_(table) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) append_signature(node_[n], graph, n);
    entries_.reserve(table.kernels.size());
    for (std::size_t i = 0; i < table.kernels.size(); ++i)
      entries_.push_back({key(table.kernels[i].backend, detail::text_hash(table.kernels[i].signature)), i});
    std::sort(entries_.begin(), entries_.end());
  }

  /// What a backend takes for a run of nodes as one: measured, else estimated, else unknown.
  constexpr cost of_run(std::string_view backend, std::size_t first, std::size_t count) const {
    detail::text_hash run = node_[first];
    for (std::size_t n = first + 1; n < first + count; ++n) {
      run += std::string_view(" + ");
      run += node_[n];
    }
    const entry wanted{key(backend, run), 0};
    const entry* found = std::lower_bound(entries_.begin(), entries_.end(), wanted);
    if (found != entries_.end() && found->key == wanted.key) {
      const kernel_cost& measured = table_.kernels[found->index];
      return cost::measured(measured.seconds, measured.spread);
    }
    for (const roofline& r : table_.rooflines)
      if (r.backend == backend) return estimate(r, flops_of(first, count), bytes_of(first, count));
    return {};
  }

  /// What a stage that is no op takes; nothing where that was not measured, for nobody else could take it.
  constexpr cost of_callable(std::size_t node) const {
    const cost measured = of_run("callable", node, 1);
    return measured.origin == cost_origin::measured ? measured : cost::estimated(0);
  }

 private:
  struct entry {
    std::uint64_t key = 0;
    std::size_t index = 0;
    constexpr bool operator<(const entry& other) const {
      return key != other.key ? key < other.key : index < other.index;
    }
  };

  static constexpr std::uint64_t key(std::string_view backend, const detail::text_hash& signature) {
    detail::text_hash all(backend);
    all += '\n';
    all += signature;
    return all.value();
  }
  constexpr double flops_of(std::size_t first, std::size_t count) const {
    double flops = 0;
    for (std::size_t n = first; n < first + count; ++n) flops += graph_.nodes[n].flops;
    return flops;
  }
  /// Of what a run takes from outside, keeps and gives: what lies between its nodes stays in registers.
  constexpr double bytes_of(std::size_t first, std::size_t count) const {
    std::size_t bytes = 0;
    for (std::size_t n = first; n < first + count; ++n) {
      bytes += graph_.nodes[n].parameter_bytes;
      for_each_input(graph_.nodes[n], [&](std::size_t v) {
        const std::size_t producer = graph_.values[v].producer;
        if (producer == value_info::nobody || producer < first) bytes += graph_.values[v].bytes;
      });
    }
    const node_info& last = graph_.nodes[first + count - 1];
    if (last.how != form::sink) bytes += graph_.values[last.out].bytes;
    return static_cast<double>(bytes);
  }

  const graph_info<N>& graph_;
  const cost_table& table_;
  detail::text_hash node_[N];
  detail::growing<entry> entries_;
};

}  // namespace levada
