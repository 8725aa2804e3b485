// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html/timeline_script.hpp: what each device did in a run, and below it, on the same scale, what is expected:
// items through the plan, each unit taking what it costs, and nobody waiting but for a free worker and, at a serial
// stage, for its turn.

#include <string_view>

namespace levada::detail {

inline constexpr std::string_view timeline_script = R"js(
{
  const section = byId('timelines');
  const names = data.trace ? data.trace.stages : [];
  const isOfThese = names.length === units.length && names.every((name, u) => name === units[u].name);

  // ---- the run: bars { lane, begin, end, unit, title, lines, grain } ----
  const laneOfRun = [], run = [];
  let undrawn = 0;
  const worked = data.trace ? data.trace.events.filter(event => event[0] === 'grain' || event[0] === 'stage') : [];
  const threadsOfRun = [...new Set(worked.map(event => event[2]))].sort((a, b) => a - b);
  // Grains are as large as they mostly were, else as the plan allows.
  const sizes = worked.filter(event => event[0] === 'grain').map(event => event[3]).sort((a, b) => a - b);
  if (data.trace) {
    const laneNumber = new Map(), lane = name => {
      if (!laneNumber.has(name)) laneNumber.set(name, laneOfRun.push(name) - 1);
      return laneNumber.get(name);
    };
    threadsOfRun.forEach((thread, i) => lane('worker ' + i));
    const ends = {};
    const lateItems = new Set();
    for (const [kind, what, thread, items, first, begin, ns] of data.trace.events) {
      const end = begin + ns,
        lines = [nsText(ns) + ' from ' + nsText(begin),
          items > 1 ? 'items ' + first + ' to ' + (first + items - 1) : 'item ' + first];
      if (kind === 'grain' || kind === 'stage') {
        const unit = kind === 'stage' && isOfThese ? units[what] : null;
        run.push({ lane: lane('worker ' + threadsOfRun.indexOf(thread)), begin, end, items, first, kind, unit,
          title: kind === 'grain' ? 'grain of segment ' + what : names[what], lines, what });
        continue;
      }
      if (kind === 'late') lateItems.add(first);
      // Several items are at a device, or late, at once: each in the first row that is free.
      const rows = ends[kind === 'late' ? kind : what + kind] ||= [];
      let row = 0;
      while (row < rows.length && rows[row] > begin) ++row;
      rows[row] = end;
      if (row >= 6) { ++undrawn; continue; }
      if (kind === 'late') {
        run.push({ lane: lane('late' + (row ? ' (' + (row + 1) + ')' : '')), begin, end, items, kind, unit: null,
          title: 'late' + (names[what] ? ', most at ' + names[what] : ''), lines, what });
        continue;
      }
      const of = segments[what] ? segments[what].device : 'segment ' + what;
      run.push({ lane: lane(of + (kind === 'device' ? '' : ', ' + kind) + (row ? ' (' + (row + 1) + ')' : '')),
        begin, end, items, kind, unit: isOfThese ? units.find(unit => unit.segment === what) : null,
        title: kind === 'device' ? 'segment ' + what + ' at ' + of : kind + ' of segment ' + what, lines, what });
    }
    // Late items have numbers of the last region.
    if (data.regions.length === 1)
      for (const bar of run)
        for (let i = bar.first; bar.kind === 'stage' && !bar.late && i < bar.first + bar.items; ++i)
          if (lateItems.has(i)) bar.late = true, bar.lines.push('item ' + i + ' was late');
  }

  // ---- what is expected ----
  const byCosts = hasCosts && units.every(unit => unit.cost.origin !== 'unknown') &&
    units.some(unit => unit.cost.seconds > 0);
  const byMedians = !byCosts && measured && measured.every(stage => stage.time.count);
  const expected = [], laneOfExpected = [];
  let nsAnItem = 0;
  const expect = until => {
    expected.length = laneOfExpected.length = 0;
    const free = {}, laneAt = {};
    for (const segment of segments) {
      if (free[segment.device]) continue;
      const workers = segment.device !== 'cpu' ? segment.device.split(',').length
        : Math.min(data.regions[0].plan.threads, data.trace ? Math.max(1, threadsOfRun.length) : Infinity);
      free[segment.device] = new Array(workers).fill(0), laneAt[segment.device] = laneOfExpected.length;
      for (let w = 0; w < workers; ++w) laneOfExpected.push(segment.device + (workers > 1 ? ' ' + w : ''));
    }
    // Always the step that can begin first, of several the one of the oldest items; not more items in flight than
    // slots.
    const line = segments.filter(segment => segment.region === 0),
      stages = line.map(segment => units.filter(unit => unit.segment === segment.number));
    const grain = sizes.length ? Math.max(1, sizes[sizes.length >> 1])
      : Math.max(...line.map(segment => segment.grain)),
      inFlight = Math.max(1, Math.floor(data.regions[0].plan.slots / grain));
    const turn = new Array(units.length).fill(0), flying = [], done = [];
    const begins = grain => Math.max(grain.ready, Math.min(...free[line[grain.at].device]));
    for (let number = 0; expected.length < 20000;) {
      while (flying.length < inFlight)
        flying.push({ number: number++, at: 0, ready: number > inFlight ? done[done.length - 1] : 0 });
      let next = flying[0];
      for (const other of flying) if (begins(other) < begins(next)) next = other;
      const device = line[next.at].device, workers = free[device], worker = workers.indexOf(Math.min(...workers));
      let now = begins(next);
      for (const unit of stages[next.at]) {
        const ns = grain * (byCosts ? (unit.cost.seconds + unit.move_seconds) * 1e9 : measured[unit.id].time.median);
        if (unit.order === 'serial') now = Math.max(now, turn[unit.id]);
        if (ns > 0) expected.push({ lane: laneAt[device] + worker, begin: now, end: now + ns, items: grain,
          kind: 'stage', unit, title: unit.name,
          lines: [nsText(ns) + ' expected',
            grain > 1 ? 'items ' + next.number * grain + ' to ' + (next.number * grain + grain - 1)
              : 'item ' + next.number] });
        now += ns;
        if (unit.order === 'serial') turn[unit.id] = now;
      }
      workers[worker] = next.ready = now;
      if (++next.at < line.length) continue;
      flying.splice(flying.indexOf(next), 1);
      done.push(now);
      if (now > until && done.length >= 8) break;
    }
    done.sort((a, b) => a - b);
    const half = done.length >> 1;
    nsAnItem = done.length > 1 ? (done[done.length - 1] - done[half]) / ((done.length - 1 - half) * grain)
      : done[0] / grain;
  };

  // ---- drawing ----
  const rowHeight = 20, left = 150;
  const views = [];
  let from = 0, span = 1, most = 1;
  const chart = (title, bars, lanes) => {
    const canvas = element('canvas', { role: 'img', 'aria-label': title });
    section.append(element('h3', {}, title), canvas);
    views.push({ canvas, bars, lanes });
    let held = null;
    canvas.addEventListener('pointerdown', event => {
      held = [event.clientX, from];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointerup', () => { held = null; });
    canvas.addEventListener('pointermove', event => {
      const box = canvas.getBoundingClientRect(), scale = span / (box.width - left);
      if (held) { from = held[1] - (event.clientX - held[0]) * scale; redraw(); return; }
      const at = from + (event.clientX - box.left - left) * scale,
        row = Math.floor((event.clientY - box.top) / rowHeight);
      const under = bars.filter(bar => bar.lane === row && bar.begin <= at && at <= bar.end),
        best = under.find(bar => bar.kind !== 'grain') || under[0];
      if (best) showHint(event, best.title, best.lines); else hideHint();
    });
    canvas.addEventListener('pointerleave', hideHint);
    canvas.addEventListener('wheel', event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(event.deltaY > 0 ? 1.25 : .8, (event.clientX - box.left - left) / (box.width - left));
    }, { passive: false });
  };
  const zoom = (by, around) => {
    const at = from + span * around;
    span = Math.min(Math.max(span * by, 50), 2 * most);
    from = at - span * around;
    redraw();
  };
  const resolved = colour => colour.startsWith('var(')
    ? getComputedStyle(document.documentElement).getPropertyValue(colour.slice(4, -1)).trim() : colour;
  const tickText = (at, tick) => {
    const [scale, unit] = tick >= 1e6 ? [1e6, 'ms'] : tick >= 1e3 ? [1e3, '\u00b5s'] : [1, 'ns'];
    return Math.round(at / scale).toLocaleString('en') + '\u202f' + unit;
  };
  const redraw = () => {
    const style = getComputedStyle(document.documentElement), get = name => style.getPropertyValue(name).trim();
    for (const view of views) {
      const { canvas, bars, lanes } = view, width = canvas.clientWidth,
        height = lanes.length * rowHeight + 20, dense = devicePixelRatio || 1;
      canvas.style.height = height + 'px', canvas.width = width * dense, canvas.height = height * dense;
      const pen = canvas.getContext('2d');
      pen.scale(dense, dense);
      pen.font = '11px ' + getComputedStyle(document.body).fontFamily;
      const x = ns => left + (width - left) * (ns - from) / span;
      const ink = get('--ink'), quiet = get('--quiet'), line = get('--line');
      lanes.forEach((name, lane) => {
        pen.fillStyle = line, pen.fillRect(left, (lane + 1) * rowHeight - .5, width - left, 1);
        pen.fillStyle = quiet, pen.fillText(name, 0, lane * rowHeight + 14, left - 8);
      });
      pen.save(), pen.beginPath(), pen.rect(left, 0, width - left, height), pen.clip();
      const power = Math.pow(10, Math.floor(Math.log10(span / 4))),
        tick = [1, 2, 5, 10].map(n => n * power).find(n => span / n <= 8) || power;
      for (let at = Math.ceil(from / tick) * tick; at < from + span; at += tick) {
        pen.fillStyle = line, pen.fillRect(x(at), 0, 1, lanes.length * rowHeight + 3);
        pen.fillStyle = quiet, pen.fillText(tickText(at, tick), x(at) + 3, height - 6);
      }
      for (const bar of bars) {
        const begin = x(bar.begin), wide = Math.max(.6, x(bar.end) - begin), y = bar.lane * rowHeight;
        if (begin > width || begin + wide < left) continue;
        if (bar.kind === 'grain') {
          pen.fillStyle = line, pen.fillRect(begin, y + 2, wide, rowHeight - 5);
          continue;
        }
        pen.fillStyle = bar.kind === 'late' ? get('--accent') : bar.unit ? resolved(stageColour(bar.unit)) : quiet;
        pen.globalAlpha = bar.unit && bar.unit.id % 2 ? .68 : .92,
          pen.fillRect(begin, y + 4, Math.max(.6, wide - (wide > 3 ? 1 : 0)), rowHeight - 9), pen.globalAlpha = 1;
        if (bar.late) pen.fillStyle = get('--accent'), pen.fillRect(begin, y + rowHeight - 5, Math.max(1, wide - 1), 2);
        if (wide > 34) {
          pen.save(), pen.beginPath(), pen.rect(begin, y, wide - 3, rowHeight), pen.clip();
          pen.fillStyle = get('--paper'), pen.fillText(bar.title, Math.max(begin, left) + 4, y + 14);
          pen.restore();
        }
      }
      pen.restore();
    }
  };
  // Where one device does all, its stages are told apart by their own colours.
  const stageColour = unit => coloured[colourBy].length > 1 ? colourOf(unit) : 'var(--c' + unit.id % 8 + ')';

  if (run.length) {
    const grains = run.filter(bar => bar.kind === 'grain'),
      lengths = grains.map(bar => bar.end - bar.begin).sort((a, b) => a - b);
    const typical = lengths.length ? lengths[lengths.length >> 1] : run[0].end - run[0].begin;
    most = Math.max(...run.map(bar => bar.end));
    // Where much happens: around the event in the middle.
    const bars = run.filter(bar => bar.kind !== 'grain'), middle = bars.length >> 1,
      last = Math.min(bars.length - 1, middle + 50);
    span = bars.length ? Math.min(most, Math.max(typical * 8, bars[last].end - bars[middle].begin, 500)) : most;
    from = bars.length ? Math.max(0, bars[middle].begin - span / 50) : 0;
    chart('As it ran', run, laneOfRun);
  }
  if (byCosts || byMedians) {
    const single = units.reduce((sum, unit) => sum +
      (byCosts ? (unit.cost.seconds + unit.move_seconds) * 1e9 : measured[unit.id].time.median), 0);
    if (!run.length) span = Math.max(100, 2 * single * segments[0].grain), most = 8 * span;
    expect(Math.max(most, span));
    if (run.length) for (const bar of expected) bar.begin += from, bar.end += from;
    chart('As expected', expected, laneOfExpected);
  }
  if (views.length) {
    const button = (text, label, action) => {
      const b = element('button', { type: 'button', 'aria-label': label }, text);
      b.addEventListener('click', action);
      return b;
    };
    section.insertBefore(element('div', { class: 'controls' },
      button('+', 'zoom in', () => zoom(.5, .5)), button('\u2212', 'zoom out', () => zoom(2, .5)),
      button('\u25c0', 'earlier', () => { from -= span / 2; redraw(); }),
      button('\u25b6', 'later', () => { from += span / 2; redraw(); }),
      button('all', 'the whole run', () => { from = 0, span = most; redraw(); }),
      'drag to move, ctrl and the wheel to zoom'), section.querySelector('h3'));
    onColour(redraw);
    addEventListener('resize', redraw);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  }
  const ranText = () => {
    if (!run.length) return 'No run was given, or it was not traced: session.trace(), then report(app, session, file).';
    const stage = run.filter(bar => bar.kind === 'stage' && bar.what === names.length - 1),
      items = stage.reduce((sum, bar) => sum + bar.items, 0);
    const time = stage.length > 1
      ? Math.max(...stage.map(bar => bar.end)) - Math.min(...stage.map(bar => bar.begin)) : 0;
    return 'The last ' + data.trace.events.length + ' events of a run' +
      (data.trace.left_out + data.trace.overwritten
        ? ' (' + (data.trace.left_out + data.trace.overwritten).toLocaleString('en') + ' before are left out)' : '') +
      (time > 0 ? ': an item each ' + nsText(time / items) : '') + '.' +
      (undrawn ? ' Of the items that are late, or at a device, together six are drawn.' : '') +
      (run.some(bar => bar.kind === 'late')
        ? ' Late items took longer than was promised; their stages are marked.' : '');
  };
  note('timelines', ranText() + ' ' +
    (byCosts ? 'Expected by the costs: an item each ' + nsText(nsAnItem) + '.'
      : byMedians
        ? 'Without costs, what is expected is worked out from the medians that the run measured: an item each ' +
          nsText(nsAnItem) + ' if nobody waited.'
        : hasCosts ? 'Some costs are unknown, so nothing is expected.' : 'Without costs nothing is expected.') +
    (data.regions.length > 1 && (byCosts || byMedians) ? ' Of the first region only.' : ''));
}
)js";

}  // namespace levada::detail
