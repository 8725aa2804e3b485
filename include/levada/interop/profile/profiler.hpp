// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/profiler.hpp: the candidates and callables of a pipeline as code that is timed, with the values of
// one item on its way.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <map>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/interop/profile/cost_header.hpp>
#include <levada/interop/profile/device_probe.hpp>
#include <levada/interop/profile/measure.hpp>
#include <levada/interop/profile/options.hpp>
#include <levada/plan/cost_table.hpp>
#include <levada/run/deploy.hpp>

namespace levada::detail {

/// The values of one item on its way, each in memory of its own.
template <std::size_t N>
class profiled_values {
 public:
  explicit profiled_values(const graph_info<N>& graph) : graph_(graph), memory_(graph.values.size()) {
    std::minstd_rand random(2026);
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      const value_info& value = graph.values[v];
      if (is_part_value(value)) continue;
      memory_[v] = arena_bytes(value.bytes, std::max<std::size_t>(value.alignment, 64));
      // What nobody computes here: numbers between -1 and 1.
      std::memset(memory_[v].get(), 0, value.bytes);
      if (value.type == element::f32)
        for (std::size_t i = 0; i < value.extents.elements(); ++i)
          reinterpret_cast<float*>(memory_[v].get())[i] = static_cast<float>(random()) * 0x1p-30f - 1;
    }
  }

  std::byte* operator[](std::size_t v) const {
    const value_info& value = graph_.values[v];
    return is_part_value(value) ? memory_[value.part_of].get() + value.part_offset : memory_[v].get();
  }

 private:
  const graph_info<N>& graph_;
  fixed_array<arena_bytes> memory_;
};

/// A candidate with its weights, and how it is called.
struct made_kernel {
  erased_object kernel;
  const unit_descriptor* text = nullptr;
};

/// The candidates of a pipeline of one rate, as code that is timed.
template <class Flat, class Backends>
class profiler {
 public:
  using found = enumerated<Flat, Backends>;
  static constexpr const auto& graph = found::graph;
  static constexpr std::size_t nodes = Flat::nodes;
  static constexpr std::size_t nodes_bound = std::remove_cvref_t<decltype(found::graph.nodes)>::capacity();
  static constexpr std::size_t candidates = found::candidates.size();

  profiler(void* const* stages, const void* item, fixed_array<attached_device> devices, cost_header& costs,
           const profile_options& options)
      : devices_(std::move(devices)),
        ways_(devices_.size()),
        stages_(stages),
        values_(graph),
        sweep_(working_set()),
        costs_(costs),
        options_(options) {
    std::memcpy(values_[0], item, graph.values[0].bytes);
    compute_values(std::make_index_sequence<nodes>{});
  }

  /// What disturbs a machine lasts longer than a measurement, and only adds: a kernel is measured again when all others
  /// were.
  profile_result run() {
    begin_ = std::chrono::steady_clock::now();
    for (round_ = 0; round_ < std::max(options_.rounds, 1); ++round_) {
      measure_candidates(std::make_index_sequence<candidates>{});
      measure_callables(std::make_index_sequence<nodes>{});
    }
    measure_ways();
    return result_;
  }

  /// What the stage of that node takes.
  const std::byte* input_of(std::size_t node) const { return values_[graph.nodes[node].in]; }

