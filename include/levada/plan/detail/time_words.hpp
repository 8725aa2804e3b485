// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/time_words.hpp: how errors and reports write times, what is loaded, and where costs come from.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/pipeline_time.hpp>
#include <levada/plan/detail/text.hpp>

namespace levada::detail {

/// A number with so many decimals, but without zeros at its end.
template <class Text>
constexpr void append_decimals(Text& text, double number, int decimals) {
  std::uint64_t scale = 1;
  for (int d = 0; d < decimals; ++d) scale *= 10;
  auto scaled = static_cast<std::uint64_t>(number * static_cast<double>(scale) + 0.5);
  append_number(text, scaled / scale);
  scaled %= scale;
  if (scaled == 0) return;
  text += '.';
  while (scaled != 0) {
    scale /= 10;
    text += static_cast<char>('0' + scaled / scale);
    scaled %= scale;
  }
}

/// In four digits at most, and the largest unit that leaves it at least 1: "41.25 ms".
template <class Text>
constexpr void append_time(Text& text, double seconds) {
  constexpr std::array<std::string_view, 4> units{" ns", " us", " ms", " s"};
  std::size_t unit = 0;
  double value = seconds * 1e9;
  for (; value >= 999.95 && unit + 1 < units.size(); ++unit) value /= 1000;
  append_decimals(text, value, value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3);
  text += units[unit];
}

/// "cpu", "vulkan<0>", "serial stage track", "slots".
template <class Text>
constexpr void append_loaded(Text& text, const expected_load& load) {
  switch (load.of) {
    case expected_load::device:
      return append_device(text, load.at);
    case expected_load::serial_stage:
      text += "serial stage ";
      text += load.most.stage;
      return;
    case expected_load::slots:
      text += "slots";
  }
}

/// "detect", "the way of detect to vulkan<0>".
template <class Text>
constexpr void append_part(Text& text, const timed_part& part) {
  if (part.is_way) text += "the way of ";
  text += part.stage;
  if (!part.is_way) return;
  text += " to ";
  append_device(text, part.device);
}

/// "231 ms of it for later items".
template <class Text>
constexpr void append_waiting(Text& text, const pipeline_time& time) {
  append_time(text, time.waiting);
  text += " of it for later items";
}
/// "load of cpu".
template <class Text>
constexpr void append_load(Text& text, const expected_load& load) {
  text += "load of ";
  append_loaded(text, load);
}
/// "41 ms on 2 workers", for so many items.
template <class Text>
constexpr void append_shared(Text& text, const expected_load& load, double items) {
  append_time(text, load.work * items);
  text += " on ";
  append_number(text, load.workers);
  const bool one = load.workers == 1;
  text += load.of == expected_load::slots ? (one ? " slot" : " slots") : (one ? " worker" : " workers");
}

/// "cpu needs 41 ms", "cpu needs 82 ms of 2 workers".
template <class Text>
constexpr void append_needs(Text& text, const expected_load& load) {
  append_loaded(text, load);
  text += " needs ";
  append_time(text, load.work);
  if (load.of != expected_load::device || load.workers == 1) return;
  text += " of ";
  append_number(text, load.workers);
  text += " workers";
}
/// "in each 33 ms".
template <class Text>
constexpr void append_in_each(Text& text, double pace) {
  text += "in each ";
  append_time(text, pace);
}
/// "detect 35 ms of it".
template <class Text>
constexpr void append_most(Text& text, const timed_part& part) {
  append_part(text, part);
  text += ' ';
  append_time(text, part.seconds);
  text += " of it";
}
/// "20.5 %".
template <class Text>
constexpr void append_percent(Text& text, double share) {
  append_decimals(text, share * 100, 1);
  text += " %";
}

/// "measured", "3 of 7 measured, 3 estimated, 1 unknown".
template <class Text>
constexpr void append_known(Text& text, const known_costs& known) {
  if (known.measured == known.all) {
    text += "measured";
    return;
  }
  append_number(text, known.measured);
  text += " of ";
  append_number(text, known.all);
  text += " measured";
  const auto add = [&](std::size_t count, std::string_view how) {
    if (count == 0) return;
    text += ", ";
    append_number(text, count);
    text += how;
  };
  add(known.estimated, " estimated");
  add(known.unknown(), " unknown");
}

}  // namespace levada::detail
