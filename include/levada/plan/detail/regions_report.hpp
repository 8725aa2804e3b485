// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/regions_report.hpp: the plan of a pipeline that changes its rate, as text and as JSON: region by region,
// how often each comes to an item, and how large what waits between them and inside them is, and could be at least.

#include <cstddef>
#include <span>
#include <string>
#include <tuple>

#include <levada/core/detail/device_queue.hpp>
#include <levada/plan/detail/regions.hpp>
#include <levada/plan/detail/report.hpp>

namespace levada {
namespace detail {

/// A region needs one slot: what is begun of a batch or a window lies in its rate.
inline constexpr std::size_t least_slots = 1;

inline std::string ring_text(const planned_ring& ring) {
  std::string text = "  ring at " + printable_text(ring.at) + ", " + decimal_text(ring.index) + ": " +
                     decimal_text(ring.size.room) + " x " + bytes_text(ring.item_bytes);
  if (ring.size.least < ring.size.room) text += "; at least " + decimal_text(ring.size.least) + ", with pauses";
  return text + '\n';
}

inline std::string rate_text(const planned_rate& rate) {
  std::string text = ", behind " + printable_text(rate.name);
  if (rate.ratio.takes != 0)
    text += ", which gives " + decimal_text(rate.ratio.gives) + " for " + decimal_text(rate.ratio.takes);
  return text;
}

}  // namespace detail

/// Region by region, for people.
template <class... Plans>
std::string text_report(const plan_of_regions<Plans...>& plan, std::span<const deployed_streams> deployed = {}) {
  std::string text =
      detail::decimal_text(plan.regions) + " rate regions, " + detail::decimal_text(plan.segments) + " segments\n";
  std::size_t r = 0;
  const auto add = [&](const auto& region) {
    text += "\nrate region " + detail::decimal_text(r);
    if (r != 0) text += detail::rate_text(plan.rate[r]);
    if (plan.repetitions[r] != 0) text += ", " + detail::decimal_text(plan.repetitions[r]) + " items in a period";
    text += "; slots " + detail::decimal_text(region.slots) + ", at least " +
            detail::decimal_text(detail::least_slots) + '\n';
    for (const planned_ring& ring : plan.rate[r].rings) text += detail::ring_text(ring);
    text += '\n' + text_report(region, deployed);
    ++r;
  };
  std::apply([&](const auto&... region) { (add(region), ...); }, plan.region);
  return text + "\nrates        " + detail::bytes_text(plan.bytes_rates) + "\nall regions  " +
         detail::bytes_text(plan.bytes_total) + '\n';
}

/// The same as one JSON object.
template <class... Plans>
std::string json_report(const plan_of_regions<Plans...>& plan, std::span<const deployed_streams> deployed = {}) {
  detail::json_writer json;
  json.open('{');
  json.key("regions");
  json.open('[');
  std::size_t r = 0;
  const auto add = [&](const auto& region) {
    const planned_rate& rate = plan.rate[r];
    json.open('{');
    if (r != 0) {
      json.field("rate", rate.name);
      json.field("takes", rate.ratio.takes);
      json.field("gives", rate.ratio.gives);
      json.field("rate_bytes", rate.bytes);
    }
    json.field("repetitions", plan.repetitions[r]);
    json.field("least_slots", detail::least_slots);
    write_list(json, "rings", rate.rings, [&](const planned_ring& ring) {
      json.open('{');
      json.field("at", ring.at);
      json.field("index", ring.index);
      json.field("room", ring.size.room);
      json.field("least", ring.size.least);
      json.field("item_bytes", ring.item_bytes);
      json.close('}');
    });
    json.key("plan");
    detail::write_plan(json, region, deployed);
    json.close('}');
    ++r;
  };
  std::apply([&](const auto&... region) { (add(region), ...); }, plan.region);
  json.close(']');
  json.field("bytes_total", plan.bytes_total);
  json.close('}');
  return json.take();
}

}  // namespace levada
