// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/neighbours.hpp: partitions that differ from one in a few places: a region computed by another backend,
// two neighbouring ones as one or cut elsewhere, one cut in two; there alone, or wherever the same stands. What may be
// tried where the whole of a plan is measured.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/partition.hpp>

namespace levada {

template <std::size_t N>
struct neighbour {
  partition<N> parts;
  double more_seconds = 0;  ///< by the costs of its kernels; what is unknown counts as nothing
};

namespace detail {

template <std::size_t N>
class neighbourhood {
 public:
  neighbourhood(const partition<N>& parts, const graph_info<N>& graph, std::span<const candidate> candidates,
                std::span<const backend_info> backends, const graph_costs<N>& costs)
      : parts_(parts), graph_(graph), candidates_(candidates), backends_(backends), costs_(costs), from_(N) {
    for (std::size_t c = 0; c < candidates.size(); ++c) from_[candidates[c].first].push_back(c);
  }

  std::vector<neighbour<N>> all() {
    for (std::size_t u = 0; u < parts_.size(); ++u) {
      find_changes(u, 1);
      if (u + 1 < parts_.size() && are_joint(u)) find_changes(u, 2);
    }
    std::vector<neighbour<N>> found;
    for (const change& c : changes_) found.push_back(changed({&c}));
    // The same change wherever the same stands.
    std::vector<const change*> alike;
    for (const change& c : changes_) alike.push_back(&c);
    std::stable_sort(alike.begin(), alike.end(), [](const change* a, const change* b) { return a->kind < b->kind; });
    for (std::size_t i = 0; i < alike.size();) {
      std::vector<const change*> together;
      const std::string& kind = alike[i]->kind;
      for (; i < alike.size() && alike[i]->kind == kind; ++i)
        if (together.empty() || alike[i]->first >= together.back()->first + together.back()->units)
          together.push_back(alike[i]);
      if (together.size() > 1) found.push_back(changed(together));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const neighbour<N>& a, const neighbour<N>& b) { return a.more_seconds < b.more_seconds; });
    return found;
  }

 private:
  static constexpr std::size_t most_covers = 4;  // of a few regions, the cheapest

  /// Other kernels in the place of some units.
  struct change {
    std::size_t first = 0, units = 0;
    std::vector<std::size_t> kernels;
    double more_seconds = 0;
    std::string kind;  ///< what stands there, and what is put in its place
  };
  /// Kernels for the first nodes of some.
  struct cover {
    double seconds = 0;
    std::vector<std::size_t> kernels;
  };

  bool is_op_unit(std::size_t u) const { return parts_[u].candidate != partition_unit::callable; }
  bool are_joint(std::size_t u) const { return is_op_unit(u) && is_op_unit(u + 1) && !parts_[u + 1].starts_segment; }
  double seconds_of(std::size_t c) const {
    return costs_.of_run(candidates_[c].backend, candidates_[c].first, candidates_[c].count).seconds;
  }
  bool may_compute(std::size_t c, device_id device) const {
    return computes_on(backends_[candidates_[c].backend], device);
  }

  /// The cheapest covers of the nodes from `first` to before `end`.
  std::vector<cover> covers_of(std::size_t first, std::size_t end, device_id device) const {
    std::vector<std::vector<cover>> up_to(end - first + 1);
    up_to[0].push_back({});
    for (std::size_t n = first; n < end; ++n) {
      std::vector<cover>& here = up_to[n - first];
      std::stable_sort(here.begin(), here.end(), [](const cover& a, const cover& b) { return a.seconds < b.seconds; });
      if (here.size() > most_covers) here.resize(most_covers);
      for (const std::size_t c : from_[n]) {
        if (n + candidates_[c].count > end || !may_compute(c, device)) continue;
        for (const cover& before : here) {
          cover longer = before;
          longer.seconds += seconds_of(c);
          longer.kernels.push_back(c);
          up_to[n - first + candidates_[c].count].push_back(std::move(longer));
        }
      }
    }
    std::vector<cover>& all = up_to.back();
    std::stable_sort(all.begin(), all.end(), [](const cover& a, const cover& b) { return a.seconds < b.seconds; });
    if (all.size() > most_covers) all.resize(most_covers);
    return std::move(all);
  }

