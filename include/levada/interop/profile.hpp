// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile.hpp: measures what each kernel that could compute a part of a pipeline takes on this machine, and writes the header
// that `deploy<box, costs<...>>` reads:
//
//   using kernels = lv::backends<lv::simd, lv::onednn>;
//   lv::profile<box, kernels>(pipeline, pictures, "box.costs.hpp");
//
//   #include "box.costs.hpp"
//   const auto app = lv::deploy<box, kernels, lv::costs<box_costs>>(pipeline);

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <levada/interop/profile/cost_header.hpp>
#include <levada/interop/profile/measure.hpp>
#include <levada/plan/cost_table.hpp>
#include <levada/run/deploy.hpp>

namespace levada {

/// How far a profile is.
struct profile_progress {
  std::size_t done = 0, all = 0;
  double seconds_left = 0;  ///< if the rest takes as long as what was measured
  std::string_view backend, signature;
};

/// A line on the terminal, for `profile_options::progress`.
inline void print_progress(const profile_progress& p) {
  std::fprintf(stderr, "\r%zu of %zu, %.0f s left: %.*s %.60s\033[K%s", p.done, p.all, p.seconds_left,
               static_cast<int>(p.backend.size()), p.backend.data(), std::string(p.signature).c_str(),
               p.done == p.all ? "\n" : "");
}

/// How a profile is made.
struct profile_options {
  double seconds_each = 0.1;  ///< for each kernel, in each round
  int rounds = 3;             ///< all kernels, once more; of a kernel's medians the smallest counts
  std::function<void(const profile_progress&)> progress{};
};

/// What became of a profile.
struct profile_result {
  std::size_t measured = 0;  ///< now
  std::size_t reused = 0;    ///< from the header that was there
  std::string stale;         ///< the machine that a header which was there is from, if it is not this one
};

/// A measured call of a whole pipeline against the sum of what its kernels take (Collage's additive error).
struct additive_check {
  cost whole{};
  double sum = 0;
  std::size_t estimated = 0, unknown = 0;  ///< units whose cost nobody measured, or knows

  constexpr double error() const { return sum > 0 ? whole.seconds / sum - 1 : 0; }
};

namespace detail {

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

/// A kernel as a call: of what lies at some places.
using kernel_code = void (*)(const void* kernel, std::byte* const* in, std::byte* out, std::byte* scratch);

template <class Kernel, class In, class Out>
struct code_of_kernel {
  static void call(const void* kernel, std::byte* const* in, std::byte* out, std::byte* scratch) {
    (*static_cast<const Kernel*>(kernel))(*reinterpret_cast<const In*>(in[0]), *::new (static_cast<void*>(out)) Out,
                                          scratch);
  }
};
template <class Kernel, class... T, class Out>
struct code_of_kernel<Kernel, std::tuple<T...>, Out> {
  static void call(const void* kernel, std::byte* const* in, std::byte* out, std::byte* scratch) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (*static_cast<const Kernel*>(kernel))(std::tie(*reinterpret_cast<const T*>(in[I])...),
                                            *::new (static_cast<void*>(out)) Out, scratch);
    }(std::index_sequence_for<T...>{});
  }
};

/// A candidate with its weights.
struct made_kernel {
  erased_object kernel;
  kernel_code code = nullptr;
  std::size_t scratch_bytes = 0;
};

/// The candidates of a pipeline of one rate, as code that is timed.
template <class Flat, class Backends>
class profiler {
 public:
  using found = enumerated<Flat, Backends>;
  static constexpr const auto& graph = found::graph;
  static constexpr std::size_t nodes = Flat::nodes;
  static constexpr std::size_t candidates = found::candidates.size();

  profiler(void* const* stages, const void* item, cost_header& costs, const profile_options& options)
      : stages_(stages), values_(graph), sweep_(working_set()), costs_(costs), options_(options) {
    std::memcpy(values_[0], item, graph.values[0].bytes);
    compute_values(std::make_index_sequence<nodes>{});
  }

