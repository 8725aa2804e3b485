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
#include <levada/run/detail/measure/meter.hpp>

namespace levada::detail {

/// What devices call. They know the segments by their numbers among those of all regions.
template <class = void>
class basic_device_reporter : public device_client, public worker_bringer {
 public:
  /// Devices have nothing more to report and their threads are out of here: a short wait once all is finished.
  void wait_for_devices() const { devices_.wait_for_reports(); }

  void execute(std::size_t number, sequence item, computed_memory& memory) noexcept override {
    const std::size_t s = number - code_.first_segment;
    segment& seg = segments_[s];
    grain& g = seg.grain_of_device();
    g.begin = item;
    g.end = item + 1;
    g.slot = ring_.index(item);
    g.memory = memory.begin();
    g.some_ended = true;
    upload_inputs(s, g.slot, memory);
    meter::turn turn(measuring());
    g.watch.restart();
    g.watch.runs(turn, s, seg.code.first, item, 1, 0);
    for (std::size_t u = seg.code.first; u < seg.code.end; ++u) run_unit(seg, g, u, 0, 1);
    download_outputs(s, g.slot, memory);
    g.state.store(grain_state::free, std::memory_order_release);
  }
  const void* input(std::size_t number, sequence item, std::size_t which) noexcept override {
    segment& seg = segments_[number - code_.first_segment];
    const std::size_t v = seg.code.inputs.first[which];
    if (which != 0) return is_borrowed(v) ? borrowed(v, ring_.index(item)) : in_slot(v, ring_.index(item));
    const program_unit& unit = code_.units[seg.code.first];
    grain g;  // only its slot is asked for, as in `fail`
    g.slot = ring_.index(item);
    if (cancelled_.load(std::memory_order_relaxed))
      cancel_items(seg, g, unit, 0, 1);
    else if (settings_.deadline.count() != 0)
      drop_late_items(seg, g, unit, 0, 1);
    if (state_of(ring_.state[g.slot]) != item_state::value) return nullptr;
    return is_borrowed(v) ? borrowed(v, g.slot) : in_slot(v, g.slot);
  }
  void* const* kept_for(std::size_t number, sequence item) noexcept override {
    return versions_ ? objects_[ring_.index(item)] + segments_[number - code_.first_segment].code.first : nullptr;
  }
  void* output(std::size_t number, sequence item, std::size_t which) noexcept override {
    return in_slot(segments_[number - code_.first_segment].code.outputs.first[which], ring_.index(item));
  }
  item_envelope envelope(sequence item) noexcept override { return ring_.envelope[ring_.index(item)]; }
  void overdue(std::size_t number, sequence item) noexcept override {
    segment& seg = segments_[number - code_.first_segment];
    grain g;  // only its slot is asked for, as in `fail`
    g.slot = ring_.index(item);
    end_item(seg, g, code_.units[seg.code.first], 0, item_state::dropped);
  }
  bool asks_times() const noexcept override { return measuring() != nullptr; }
  void timed(std::size_t number, sequence item, const device_times& times) noexcept override {
    if (meter* m = measuring()) m->on_device(number - code_.first_segment, item, times);
  }
  void complete(std::size_t number, sequence item) noexcept override {
    const std::size_t s = number - code_.first_segment;
    end_inputs_of_kernels(s, item);
    if (meter* m = measuring()) [[unlikely]] {
      const program_segment& code = segments_[s].code;
      if (code_.units[code.first].kernel != nullptr && state_of(ring_.state[ring_.index(item)]) == item_state::value)
        m->computed(code.first, code.end);
      m->returned(s, code_.segments[s].first, item);
    }
    if (finish(s, item, item + 1, true)) wake();
    devices_.report_ends();
  }
  [[gnu::cold]] void fail(std::size_t number, sequence item, std::exception_ptr why) noexcept override {
    const std::size_t s = number - code_.first_segment;
    segment& seg = segments_[s];
    const std::size_t at = ring_.index(item);
    if (state_of(ring_.state[at]) == item_state::value) {
      grain g;  // only its slot is asked for: what crosses the border into a device lives in slots
      g.slot = at;
      for (const std::size_t v : code_.units[seg.code.first].alive) destroy(seg, g, v, 0);
      ring_.error[at] = std::move(why);
      tell_of_failure(at);
      set_state(ring_.state[at], item_state::failed);
      if (const meter::turn turn(measuring()); turn) meter::ended(turn.lane(), seg.code.first, item_state::failed);
    }
    complete(number, item);
  }

 protected:
  [[gnu::cold]] basic_device_reporter(const program& code, fixed_array<device_queue*> queues,
                                      permits& concurrency_limit, event_count& event, engine_host& host,
                                      bool borrows_input, const session_settings& settings)
      : device_client(session_terms{settings.clock != nullptr, settings.deadline, settings.is_one_item}),
        worker_bringer(code, std::move(queues), static_cast<device_client&>(*this), concurrency_limit, event, host,
                       borrows_input, settings) {
    if (has_devices()) devices_.connect(segments_);
  }
  ~basic_device_reporter() = default;

  // ---- what a device whose work is computed here has in its own memory ----

  bool is_value(std::size_t at) { return state_of(ring_.state[at]) == item_state::value; }
  /// A unit of the segment takes what was made elsewhere.
  bool enters(std::size_t s, std::size_t v) const {
    bool taken = false;
    for (std::size_t u = segments_[s].code.first; u < segments_[s].code.end; ++u)
      for_each_input(code_.units[u], [&](std::size_t in) { taken = taken || in == v; });
    return taken && code_.values[v].made_in != s;
  }
  [[gnu::cold]] void upload_inputs(std::size_t s, std::size_t at, computed_memory& memory) noexcept {
    for (std::size_t v = 0; v < code_.values.size(); ++v)
      if (is_value(at) && is_copied(segments_[s], v) && enters(s, v))
        memory.upload(place_of_copy(segments_[s], v), is_borrowed(v) ? borrowed(v, at) : in_slot(v, at),
                      code_.values[v].copied_bytes);
  }
  [[gnu::cold]] void download_outputs(std::size_t s, std::size_t at, computed_memory& memory) noexcept {
    for (std::size_t v = 0; v < code_.values.size(); ++v)
      if (is_value(at) && is_copied(segments_[s], v) && code_.values[v].made_in == s && code_.values[v].reaches_host)
        memory.download(in_slot(v, at), place_of_copy(segments_[s], v), code_.values[v].copied_bytes);
  }

  bool submit(std::size_t s) noexcept {
    return devices_.submit(
        s, segments_[s], [&] { return arrived(s); },
        [&](sequence item) {
          if (meter* m = measuring()) [[unlikely]]
            m->handed(item);
        },
        [&](sequence item, std::exception_ptr why) { fail(code_.first_segment + s, item, std::move(why)); });
  }
};
using device_reporter = basic_device_reporter<>;

}  // namespace levada::detail