  /// A partition as a program of the processor, whose kernels are the profiler's. The stages' objects are moved from.
  template <class In, class Out>
  program program_of(const partition<nodes_bound>& parts, std::size_t slots, std::span<const device_info> devices,
                     void* const* stages) {
    static constexpr auto callables = callable_texts(std::make_index_sequence<nodes>{});
    const auto plan = make_plan(graph, parts, {slots}, devices, {found::candidates.data(), candidates},
                                backend_values<Backends>::values);
    const auto layout = layout_of(plan);
    std::vector<const unit_descriptor*> texts;
    std::size_t computed = 0;
    for (const auto& u : plan.unit) {
      const bool is_kernel = u.candidate != partition_unit::callable;
      texts.push_back(is_kernel ? kernel(u.candidate).text : callables[u.first]);
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
        code.units[u].shared = kernel(plan.unit[u].candidate).kernel.get();
    return code;
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

  template <std::size_t C, std::size_t... I>
  made_kernel make(std::index_sequence<I...>) const {
    constexpr std::size_t first = found::candidates[C].first;
    using in = op_input_t<typename node_place<first>::in>;
    using backend = type_at<typename backend_values<Backends>::list, found::candidates[C].backend>;
    const std::string_view names[] = {stage<first + I>::name.view()...};
    const parameter_source_ref sources[] = {static_cast<const stage<first + I>*>(stages_[first + I])->weights...};
    return {make_kernel<backend, in, typename stage<first + I>::op_type...>(
                static_cast<const stage<first + I>*>(stages_[first + I])->description..., names, sources),
            text<C>(std::index_sequence<I...>())};
  }
  template <std::size_t C, std::size_t... I>
  static consteval const unit_descriptor* text(std::index_sequence<I...>) {
    constexpr std::size_t first = found::candidates[C].first;
    using flowing = typename node_place<first>::in;
    using in = op_input_t<flowing>;
    using backend = type_at<typename backend_values<Backends>::list, found::candidates[C].backend>;
    return &kernel_text<kernel_for_t<backend, in, typename stage<first + I>::op_type...>, flowing,
                        flowing_output<in, typename stage<first + I>::op_type...>>;
  }
  template <std::size_t C>
  made_kernel make() const {
    return make<C>(std::make_index_sequence<found::candidates[C].count>{});
  }

  // ---- whole plans ----

  using kernel_maker = made_kernel (profiler::*)() const;
  template <std::size_t... C>
  static constexpr std::array<kernel_maker, sizeof...(C)> makers_of(std::index_sequence<C...>) {
    return {&profiler::template make<C>...};
  }
  /// The kernel of a candidate, made once.
  const made_kernel& kernel(std::size_t c) {
    static constexpr auto makers = makers_of(std::make_index_sequence<candidates>{});
    if (kernels_.empty()) kernels_.resize(candidates);
    if (kernels_[c].text == nullptr) kernels_[c] = (this->*makers[c])();
    return kernels_[c];
  }

  template <std::size_t Node>
  static consteval const unit_descriptor* callable_text_at() {
    if constexpr (is_op(graph.nodes[Node])) {
      return nullptr;
    } else {
      using place = node_place<Node>;
      return &callable_text<place::part::name, typename place::part::callable_type, place::call::value,
                            typename place::in, typename place::call::output>;
    }
  }
  template <std::size_t... Node>
  static constexpr std::array<const unit_descriptor*, sizeof...(Node)> callable_texts(std::index_sequence<Node...>) {
    return {callable_text_at<Node>()...};
  }

  /// Calls `timed(call, before)` with the kernel of a candidate as a call.
  template <class Timed>
  void with_kernel(const made_kernel& k, const candidate& c, Timed timed) {
    const node_info& node = graph.nodes[c.first];
    std::vector<std::size_t> taken;
    for_each_input(node, [&](std::size_t v) { taken.push_back(v); });
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
    given.in = node.more.empty() ? places[0] : reinterpret_cast<std::byte*>(places.data());
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
        with_kernel(make<maker>(), found::candidates[maker], [](auto call, auto) { call(); });
        // A view, too, has a place of its own here.
        if (graph.nodes[Node].reuses == reuse::view)
          std::memcpy(values_[graph.nodes[Node].out], values_[graph.nodes[Node].in] + graph.nodes[Node].view_offset,
                      graph.values[graph.nodes[Node].out].bytes);
      }
    } else if constexpr (is_timed_callable<Node>()) {
      call_stage<Node>();
    }
  }

  // ---- devices that compute by themselves ----

  /// The first open one that a backend computes on, or behind all.
  std::size_t device_of(std::size_t backend) const {
    std::size_t d = 0;
    while (d < devices_.size() && devices_[d].id.kind != backend_values<Backends>::values[backend].device) ++d;
    return d;
  }
  /// A kernel there takes one value.
  bool is_measured(const candidate& c) const {
    return on_processor(c) || (device_of(c.backend) < devices_.size() && graph.nodes[c.first].more.empty());
  }

