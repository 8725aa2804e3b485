// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/report_devices.hpp: what is ready goes to the device of its segment, which asks for what it needs
// and reports what became of it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <levada/core/detail/device_queue.hpp>
#include <levada/run/detail/engine/bring_workers.hpp>
#include <levada/run/detail/engine/device_bridge.hpp>
#include <levada/run/detail/engine/device_lanes.hpp>
#include <levada/run/detail/engine/engine_links.hpp>
#include <levada/run/detail/measure/meter.hpp>

namespace levada::detail {

/// Takes what devices report.
template <class = void>
class basic_device_reporter : public worker_bringer {
 public:
  /// Devices have nothing more to report and their threads are out of here: a short wait once all is finished.
  void wait_for_devices() const {
    if (has_devices()) devices_->wait_for_reports();
  }
  /// Of deployments on devices; no other program compiles the bridge.
  static owner<device_bridge> open_bridge(basic_device_reporter& to, const fixed_array<device_queue*>& queues) {
    return owner<device_bridge>(new bridge(to, queues));
  }

 protected:
  template <class... Arguments>
  [[gnu::cold]] basic_device_reporter(const program& code, const engine_links& links, Arguments&&... arguments)
      : worker_bringer(code, links, std::forward<Arguments>(arguments)...) {
    if (links.has_devices()) devices_ = links.open_bridge(*this, links.queues);
  }
  ~basic_device_reporter() = default;

 private:
  class bridge;
};
using device_reporter = basic_device_reporter<>;

/// What devices call. They know the segments by their numbers among those of all regions.
template <class T>
class basic_device_reporter<T>::bridge final : public device_bridge, public device_client {
 public:
  bridge(basic_device_reporter& to, const fixed_array<device_queue*>& queues)
      : device_client(session_terms{to.settings_.clock != nullptr, to.settings_.deadline, to.settings_.is_one_item}),
        of_(to),
        first_segment_(to.code_.first_segment),
        lanes_(queues, first_segment_, to.code_.slots, *this) {
    lanes_.connect(of_.segments_);
  }

  bool submit(std::size_t s) noexcept override {
    return lanes_.submit(
        s, of_.segments_[s], [&] { return of_.arrived(s); },
        [&](sequence item) {
          if (meter* m = of_.measuring()) [[unlikely]]
            m->handed(item);
        },
        [&](sequence item, std::exception_ptr why) { fail(first_segment_ + s, item, std::move(why)); });
  }
  bool has_silent() const noexcept override { return lanes_.has_silent(); }
  bool look() noexcept override { return lanes_.look(); }
  void cancel() noexcept override { lanes_.cancel(); }
  void trace(const trace_context& of) noexcept override { lanes_.trace(of); }
  void wait_for_reports() const noexcept override { lanes_.wait_for_reports(); }