  /// What disturbs a machine lasts longer than a measurement, and only adds: a kernel is measured again when all others were.
  profile_result run() {
    begin_ = std::chrono::steady_clock::now();
    for (round_ = 0; round_ < std::max(options_.rounds, 1); ++round_) {
      measure_candidates(std::make_index_sequence<candidates>{});
      measure_callables(std::make_index_sequence<nodes>{});
    }
    return result_;
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

  static consteval bool on_processor(const candidate& c) {
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
    using kernel = kernel_for_t<backend, in, typename stage<first + I>::op_type...>;
    const std::string_view names[] = {stage<first + I>::name.view()...};
    const parameter_source_ref sources[] = {static_cast<const stage<first + I>*>(stages_[first + I])->weights...};
    return {make_kernel<backend, in, typename stage<first + I>::op_type...>(
                static_cast<const stage<first + I>*>(stages_[first + I])->description..., names, sources),
            &code_of_kernel<kernel, in, flowing_output<in, typename stage<first + I>::op_type...>>::call,
            kernel::scratch_bytes};
  }
  template <std::size_t C>
  made_kernel make() const {
    return make<C>(std::make_index_sequence<found::candidates[C].count>{});
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
    const arena_bytes scratch(k.scratch_bytes, 64);
    timed([&] { k.code(k.kernel.get(), places.data(), out, scratch.get()); },
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
  static consteval std::size_t count_all(std::index_sequence<Node...>) {
    std::size_t count = (std::size_t{0} + ... + (is_timed_callable<Node>() ? 1 : 0));
    for (const candidate& c : found::candidates) count += on_processor(c) ? 1 : 0;
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
    if constexpr (on_processor(c)) {
      const std::string_view backend = backend_values<Backends>::values[c.backend].name;
      if (const std::string signature = signature_of(c.first, c.count); is_wanted(backend, signature))
        time_kernel(make<C>(), c, backend, signature);
    }
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

  void* const* stages_;
  profiled_values<std::remove_cvref_t<decltype(found::graph.nodes)>::capacity()> values_;
  cache_sweep sweep_;
  cost_header& costs_;
  const profile_options& options_;
  profile_result result_;
  std::map<std::pair<std::string_view, std::string>, int> measured_in_;  ///< the last round
  int round_ = 0;
  std::size_t done_ = 0, kept_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace detail

/// Measures, on this thread, each kernel of the processor that could compute a part of the pipeline, with the first of the `samples`
/// on its way, and each plain callable; and writes the header at `path` after each, whole at any moment: what a header that is
/// there already has of this machine is not measured again. Kernels of devices that compute by themselves, and the ways there,
/// are left to estimates. `Options` are those of `deploy`; the backends are those that it would have.
template <class Target, class... Options, class Pipeline, class Samples>
  requires correct<detail::deployment_mistake<Pipeline, Target, Options...>> &&
           (!detail::changes_rate<detail::flat_parts<Pipeline>>)
profile_result
    profile(Pipeline pipeline, const Samples& samples, const std::string& path, const profile_options& options = {}) {
  using flat = detail::flat<Pipeline>;
  using backend_list = typename detail::backends_of<Target, Options...>::type;
  using rim = detail::rim_types<flat>;
  static_assert(!rim::has_source, "a profile takes the samples in place of a source's items");
  static_assert(std::is_trivially_copyable_v<typename rim::input_item>, "a profile copies its sample");
  void* stages[flat::stages];
  detail::stage_addresses visit{stages};
  for_each_stage(pipeline, visit);

  detail::cost_header costs(path, detail::machine_text());
  const double flops = detail::peak_flops(), bytes = detail::peak_bandwidth();
  for (const backend_info& b : detail::backend_values<backend_list>::values)
    if (b.device == device_kind::cpu) costs.set(roofline{b.name, flops, bytes, 0});
  const typename rim::input_item& sample = *std::begin(samples);
  const auto work = std::make_unique<detail::profiler<flat, backend_list>>(stages, &sample, costs, options);
  profile_result result = work->run();
  costs.write();
  result.stale = costs.stale_machine();
  return result;
}

/// Calls an app on this thread with the samples by turns, and adds up what a table says of its units.
template <class App, class Samples>
additive_check check_sum(const App& app, const cost_table& table, const Samples& samples, double seconds = 1) {
  constexpr const auto& plan = App::plan;
  additive_check check;
  const graph_costs<std::remove_cvref_t<decltype(plan.graph.nodes)>::capacity()> costs(
      plan.graph, std::span<const backend_info>(plan.backend.data(), plan.backend.size()), table);
  for (const auto& unit : plan.unit) {
    const cost c = unit.backend == partition_unit::callable ? costs.of_callable(unit.first)
                                                            : costs.of_run(unit.backend, unit.first, unit.count);
    check.sum += c.seconds;
    check.estimated += c.origin == cost_origin::estimated;
    check.unknown += c.origin == cost_origin::unknown;
  }
  auto next = std::begin(samples);
  using out = typename App::output;
  std::vector<double> calls;
  const auto result = std::make_unique<std::remove_cvref_t<out>>();
  const auto call = [&] {
    if (next == std::end(samples)) next = std::begin(samples);
    const auto& sample = *next++;
    const double start = detail::thread_seconds();
    app(sample, *result);
    calls.push_back(detail::thread_seconds() - start);
  };
  call();
  calls.clear();
  const double start = detail::thread_seconds();
  while (calls.size() < 9 || (calls.size() < 100000 && detail::thread_seconds() - start < seconds)) call();
  check.whole = detail::summary_of(std::move(calls));
  return check;
}

}  // namespace levada
