// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html/memory_script.hpp: the memory of one item as rectangles: from offset to offset, from the step that makes
// a value to the last that takes it.

#include <string_view>

namespace levada::detail {

inline constexpr std::string_view memory_script = R"js(
{
  const room = Math.max(420, byId('memory').clientWidth - 4), left = 74;
  // rectangles: { from, to, low, bytes, text, colour, kind }
  const arena = (region, title, bytes, rectangles) => {
    const own = units.slice(region.firstUnit, region.lastUnit), steps = own.length + 2;
    const step = Math.min(64, (room - left - 8) / steps),
      height = Math.max(60, Math.min(220, 30 * Math.max(2, rectangles.length))),
      width = left + step * steps + 8;
    const named = step >= 18, labels = named ? 84 : 22;
    const y = offset => 4 + height * (1 - offset / Math.max(1, bytes)), x = at => left + step * at;
    const drawing = [];
    for (let tick = 0; tick <= 4; ++tick) {
      const at = bytes * tick / 4;
      drawing.push(drawn('line', { x1: left, x2: width - 8, y1: y(at), y2: y(at), stroke: 'var(--line)' }),
        drawn('text', { class: 'quiet', x: left - 6, y: y(at) + 4, 'text-anchor': 'end' }, bytesText(Math.round(at))));
    }
    for (const one of rectangles) {
      const wide = x(one.to + 1) - x(one.from) - 1.5, high = Math.max(1.5, y(one.low) - y(one.low + one.bytes) - 1);
      const rect = drawn('rect', { x: x(one.from) + .75, y: y(one.low + one.bytes) + .5,
        width: Math.max(1, wide), height: high, rx: 2,
        'fill-opacity': one.kind === 'value' ? .35 : one.kind === 'whole' ? .04 : .14,
        ...(one.kind === 'value' ? {}
          : one.kind === 'whole' ? { 'stroke-opacity': .35 } : { 'stroke-dasharray': '3 2' }) });
      const recolour = () => { rect.style.fill = rect.style.stroke = one.unit ? colourOf(one.unit) : 'var(--quiet)'; };
      onColour(recolour);
      hinted(rect, one.title,
        () => [bytesText(one.bytes) + ' (' + one.bytes + ' bytes) from ' + one.offset, one.lines].flat());
      drawing.push(rect);
      if (one.kind === 'value' && high > 12 && wide > 7 * one.text.length)
        drawing.push(drawn('text', { x: x(one.from) + 6, y: y(one.low + one.bytes / 2) + 4, 'pointer-events': 'none' },
          one.text));
    }
    const names = ['input', ...own.map(unit => unit.name), 'result'];
    names.forEach((name, at) => {
      if (named) {
        const shown = name.length > 16 ? name.slice(0, 15) + '\u2026' : name,
          px = x(at) + step / 2 + 3, py = height + 12;
        drawing.push(drawn('text', { class: 'quiet', x: px, y: py, 'text-anchor': 'end',
          transform: 'rotate(-45 ' + px + ' ' + py + ')' }, shown));
      } else if (at <= own.length && at % Math.ceil(40 / step) === 1) {
        drawing.push(drawn('text', { class: 'quiet', x: x(at) + step / 2, y: height + 18, 'text-anchor': 'middle' },
          '#' + (region.firstUnit + at - 1)));
      }
    });
    byId('memory').append(element('h3', {}, title),
      element('div', { class: 'drawing' },
        drawn('svg', { width, height: height + labels, role: 'img', 'aria-label': title }, ...drawing)));
  };
  data.regions.forEach((region, r) => {
    const plan = region.plan, values = plan.values, prefix = data.regions.length > 1 ? 'region ' + r + ', ' : '';
    const own = units.slice(region.firstUnit, region.lastUnit);
    const rectangle = (v, base) => {
      const value = values[v], maker = own.find(unit => unit.out === v),
        inside = values.filter((other, o) => other.storage === v && o !== v).length;
      return { from: value.first_step, to: value.last_step, low: base + value.offset, offset: value.offset,
        bytes: value.bytes, unit: maker, kind: 'value', text: itemText(value),
        title: 'value ' + v + ': ' + itemText(value),
        lines: [maker ? 'made by ' + maker.name : value.first_step === 0 ? 'the input' : 'made of several',
          'alive from step ' + value.first_step + ' to ' + value.last_step,
          inside ? plural(inside, 'other value') + ' in the same place' : ''] };
    };
    const owned = values.map((value, v) => v).filter(v => values[v].storage === v && values[v].bytes > 0);
    const at = (...places) => owned.filter(v => places.includes(values[v].placement));
    if (plan.slot_bytes > 0)
      arena(region,
        prefix + 'slot: ' + bytesText(plan.slot_bytes) + ' for each of ' + plan.slots +
          ' items in flight (' + plan.slots_by + ')',
        plan.slot_bytes, at('slot').map(v => rectangle(v, 0)));
    // Segments have steps of their own, so that one picture holds the scratchpads of all.
    const rectangles = [], own_segments = segments.filter(segment => segment.region === r);
    for (const segment of own_segments) {
      const first = segment.first_unit, end = first + segment.units, bytes = segment.item_bytes + segment.shared_bytes;
      const here = v => values[v].first_step > first && values[v].first_step <= end;
      if (bytes > 0) rectangles.push({ from: first + 1, to: end, low: 0, offset: 0, bytes, unit: own[first],
        kind: 'whole', text: '', title: 'scratchpad of segment ' + segment.number + ' on ' + segment.device,
        lines: [bytesText(segment.item_bytes) + ' for each of the ' + plural(segment.grain, 'item') + ' of a grain',
          bytesText(segment.shared_bytes) + ' for all of them',
          plural(segment.grains, 'grain') + ' in flight', 'values alive at one step: ' + bytesText(segment.bound)] });
      rectangles.push(...at('scratchpad').filter(here).map(v => rectangle(v, 0)),
        ...at('shared scratchpad').filter(here).map(v => rectangle(v, segment.item_bytes)));
      for (const unit of own.slice(first, end))
        if (unit.scratch_bytes) rectangles.push({ from: unit.step, to: unit.step,
          low: segment.item_bytes + segment.kernelOffset, offset: segment.kernelOffset, bytes: unit.scratch_bytes,
          unit, kind: 'scratch', text: '',
          title: 'scratch of ' + unit.name, lines: ['while its kernel runs'] });
    }
    if (rectangles.length) {
      const only = own_segments.length === 1 ? own_segments[0] : null;
      arena(region, prefix + (only
          ? 'scratchpad: ' +
            (only.item_bytes > 0
              ? bytesText(only.item_bytes) + ' for each of the ' + plural(only.grain, 'item') + ' of a grain, ' : '') +
            bytesText(only.shared_bytes) + ' for a grain of ' + plural(only.grain, 'item') + '; ' +
            plural(only.grains, 'grain') + ' in flight'
          : 'scratchpads of the segments: ' + bytesText(plan.bytes_scratch) + ' in all'),
        Math.max(...rectangles.map(one => one.low + one.bytes)), rectangles);
    }
  });
  const sum = key => data.regions.reduce((all, region) => all + region.memory[key], 0),
    bytes = sum('arena_bytes'), bound = sum('arena_bound');
  note('memory', 'The values of one item take ' + bytesText(bytes) +
    (bound > 0
      ? ', ' + (bytes / bound).toFixed(3) + ' times what is alive together at one step (' + bytesText(bound) +
        '): no arena is smaller than that'
      : '') +
    '. Filled: values; dashed: what kernels need while they run. ' +
    'Steps are the units (#), colours those of who makes the value.');
}
)js";

}  // namespace levada::detail
