// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/profiler.hpp: the candidates and callables of a pipeline as code that is timed, with the values of
// one item on its way.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/core/detail/storage.hpp>
#include <levada/graph/detail/sourced_graph.hpp>
#include <levada/interop/profile/cost_header.hpp>
#include <levada/interop/profile/cost_keeper.hpp>
#include <levada/interop/profile/device_profiler.hpp>
#include <levada/interop/profile/made_kernels.hpp>
#include <levada/interop/profile/measure.hpp>
#include <levada/interop/profile/options.hpp>
#include <levada/interop/profile/profiled_values.hpp>
#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/expected_time.hpp>
#include <levada/run/deploy.hpp>

namespace levada::detail {

/// Items whose bytes can be made here, those of branches each.
template <class In>
inline constexpr bool is_plain_input = std::is_trivially_copyable_v<In>;
template <class... T>
inline constexpr bool is_plain_input<branch_items<T...>> = (std::is_trivially_copyable_v<T> && ...);
template <class F>
inline constexpr bool is_stateless = std::is_empty_v<F> || std::is_function_v<std::remove_pointer_t<F>>;

/// The candidates of a pipeline of one rate, as code that is timed.
template <class Flat, class Backends>
class profiler {
 public:
  using flat = Flat;
  using found = enumerated<Flat, Backends>;
  static constexpr const auto& graph = sourced_graph<Flat>;
  static constexpr std::size_t nodes = Flat::nodes;
  static constexpr std::size_t nodes_bound = made_kernels<Flat, Backends>::nodes_bound;
  static constexpr std::size_t candidates = found::candidates.size();

  profiler(const stage_address* stages, const void* item, fixed_array<attached_device> devices, cost_header& costs,
           const profile_options& options)
      : kernels_(stages),
        devices_(graph, backend_values<Backends>::values, candidates, std::move(devices), costs, options),
        stages_(stages),
        values_(graph),
        sweep_(working_set()),
        costs_(costs),
        kept_(costs, options),
        options_(options) {
    std::memcpy(values_[0], item, graph.values[0].bytes);
    compute_values(std::make_index_sequence<nodes>{});
  }

  /// What disturbs a machine lasts longer than a measurement, and only adds: a kernel is measured again when all others
  /// were.
  profile_result run() {
    const int rounds = std::max(options_.rounds, 1);
    kept_.begin(count_all(std::make_index_sequence<nodes>{}) * static_cast<std::size_t>(rounds));
    for (int round = 0; round < rounds; ++round) {
      kept_.begin_round(round);
      measure_candidates(std::make_index_sequence<candidates>{});
      measure_callables(std::make_index_sequence<nodes>{});
    }
    devices_.measure_ways();
    measure_copy_of_item();
    return kept_.result();
  }

  /// The rooflines of the processor's backends by that of a core: it times the share that their kernels reach in the
  /// mean, so that those of a backend which nobody measured are no faster beside another's than those that were.
  void keep_rooflines(const roofline& core) {
    for (std::size_t b = 0; b < std::size(backend_values<Backends>::values); ++b) {
      const backend_info& by = backend_values<Backends>::values[b];
      if (by.device != device_kind::cpu) continue;
      double estimated = 0, taken = 0;
      for (const candidate& c : found::candidates) {
        const cost* const known = c.backend == b ? costs_.find(by.name, signature_of(c.first, c.count)) : nullptr;
        if (known == nullptr) continue;
        const run_work work = work_of_run(graph, c.first, c.count);
        estimated += estimate(core, work.flops, work.bytes).seconds;
        taken += known->seconds;
      }
      const double share = estimated > 0 && taken > 0 ? estimated / taken : 1;
      costs_.set(roofline{by.name, share * core.flops_per_second, share * core.bytes_per_second, 0});
    }
  }

  /// What the stage of that node takes.
  const std::byte* input_of(std::size_t node) const { return values_[graph.nodes[node].in]; }

  /// A partition as a program of the processor, whose kernels are the profiler's. The stages' objects are moved from.
  template <class In, class Out>
  program program_of(const partition<nodes_bound>& parts, std::size_t slots, std::span<const device_info> devices,
                     const stage_address* stages) {
    return kernels_.template program_of<In, Out>(parts, slots, devices, stages);
  }