  void execute(std::size_t number, sequence item, computed_memory& memory) noexcept override {
    const std::size_t s = number - first_segment_;
    segment& seg = of_.segments_[s];
    grain& g = seg.grain_of_device();
    g.begin = item;
    g.end = item + 1;
    g.slot = of_.ring_.index(item);
    g.memory = memory.begin();
    g.some_ended = true;
    upload_inputs(s, g.slot, memory);
    meter::turn turn(of_.measuring());
    g.watch.restart();
    g.watch.runs(turn, s, seg.code.first, item, 1, 0);
    for (std::size_t u = seg.code.first; u < seg.code.end; ++u) of_.run_unit(seg, g, u, 0, 1);
    download_outputs(s, g.slot, memory);
    g.state.store(grain_state::free, std::memory_order_release);
  }
  const void* input(std::size_t number, sequence item, std::size_t which) noexcept override {
    segment& seg = segment_of(number);
    const std::size_t v = seg.code.inputs.first[which];
    if (which == 0) {
      const program_unit& unit = of_.code_.units[seg.code.first];
      grain_at g(slot_of(item));
      if (of_.cancelled_.load(std::memory_order_relaxed))
        of_.cancel_items(seg, g, unit, 0, 1);
      else if (of_.settings_.deadline.count() != 0)
        of_.drop_late_items(seg, g, unit, 0, 1);
      if (!is_value(g.slot)) return nullptr;
    }
    return where_it_comes_from(v, slot_of(item));
  }
  void* const* kept_for(std::size_t number, sequence item) noexcept override {
    return of_.versions_ ? of_.objects_[slot_of(item)] + segment_of(number).code.first : nullptr;
  }
  void* output(std::size_t number, sequence item, std::size_t which) noexcept override {
    return of_.in_slot(segment_of(number).code.outputs.first[which], slot_of(item));
  }
  item_envelope envelope(sequence item) noexcept override { return of_.ring_.envelope[slot_of(item)]; }
  void overdue(std::size_t number, sequence item) noexcept override {
    segment& seg = segment_of(number);
    grain_at g(slot_of(item));
    of_.end_item(seg, g, of_.code_.units[seg.code.first], 0, item_state::dropped);
  }
  bool asks_times() const noexcept override { return of_.measuring() != nullptr; }
  void timed(std::size_t number, sequence item, const device_times& times) noexcept override {
    if (meter* m = of_.measuring()) m->on_device(number - first_segment_, item, times);
  }
  void complete(std::size_t number, sequence item) noexcept override {
    const std::size_t s = number - first_segment_;
    of_.end_inputs_of_kernels(s, item);
    if (meter* m = of_.measuring()) [[unlikely]] {
      const program_segment& code = of_.segments_[s].code;
      if (of_.code_.units[code.first].kernel != nullptr && is_value(slot_of(item))) m->computed(code.first, code.end);
      m->returned(s, code.first, item);
    }
    if (of_.finish(s, item, item + 1, true)) of_.wake();
    lanes_.report_ends();
  }
  [[gnu::cold]] void fail(std::size_t number, sequence item, std::exception_ptr why) noexcept override {
    segment& seg = segment_of(number);
    const std::size_t at = slot_of(item);
    if (is_value(at)) {
      grain_at g(slot_of(item));
      for (const std::size_t v : of_.code_.units[seg.code.first].alive) of_.destroy(seg, g, v, 0);
      of_.ring_.error[at] = std::move(why);
      of_.tell_of_failure(at);
      set_state(of_.ring_.state[at], item_state::failed);
      if (const meter::turn turn(of_.measuring()); turn) meter::ended(turn.lane(), seg.code.first, item_state::failed);
    }
    complete(number, item);
  }

 private:
  /// Only its slot is asked for: what crosses the border into a device lies in slots.
  struct grain_at : grain {
    explicit grain_at(std::size_t at) { slot = at; }
  };

  segment& segment_of(std::size_t number) { return of_.segments_[number - first_segment_]; }
  std::size_t slot_of(sequence item) const { return of_.ring_.index(item); }
  bool is_value(std::size_t at) { return state_of(of_.ring_.state[at]) == item_state::value; }
  const void* where_it_comes_from(std::size_t v, std::size_t at) const {
    return of_.is_borrowed(v) ? of_.borrowed(v, at) : of_.in_slot(v, at);
  }

  // ---- what a device whose work is computed here has in its own memory ----

  /// A unit of the segment takes what was made elsewhere.
  bool enters(std::size_t s, std::size_t v) const {
    bool taken = false;
    for (std::size_t u = of_.segments_[s].code.first; u < of_.segments_[s].code.end; ++u)
      for_each_input(of_.code_.units[u], [&](std::size_t in) { taken = taken || in == v; });
    return taken && of_.code_.values[v].made_in != s;
  }
  [[gnu::cold]] void upload_inputs(std::size_t s, std::size_t at, computed_memory& memory) noexcept {
    for (std::size_t v = 0; v < of_.code_.values.size(); ++v)
      if (is_value(at) && of_.is_copied(of_.segments_[s], v) && enters(s, v))
        memory.upload(of_.place_of_copy(of_.segments_[s], v), where_it_comes_from(v, at),
                      of_.code_.values[v].copied_bytes);
  }
  [[gnu::cold]] void download_outputs(std::size_t s, std::size_t at, computed_memory& memory) noexcept {
    for (std::size_t v = 0; v < of_.code_.values.size(); ++v) {
      const program_value& value = of_.code_.values[v];
      if (is_value(at) && of_.is_copied(of_.segments_[s], v) && value.made_in == s && value.reaches_host)
        memory.download(of_.in_slot(v, at), of_.place_of_copy(of_.segments_[s], v), value.copied_bytes);
    }
  }

  basic_device_reporter& of_;
  const std::size_t first_segment_;
  device_lanes lanes_;
};

}  // namespace levada::detail