  /// The kernel's time by the device's clock; what comes before and behind it are the ways there and back.
  void time_on_device(std::size_t index, std::string_view backend, const std::string& signature) {
    const candidate& c = found::candidates[index];
    const std::size_t d = device_of(c.backend);
    device_queue& queue = *devices_[d].queue;
    const made_kernel& made = kernel(index);
    const device_kernel* const code = made.text->on_device(made.kernel.get());
    if (!is_prepared_[index]) {
      constexpr std::size_t aligned_to = device_buffer_alignment;
      queue.prepare(
          {index, aligned(c.scratch_bytes, aligned_to), fixed_array<device_segment::unit>(1, [&](std::size_t) {
             return device_segment::unit{code, 0, 0};
           })});
      is_prepared_[index] = true;
    }
    device_probe probe(queue, index, values_[graph.nodes[c.first].in], values_[graph.nodes[c.first + c.count - 1].out]);
    probe.run();
    std::vector<double> there, computing, back;
    const auto start = std::chrono::steady_clock::now();
    const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    while (computing.size() < 9 || (computing.size() < 200 && spent() < options_.seconds_each)) {
      const device_trip trip = probe.run();
      there.push_back(trip.there), computing.push_back(trip.computing), back.push_back(trip.back);
    }
    ways_[d].there.emplace_back(static_cast<double>(code->in_bytes), summary_of(std::move(there)).seconds);
    ways_[d].back.emplace_back(static_cast<double>(code->out_bytes), summary_of(std::move(back)).seconds);
    const cost taken = summary_of(std::move(computing));
    note_peak(c, backend, taken.seconds);
    keep(backend, signature, taken);
  }

  /// The most that any kernel of a device's backend did, and the least that one took: a roofline for those not
  /// measured.
  void note_peak(const candidate& c, std::string_view backend, double seconds) {
    double flops = 0, bytes = static_cast<double>(graph.values[graph.nodes[c.first].in].bytes);
    for (std::size_t n = c.first; n < c.first + c.count; ++n) {
      flops += graph.nodes[n].flops;
      bytes += static_cast<double>(graph.nodes[n].parameter_bytes);
    }
    bytes += static_cast<double>(graph.values[graph.nodes[c.first + c.count - 1].out].bytes);
    auto [at, is_new] = peaks_.try_emplace(backend, roofline{backend, 0, 0, seconds});
    roofline& peak = at->second;
    peak.flops_per_second = std::max(peak.flops_per_second, flops / std::max(seconds, 1e-9));
    peak.bytes_per_second = std::max(peak.bytes_per_second, bytes / std::max(seconds, 1e-9));
    peak.launch_seconds = std::min(peak.launch_seconds, seconds);
  }

  /// A device whose kernels the host computes moves nothing: what is measured is the way of the news.
  void measure_empty_trips(std::size_t d) {
    device_probe probe(*devices_[d].queue, 0, nullptr, nullptr);
    probe.run();
    std::vector<double> there, back;
    for (int i = 0; i < 101; ++i) {
      const device_trip trip = probe.run();
      there.push_back(trip.there), back.push_back(trip.back);
    }
    for (const double bytes : {0.0, 1.0}) {
      ways_[d].there.emplace_back(bytes, summary_of(there).seconds);
      ways_[d].back.emplace_back(bytes, summary_of(back).seconds);
    }
  }