 private:
  template <std::size_t Node>
  using node_place = typename Flat::template node_place<Node>;
  template <std::size_t Node>
  using stage = typename node_place<Node>::part;

  /// All weights, and what a stage takes and gives: a plan lets values lie where others lay before.
  static std::size_t working_set() {
    std::size_t weights = 0, largest = 0;
    for (const node_info& n : graph.nodes) weights += n.parameter_bytes;
    for (const value_info& v : graph.values) largest = std::max(largest, v.bytes);
    return weights + 2 * largest;
  }

  void measure_copy_of_item() {
    constexpr device_id processor{device_kind::cpu};
    const std::size_t bytes = graph.values[0].bytes;
    if (bytes < least_copied_bytes || costs_.has_transfer(processor, processor)) return;
    const cost copied = cost_of_copy(values_[0], bytes, sweep_, options_.seconds_each);
    costs_.set(transfer_cost{processor, processor, 0, copied.seconds / static_cast<double>(bytes)});
  }

  static constexpr bool on_processor(const candidate& c) {
    return backend_values<Backends>::values[c.backend].device == device_kind::cpu;
  }
  /// The candidate that makes a node's value for what follows it.
  static consteval std::size_t maker_of(std::size_t node) {
    for (std::size_t c = 0; c < candidates; ++c)
      if (found::candidates[c].first == node && found::candidates[c].count == 1 && on_processor(found::candidates[c]))
        return c;
    return candidates;
  }
  bool is_measured(const candidate& c) const { return on_processor(c) || devices_.can_time(c); }

  /// Calls `timed(call, before)` with the kernel of a candidate as a call.
  template <class Timed>
  void with_kernel(const made_kernel& k, const candidate& c, Timed timed) {
    const node_info& node = graph.nodes[c.first];
    std::vector<std::size_t> taken;
    for (const std::size_t v : inputs_of_run(graph, c.first, c.count)) taken.push_back(v);
    std::byte* out = values_[graph.nodes[c.first + c.count - 1].out];
    std::vector<std::byte*> places;
    for (const std::size_t v : taken) places.push_back(values_[v]);
    if (c.count == 1 && node.reuses == reuse::view) out = places[0] + node.view_offset;
    if (c.count == 1 && node.reuses == reuse::joins) {
      // As a plan has it: what is joined was made where it will be.
      std::byte* to = out;
      for (std::size_t i = 0; i < taken.size(); to += graph.values[taken[i++]].bytes) {
        std::memcpy(to, places[i], graph.values[taken[i]].bytes);
        places[i] = to;
      }
    }
    const arena_bytes scratch(c.scratch_bytes, 64);
    item_state state = item_state::value;
    std::exception_ptr failure;
    unit_call given;
    given.object = k.kernel.get();
    given.in = places.size() == 1 ? places[0] : reinterpret_cast<std::byte*>(places.data());
    given.out = out;
    given.scratch = scratch.get();
    given.state = &state;
    given.error = &failure;
    given.count = 1;
    timed(
        [&] {
          unit_call call = given;
          k.text->run(call);
        },
        [&] {
          for (const std::size_t v : taken) read(values_[v], graph.values[v].bytes);
        });
  }

  /// What the stage before has just written is in the caches.
  static void read(const std::byte* from, std::size_t bytes) {
    std::byte all{};
    for (std::size_t i = 0; i < bytes; i += 64) all ^= from[i];
    asm volatile("" : : "r"(all));
  }

  // ---- the values between the stages ----

  template <std::size_t... Node>
  void compute_values(std::index_sequence<Node...>) {
    (compute_value<Node>(), ...);
  }
  template <std::size_t Node>
  void compute_value() {
    if constexpr (is_op(graph.nodes[Node])) {
      if constexpr (constexpr std::size_t maker = maker_of(Node); maker < candidates) {
        with_kernel(kernels_.template make<maker>(), found::candidates[maker], [](auto call, auto) { call(); });
        // A view, too, has a place of its own here.
        if (graph.nodes[Node].reuses == reuse::view)
          std::memcpy(values_[graph.nodes[Node].out], values_[graph.nodes[Node].in] + graph.nodes[Node].view_offset,
                      graph.values[graph.nodes[Node].out].bytes);
      }
    } else if constexpr (is_timed_callable<Node>()) {
      call_stage<Node>();
    }
  }

