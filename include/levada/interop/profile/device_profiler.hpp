// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/device_profiler.hpp: what kernels take on devices that compute by themselves, and the ways there and
// back.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/interop/profile/cost_header.hpp>
#include <levada/interop/profile/device_probe.hpp>
#include <levada/interop/profile/made_kernels.hpp>
#include <levada/interop/profile/measure.hpp>
#include <levada/interop/profile/options.hpp>
#include <levada/plan/cost_table.hpp>
#include <levada/run/detail/session/deployment.hpp>

namespace levada::detail {

/// Of a graph with at most `N` nodes.
template <std::size_t N>
class device_profiler {
 public:
  device_profiler(const graph_info<N>& graph, std::span<const backend_info> backends, std::size_t candidates,
                  fixed_array<attached_device> devices, cost_header& costs, const profile_options& options)
      : graph_(graph),
        backends_(backends),
        devices_(std::move(devices)),
        ways_(devices_.size()),
        is_prepared_(candidates),
        costs_(costs),
        options_(options) {}

  /// Such a device is there, and its kernel takes one value or is that of a region.
  bool can_time(const candidate& c) const {
    return device_of(c.backend) < devices_.size() &&
           (graph_.nodes[c.first].more.empty() || !is_chain(graph_, c.first, c.count));
  }

  /// The kernel's time by the device's clock; what comes before and behind it are the ways there and back.
  /// `in`: where its inputs lie, in their order.
  cost time(std::size_t index, const candidate& c, const made_kernel& made, std::vector<const void*> in, void* out) {
    const std::size_t d = device_of(c.backend);
    device_queue& queue = *devices_[d].queue;
    const device_kernel* const code = made.text->on_device(made.kernel.get());
    if (!is_prepared_[index]) {
      queue.prepare(segment_of(index, c, *code));
      is_prepared_[index] = true;
    }
    device_probe probe(queue, index, std::move(in), out);
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
    note_peak(c, backends_[c.backend].name, taken.seconds);
    return taken;
  }

  /// Behind all kernels: what the ways take, and what the backends do at most.
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

 private:
  device_segment segment_of(std::size_t index, const candidate& c, const device_kernel& code) const {
    device_segment segment(index, aligned(c.scratch_bytes, device_buffer_alignment), code);
    const auto taken = inputs_of_run(graph_, c.first, c.count);
    if (taken.size() == 1) return segment;
    segment.units[0].inputs = taken.size();
    segment.inputs = fixed_array<device_segment::value>(taken.size());
    for (std::size_t i = 0; i < taken.size(); ++i) {
      segment.units[0].takes[i] = {device_place::part::input, i};
      segment.inputs[i].bytes = graph_.values[taken[i]].bytes;
    }
    return segment;
  }

  /// The first open one that a backend computes on, or behind all.
  std::size_t device_of(std::size_t backend) const {
    std::size_t d = 0;
    while (d < devices_.size() && devices_[d].id.kind != backends_[backend].device) ++d;
    return d;
  }

  /// The most that any kernel of a device's backend did, and the least that one took: a roofline for those not
  /// measured.
  void note_peak(const candidate& c, std::string_view backend, double seconds) {
    const run_work work = work_of_run(graph_, c.first, c.count);
    auto [at, is_new] = peaks_.try_emplace(backend, roofline{backend, 0, 0, seconds});
    roofline& peak = at->second;
    peak.flops_per_second = std::max(peak.flops_per_second, work.flops / std::max(seconds, 1e-9));
    peak.bytes_per_second = std::max(peak.bytes_per_second, work.bytes / std::max(seconds, 1e-9));
    peak.launch_seconds = std::min(peak.launch_seconds, seconds);
  }

  /// A device whose kernels the host computes moves nothing: what is measured is the way of the news.
  void measure_empty_trips(std::size_t d) {
    device_probe probe(*devices_[d].queue, 0, {}, nullptr);
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

  /// What was measured of the ways to a device and back.
  struct device_ways {
    measured_ways there, back;
  };

  const graph_info<N>& graph_;
  const std::span<const backend_info> backends_;
  fixed_array<attached_device> devices_;
  std::vector<device_ways> ways_;  ///< of the devices
  std::vector<char> is_prepared_;  ///< by candidate
  std::map<std::string_view, roofline> peaks_;
  cost_header& costs_;
  const profile_options& options_;
};

}  // namespace levada::detail