  void measure_ways() {
    constexpr device_id processor{device_kind::cpu, 0};
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const device_id id = devices_[d].id;
      if (id.kind == device_kind::simulated && !costs_.has_transfer(processor, id)) measure_empty_trips(d);
      if (ways_[d].there.empty()) continue;
      const crossing there = line_through(ways_[d].there, assumed_transfer);
      const crossing back = line_through(ways_[d].back, assumed_transfer);
      costs_.set(transfer_cost{processor, id, there.seconds, there.seconds_per_byte});
      costs_.set(transfer_cost{id, processor, back.seconds, back.seconds_per_byte});
    }
    for (const auto& [backend, peak] : peaks_)
      if (peak.flops_per_second > 0) costs_.set(peak);
  }

  // ---- callables ----

  /// A map of plain items without side data and state: what others do, or need, is not to be had here.
  template <std::size_t Node>
  static consteval bool is_timed_callable() {
    using call = typename node_place<Node>::call;
    using in = typename node_place<Node>::in;
    if constexpr (call::value == form::map && !is_branch_items<in>) {
      using callable = typename stage<Node>::callable_type;
      return std::is_trivially_copyable_v<in> && std::is_trivially_copyable_v<typename call::output> &&
             sides_of<callable, form::map>::type::size == 0 && std::is_empty_v<callable>;
    } else {
      return false;
    }
  }
  template <std::size_t Node>
  void call_stage() {
    using in = typename node_place<Node>::in;
    using out = typename node_place<Node>::call::output;
    using callable = typename stage<Node>::callable_type;
    call_with<form::map, in, out>(*static_cast<callable*>(stages_[Node]), values_[graph.nodes[Node].in],
                                  values_[graph.nodes[Node].out]);
  }
  template <std::size_t... Node>
  void measure_callables(std::index_sequence<Node...>) {
    (measure_callable<Node>(), ...);
  }
  template <std::size_t Node>
  void measure_callable() {
    if constexpr (is_timed_callable<Node>())
      if (const std::string signature = signature_of(Node, 1); is_wanted("callable", signature))
        keep("callable", signature, measure_call([&] { call_stage<Node>(); }, [] {}, sweep_, options_.seconds_each));
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
    if (!is_wanted(backend, signature)) return;
    if constexpr (on_processor(c))
      time_kernel(make<C>(), c, backend, signature);
    else
      time_on_device(C, backend, signature);
  }

  void time_kernel(const made_kernel& k, const candidate& c, std::string_view backend, const std::string& signature) {
    with_kernel(k, c, [&](auto call, auto before) {
      keep(backend, signature, measure_call(call, before, sweep_, options_.seconds_each));
    });
  }

  /// Nobody has measured it, or only an earlier round.
  bool is_wanted(std::string_view backend, const std::string& signature) {
    ++done_;
    const bool is_first = !measured_in_.contains({backend, signature});
    if (is_first && costs_.find(backend, signature) == nullptr) return true;
    if (!is_first && measured_in_.at({backend, signature}) < round_) return true;
    if (round_ == 0) ++result_.reused;
    return false;
  }
  void keep(std::string_view backend, const std::string& signature, const cost& c) {
    const cost* const known = costs_.find(backend, signature);
    if (known == nullptr || c.seconds < known->seconds) costs_.set(backend, signature, c);
    measured_in_[{backend, signature}] = round_;
    costs_.write();
    if (round_ == 0) ++result_.measured;
    ++kept_;
    if (!options_.progress) return;
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const std::size_t all =
        count_all(std::make_index_sequence<nodes>{}) * static_cast<std::size_t>(std::max(options_.rounds, 1));
    options_.progress(
        {done_, all, spent / static_cast<double>(kept_) * static_cast<double>(all - done_), backend, signature});
  }

  /// What was measured of the ways to a device and back.
  struct device_ways {
    measured_ways there, back;
  };

  std::vector<made_kernel> kernels_;  ///< those that last: of whole plans, and of devices, which are closed before
  fixed_array<attached_device> devices_;
  std::vector<device_ways> ways_;  ///< of the devices
  std::vector<char> is_prepared_ = std::vector<char>(candidates);
  std::map<std::string_view, roofline> peaks_;
  void* const* stages_;
  profiled_values<nodes_bound> values_;
  cache_sweep sweep_;
  cost_header& costs_;
  const profile_options& options_;
  profile_result result_;
  std::map<std::pair<std::string_view, std::string>, int> measured_in_;  ///< the last round
  int round_ = 0;
  std::size_t done_ = 0, kept_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace levada::detail
