// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html/script.hpp: what all parts of the page's script share: the data by unit, words for numbers, hints,
// search.

#include <string_view>

namespace levada::detail {

inline constexpr std::string_view html_script =
    R"js(const data = JSON.parse(document.getElementById('data').textContent);
const byId = id => document.getElementById(id);
const svgNames = byId('picture').namespaceURI;

function element(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}
function drawn(name, attributes, ...children) {
  return filled(document.createElementNS(svgNames, name), attributes, children);
}
function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}
const note = (section, text) => { document.querySelector('#' + section + ' .note').textContent = text; };

// ---- numbers as words ----
function scaled(value, step, units) {
  let unit = 0;
  while (Math.abs(value) >= step && unit + 1 < units.length) { value /= step; ++unit; }
  const digits = Math.abs(value) >= 100 || (unit === 0 && Number.isInteger(value)) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits) + '\u202f' + units[unit];
}
const bytesText = bytes => scaled(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
const flopsText = flops => flops ? scaled(flops, 1000, ['FLOP', 'kFLOP', 'MFLOP', 'GFLOP', 'TFLOP']) : '';
const nsText = ns => scaled(ns, 1000, ['ns', '\u00b5s', 'ms', 's']);
const secondsText = s => Math.abs(s) > 0 && Math.abs(s) < 1e-9 ? scaled(s * 1e12, 1000, ['ps']) : nsText(s * 1e9);
const percent = part => (part >= 0 ? '' : '\u2212') +
  (Math.abs(part) * 100).toFixed(Math.abs(part) < .01 ? 2 : Math.abs(part) < .1 ? 1 : 0) + '\u202f%';
const plural = (count, word) => count + ' ' + word + (count === 1 ? '' : 's');
const itemText = value => value.element === 'other'
  ? plural(value.bytes, 'byte') : value.element + '[' + value.shape.join('x') + ']';
const marks = { measured: '', estimated: '\u2248 ', unknown: '?' };
const costText = cost => cost.origin === 'unknown' ? 'unknown' : marks[cost.origin] + secondsText(cost.seconds);

// ---- units ----
const units = [], segments = [];
data.regions.forEach((region, r) => {
  const firstSegment = segments.length;
  region.plan.segments.forEach((segment, s) => segments.push({ ...segment, region: r, number: firstSegment + s,
    bound: region.memory.segments[s].bound, kernelOffset: region.memory.segments[s].kernel_offset,
    values: region.plan.values }));
  region.firstUnit = units.length;
  region.plan.units.forEach((unit, u) => {
    const reason = region.reasons.units[u];
    units.push({ ...unit, id: units.length, step: u + 1, region: r, values: region.plan.values,
      name: unit.stages.map(stage => stage.name).join(' + '), device: region.plan.segments[unit.segment].device,
      segment: firstSegment + unit.segment,
      flops: unit.stages.reduce((sum, stage) => sum + stage.flops, 0), ...reason });
  });
  region.lastUnit = units.length;
});
const hasCosts = data.regions.some(region => region.reasons.has_costs);
// What a run measured is of these units only where it names the same.
const measured = data.statistics && data.statistics.stages.length === units.length &&
  data.statistics.stages.every((stage, u) => stage.name === units[u].name) ? data.statistics.stages : null;
const ranFor = u => measured && measured[u].time.count ? measured[u].time : null;

// ---- colours ----
const keys = { device: unit => unit.device, backend: unit => unit.backend,
  segment: unit => 'segment ' + unit.segment + ', ' + unit.device };
let colourBy = ['device', 'backend', 'segment'].find(key => new Set(units.map(keys[key])).size > 1) || 'device';
const coloured = {};
for (const [key, of] of Object.entries(keys)) coloured[key] = [...new Set(units.map(of))];
const colourOf = unit => 'var(--c' + coloured[colourBy].indexOf(keys[colourBy](unit)) % 8 + ')';
const recolour = [];
const onColour = action => { recolour.push(action); action(); };

// ---- hints ----
const hint = byId('hint');
function showHint(event, title, lines) {
  hint.replaceChildren(element('b', {}, title), lines.filter(line => line).join('\n'));
  hint.hidden = false;
  const box = hint.getBoundingClientRect();
  hint.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
  hint.style.top = (event.clientY + 18 + box.height > innerHeight
    ? Math.max(4, event.clientY - box.height - 10) : event.clientY + 18) + 'px';
}
const hideHint = () => { hint.hidden = true; };
function hinted(node, title, lines) {
  node.addEventListener('mousemove', event => showHint(event, title, lines()));
  node.addEventListener('mouseleave', hideHint);
}
const takesText = unit => unit.in.map(v => itemText(unit.values[v])).join(' + ');
const givesText = unit => unit.out === undefined ? 'nothing' : itemText(unit.values[unit.out]);
const where = unit => unit.backend === 'callable' ? unit.device : unit.backend + ' on ' + unit.device;

const whyText = unit => ({
  'only way': unit.backend === 'callable' ? 'A callable, which no other device of the target runs.'
    : 'Nobody else takes it.',
  'pinned': 'Pinned to ' + unit.device + '.',
  'preference': unit.backend === 'callable' ? unit.device + ' is the first device named that runs it.'
    : unit.backend + ' is the first named that takes it' +
      (unit.stages.length > 1 ? ', in the longest run that it takes as one.' : '.'),
  'cost': 'The cheapest for the whole.',
  'noise': 'Another is cheaper by less than the measurements are sure of; this one is named first.',
  'saved': 'A saved plan says so.',
  'whole': 'The whole plan was measured, and faster than others that were tried.',
  'promise': 'Another is cheaper, but the plan would not keep what is promised, or need more than it has to.'
})[unit.why];
function otherText(unit, other) {
  const who = (other.backend === 'callable' ? '' : other.backend + ' on ') + other.device +
    (other.kernels > 1 ? ', ' + other.kernels + ' kernels' : '') +
    (other.units > 1 ? ', as one with the next ' + plural(other.units - 1, 'unit') : '');
  if (!data.regions[unit.region].reasons.has_costs || other.cost.origin === 'unknown')
    return who + (hasCosts ? ': cost unknown' : '');
  const whole = data.regions[unit.region].reasons.seconds;
  return who + ': ' + costText(other.cost) + ', the whole ' + (other.more_seconds < 0 ? '\u2212' : '+') +
    secondsText(Math.abs(other.more_seconds)) +
    (whole > 0 ? ' (' + (other.more_seconds < 0 ? '' : '+') + percent(other.more_seconds / whole) + ')' : '') +
    (other.within_noise ? ', within the noise' : '');
}
function unitLines(unit) {
  const ran = ranFor(unit.id);
  return ['segment ' + unit.segment + ', ' + where(unit) + ', ' + unit.order,
    unit.stages.length > 1 ? 'fused: ' + unit.stages.map(stage => stage.kind).join(' + ') : unit.stages[0].kind,
    ...unit.stages.filter(stage => stage.holds).map(stage => 'holds ' + stage.holds),
    unit.method ? 'computed by ' + unit.method : '',
    takesText(unit) + ' \u2192 ' + givesText(unit), flopsText(unit.flops) && 'work ' + flopsText(unit.flops),
    unit.weight_bytes ? 'weights ' + bytesText(unit.weight_bytes) : '',
    unit.scratch_bytes ? 'scratch ' + bytesText(unit.scratch_bytes) : '',
    unit.parts > 1 ? 'of a lone item computed in ' + unit.parts + ' parts where threads are idle' : '',
    hasCosts ? 'cost ' + costText(unit.cost) + (unit.cost.origin === 'unknown' ? '' : ', ' + unit.cost.origin) : '',
    unit.move_seconds ? 'moving what it takes ' + secondsText(unit.move_seconds) : '',
    ran ? 'this run: median ' + nsText(ran.median) + ', p99 ' + nsText(ran.p99) : '', whyText(unit),
    ...unit.others.slice(0, 6).map(other => 'else ' + otherText(unit, other)),
    unit.others.length > 6 ? '... and ' + (unit.others.length - 6) + ' more' : ''];
}

// ---- search ----
const found = [], parts = units.map(() => []);
let foundAt = 0;
const belongs = (node, u) => { parts[u].push(node); return node; };
function search(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(word => word);
  found.length = foundAt = 0;
  for (const unit of units) {
    const text = [unit.name, ...unit.stages.map(stage => stage.kind + ' ' + (stage.holds || '')),
      unit.backend, unit.device, 'segment ' + unit.segment, unit.order].join(' ').toLowerCase();
    const hit = wanted.length > 0 && wanted.every(word => text.includes(word));
    if (hit) found.push(unit.id);
    for (const node of parts[unit.id]) node.classList.toggle('hit', hit);
  }
  document.body.classList.toggle('searching', wanted.length > 0);
  byId('found').textContent = wanted.length ? found.length + ' of ' + plural(units.length, 'unit') : '';
}
byId('search').addEventListener('input', event => search(event.target.value));
byId('search').addEventListener('keydown', event => {
  if (event.key !== 'Enter' || !found.length) return;
  parts[found[foundAt++ % found.length]][0].scrollIntoView({ block: 'center', behavior: 'smooth' });
});
byId('colours').value = colourBy;
byId('colours').addEventListener('change', event => {
  colourBy = event.target.value;
  recolour.forEach(action => action());
});

// ---- what it is in short ----
// Of what the search knows: that no other partition takes less, or by how much one may.
const leastText = reasons => reasons.least_seconds <= 0 ? ''
  : reasons.seconds <= reasons.least_seconds * (1 + 1e-9) ? ', which is the least'
  : ', at most ' + ((reasons.seconds / reasons.least_seconds - 1) * 100).toFixed(1) + ' % more than the least';
{
  const stages = units.reduce((sum, unit) => sum + unit.stages.length, 0);
  const sum = key => data.regions.reduce((all, region) => all + region.plan[key], 0);
  const held = data.regions.reduce((all, region) => all + region.rate_bytes, 0);
  const reasons = data.regions[0].reasons;
  byId('summary').textContent = [
    plural(stages, 'stage') + ' in ' + plural(units.length, 'unit') + ' and ' + plural(segments.length, 'segment'),
    data.regions.length > 1 ? plural(data.regions.length, 'region') + ' of different rates' : '',
    'on ' + [...new Set(segments.map(segment => segment.device))].join(', '),
    bytesText(sum('bytes_total') + held) + ' in all: ' + bytesText(sum('bytes_in_flight')) + ' slots, ' +
      bytesText(sum('bytes_scratch')) + ' scratchpads, ' +
      bytesText(sum('bytes_weights')) + ' weights' + (held ? ', ' + bytesText(held) + ' where the rate changes' : ''),
    hasCosts && data.regions.length === 1
      ? (reasons.objective === 'throughput' ? 'expected time between results ' : 'expected latency ') +
        secondsText(reasons.seconds) + (reasons.machine ? ' by the costs of ' + reasons.machine : '') +
        leastText(reasons)
      : ''].filter(part => part).join(' \u00b7 ');
}
if (data.promised) {
  byId('promises').hidden = false;
  byId('promises').querySelector('pre').textContent = [data.promised, data.verified].filter(part => part).join('\n');
}
)js";

}  // namespace levada::detail