  void find_changes(std::size_t u, std::size_t units) {
    if (!is_op_unit(u)) return;
    const std::size_t first = parts_[u].first, end = parts_[u + units - 1].first + parts_[u + units - 1].count;
    cover now;
    for (std::size_t i = u; i < u + units; ++i) {
      now.seconds += seconds_of(parts_[i].candidate);
      now.kernels.push_back(parts_[i].candidate);
    }
    for (cover& other : covers_of(first, end, parts_[u].device)) {
      // Where one end stays as it is, it is a change of fewer units.
      const bool is_longer =
          units > 1 && (other.kernels.front() == now.kernels.front() || other.kernels.back() == now.kernels.back());
      if (other.kernels == now.kernels || is_longer) continue;
      change c{u, units, std::move(other.kernels), other.seconds - now.seconds, {}};
      append_signature(c.kind, graph_, first, end - first);
      for (const auto* list : {&now.kernels, &c.kernels}) {
        c.kind += " / ";
        for (const std::size_t k : *list) {
          append_number(c.kind, candidates_[k].backend);
          c.kind += ':';
          append_number(c.kind, candidates_[k].count);
          c.kind += ' ';
        }
      }
      changes_.push_back(std::move(c));
    }
  }

  /// The partition with some changes, in order.
  neighbour<N> changed(const std::vector<const change*>& made) const {
    neighbour<N> other;
    auto next = made.begin();
    for (std::size_t u = 0; u < parts_.size();) {
      if (next == made.end() || (*next)->first != u) {
        other.parts.push_back(parts_[u++]);
        continue;
      }
      bool starts = parts_[u].starts_segment;
      for (const std::size_t c : (*next)->kernels) {
        other.parts.push_back({candidates_[c].first, candidates_[c].count, candidates_[c].backend, c, parts_[u].device,
                               std::exchange(starts, false)});
      }
      other.more_seconds += (*next)->more_seconds;
      u += (*next++)->units;
    }
    return other;
  }

  const partition<N>& parts_;
  const graph_info<N>& graph_;
  std::span<const candidate> candidates_;
  std::span<const backend_info> backends_;
  const graph_costs<N>& costs_;
  std::vector<std::vector<std::size_t>> from_;  // the candidates that begin at each node
  std::vector<change> changes_;
};

}  // namespace detail

/// The neighbours of a partition on the devices that it has, those first that promise most by the costs.
template <std::size_t N>
std::vector<neighbour<N>> neighbours_of(const partition<N>& parts, const graph_info<N>& graph,
                                        std::span<const candidate> candidates, std::span<const backend_info> backends,
                                        const graph_costs<N>& costs) {
  return detail::neighbourhood<N>(parts, graph, candidates, backends, costs).all();
}

/// The partition without costs that has one backend first wherever it can, and the others in their order for the rest.
template <std::size_t N>
partition<N> one_backend_first(std::size_t preferred, const graph_info<N>& graph, std::span<const device_info> devices,
                               std::span<const candidate> candidates, std::span<const backend_info> backends) {
  const auto turned = [&](std::size_t b) { return b == preferred ? 0 : b < preferred ? b + 1 : b; };
  std::vector<backend_info> order(backends.begin(), backends.end());
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(preferred),
              order.begin() + static_cast<std::ptrdiff_t>(preferred) + 1);
  std::vector<candidate> renamed(candidates.begin(), candidates.end());
  for (candidate& c : renamed) c.backend = turned(c.backend);
  partition<N> parts =
      choose_partition(graph, devices, std::span<const candidate>(renamed), std::span<const backend_info>(order));
  for (partition_unit& u : parts)
    if (u.candidate != partition_unit::callable) u.backend = candidates[u.candidate].backend;
  return parts;
}

}  // namespace levada