  // ---- callables ----

  /// A map of plain items, of one or of several branches, without side data and state: what others do, or need, is not
  /// to be had here.
  template <std::size_t Node>
  static consteval bool is_timed_callable() {
    using call = typename node_place<Node>::call;
    if constexpr (call::value == form::map) {
      using callable = typename stage<Node>::callable_type;
      return is_plain_input<typename node_place<Node>::in> && std::is_trivially_copyable_v<typename call::output> &&
             sides_of<callable, form::map>::type::size == 0 && is_stateless<typename bare_callable<callable>::type>;
    } else {
      return false;
    }
  }
  template <std::size_t Node>
  void call_stage() {
    using in = typename node_place<Node>::in;
    using out = typename node_place<Node>::call::output;
    using callable = typename stage<Node>::callable_type;
    auto& f = *static_cast<callable*>(stages_[Node].object);
    const node_info& node = graph.nodes[Node];
    if constexpr (is_branch_items<in>) {
      in items;
      std::size_t branch = 0;
      for_each_input(node, [&](std::size_t v) { items.at[branch++] = values_[v]; });
      call_with<form::map, in, out>(f, &items, values_[node.out]);
    } else {
      call_with<form::map, in, out>(f, values_[node.in], values_[node.out]);
    }
  }
  template <std::size_t... Node>
  void measure_callables(std::index_sequence<Node...>) {
    (measure_callable<Node>(), ...);
  }
  template <std::size_t Node>
  void measure_callable() {
    if constexpr (is_timed_callable<Node>())
      if (const std::string signature = signature_of(Node, 1); kept_.is_wanted("callable", signature))
        kept_.keep("callable", signature,
                   measure_call([&] { call_stage<Node>(); }, [] {}, sweep_, options_.seconds_each));
  }

  // ---- measuring ----

  template <std::size_t... Node>
  std::size_t count_all(std::index_sequence<Node...>) const {
    std::size_t count = (std::size_t{0} + ... + (is_timed_callable<Node>() ? 1 : 0));
    for (const candidate& c : found::candidates) count += is_measured(c) ? 1u : 0u;
    return count;
  }

  static std::string signature_of(std::size_t first, std::size_t count) {
    std::string text;
    append_signature(text, graph, first, count);
    return text;
  }

  template <std::size_t... C>
  void measure_candidates(std::index_sequence<C...>) {
    (measure_candidate<C>(), ...);
  }
  template <std::size_t C>
  void measure_candidate() {
    constexpr const candidate& c = found::candidates[C];
    if (!is_measured(c)) return;
    const std::string_view backend = backend_values<Backends>::values[c.backend].name;
    const std::string signature = signature_of(c.first, c.count);
    if (!kept_.is_wanted(backend, signature)) return;
    if constexpr (on_processor(c))
      time_kernel(kernels_.template make<C>(), c, backend, signature);
    else
      kept_.keep(backend, signature,
                 devices_.time(C, c, kernels_[C], places_taken(c), values_[graph.nodes[c.first + c.count - 1].out]));
  }

  /// Where the values lie that a kernel takes.
  std::vector<const void*> places_taken(const candidate& c) const {
    std::vector<const void*> places;
    for (const std::size_t v : inputs_of_run(graph, c.first, c.count)) places.push_back(values_[v]);
    return places;
  }

  void time_kernel(const made_kernel& k, const candidate& c, std::string_view backend, const std::string& signature) {
    with_kernel(k, c, [&](auto call, auto before) {
      kept_.keep(backend, signature, measure_call(call, before, sweep_, options_.seconds_each));
    });
  }

  made_kernels<Flat, Backends> kernels_;  ///< those that last: of whole plans, and of devices, which are closed before
  device_profiler<nodes_bound> devices_;
  const stage_address* stages_;
  profiled_values<nodes_bound> values_;
  cache_sweep sweep_;
  cost_header& costs_;
  cost_keeper kept_;
  const profile_options& options_;
};

}  // namespace levada::detail
