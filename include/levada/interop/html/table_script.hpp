// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html/table_script.hpp: the kernels with their costs and what else there was, and the stages as a run measured
// them.

#include <string_view>

namespace levada::detail {

inline constexpr std::string_view table_script = R"js(
function table(heads, rows) {
  return element('table', {}, element('thead', {},
      element('tr', {}, ...heads.map(([text, kind]) => element('th', { class: kind || '' }, text)))),
    element('tbody', {}, ...rows));
}
const cell = (text, kind) => element('td', { class: kind || '' }, text);

// ---- kernels ----
{
  const costs = units.map(unit => unit.cost.origin === 'unknown' || !hasCosts ? 0 : unit.cost.seconds);
  const times = units.map(unit => ranFor(unit.id) ? ranFor(unit.id).median : 0);
  const most = Math.max(...costs, 0), longest = Math.max(...times, 0);
  const withBar = (text, part, unit) => {
    const bar = element('span', { class: 'bar' });
    bar.style.width = (100 * part).toFixed(1) + '%';
    onColour(() => { bar.style.background = colourOf(unit); });
    return element('td', { class: 'number' }, text, part > 0 ? bar : null);
  };
  const rows = units.map((unit, u) => {
    const others = unit.others.slice(0, 4).map(other => element('span', { class: 'other' }, otherText(unit, other)));
    if (unit.others.length > 4)
      others.push(element('span', { class: 'other' }, 'and ' + (unit.others.length - 4) + ' more'));
    const swatch = element('span', { class: 'swatch' });
    onColour(() => { swatch.style.background = colourOf(unit); });
    const row = element('tr', {}, cell(String(u), 'number'),
      element('td', {}, swatch, unit.name,
        ...unit.stages.filter(stage => stage.holds)
          .map(stage => element('span', { class: 'other' }, 'holds ' + stage.holds))),
      cell(where(unit)),
      cell(takesText(unit) + ' \u2192 ' + givesText(unit), 'item'), cell(flopsText(unit.flops), 'number'),
      hasCosts
        ? withBar(unit.backend === 'callable' && unit.cost.origin === 'estimated' ? 'not measured'
            : costText(unit.cost),
            most > 0 ? costs[u] / most : 0, unit)
        : null,
      measured ? withBar(times[u] ? nsText(times[u]) : '\u2013', longest > 0 ? times[u] / longest : 0, unit) : null,
      element('td', {}, whyText(unit), ...others));
    belongs(row, u);
    return row;
  });
  document.querySelector('#kernels .drawing').append(
    table([['#', 'number'], ['stages'], ['computed by'], ['item'], ['work', 'number'],
      ...(hasCosts ? [['cost', 'number']] : []), ...(measured ? [['median in the run', 'number']] : []),
      ['why, and what else there was']], rows));
  const machines = [...new Set(data.regions.map(region => region.reasons.machine).filter(machine => machine))];
  const forks = data.regions.flatMap(region => region.forks).map(fork => ' ' + fork + '.').join('');
  note('kernels', (hasCosts
    ? 'Costs are seconds an item' + (machines.length ? ', of ' + machines.join(' and ') : '') +
      '; \u2248 marks what a roofline estimated, what is unmarked was measured. Of what else could have ' +
      'computed a unit it is said what its kernels cost, and by how much the whole would change, ' +
      'all other units as they are (objective: ' +
      data.regions[0].reasons.objective + ').'
    : 'Nobody gave costs, so the default decided: a stage that is pinned runs where it is pinned, ' +
      'any other on the first device named that takes it, an op by the first backend named that takes it, ' +
      'in its longest run.') + forks);
}

// ---- transfers ----
{
  const transfers = data.regions.flatMap(region => region.plan.transfers.map(transfer => ({ ...transfer, region })));
  const giver = transfer => units.find(unit => unit.region === data.regions.indexOf(transfer.region) &&
    unit.out === transfer.value);
  const rows = transfers.map(transfer => element('tr', {},
    cell(giver(transfer) ? giver(transfer).name : 'what comes in'), cell(transfer.from), cell(transfer.to),
    cell(itemText(transfer.region.plan.values[transfer.value]), 'item'), cell(bytesText(transfer.bytes), 'number'),
    cell(String(transfer.times), 'number'), cell(costText({ ...transfer }), 'number')));
  if (rows.length)
    document.querySelector('#transfers .drawing').append(table([['given by'], ['from'], ['to'], ['item'],
      ['bytes', 'number'], ['times an item', 'number'], ['cost', 'number']], rows));
  note('transfers', rows.length
    ? 'Seconds an item, all its times together; \u2248 marks what nobody measured.'
    : 'Nothing is moved from one device to another.');
}

// ---- streams ----
{
  const queues = data.regions.flatMap(region => region.plan.queues);
  const streams = queues.flatMap(queue => queue.streams);
  const deployed = streams.some(stream => stream.replicas !== undefined);
  const orNone = (number, text) => number ? text(number) : '\u2013';
  const rows = streams.map(stream => element('tr', {}, cell(stream.name), cell(stream.subject), cell(stream.retention),
    cell(orNone(stream.message_bytes, bytesText), 'number'), cell(String(stream.count), 'number'),
    ...(deployed && stream.replicas !== undefined
      ? [cell(orNone(stream.most_messages, String), 'number'), cell(orNone(stream.most_bytes, bytesText), 'number'),
         cell(String(stream.replicas), 'number')] : [])));
  if (rows.length) {
    byId('queues').hidden = false;
    document.querySelector('#queues .drawing').append(table([['stream'], ['subject'], ['retention'],
      ['longest message', 'number'], ['streams', 'number'],
      ...(deployed ? [['messages at most', 'number'], ['bytes at most', 'number'], ['replicas', 'number']] : [])],
    rows));
    note('queues', data.regions.flatMap(region => region.queues).map(text => text + '.').join(' '));
  }
}

// ---- stages ----
{
  const statistics = data.statistics;
  if (!statistics) {
    note('stages', 'No run was given, or it was not measured: session.measure(), then report(app, session, file).');
  } else {
    const timed = statistics.stages.filter(stage => stage.time.count);
    const low = Math.log(Math.max(1, Math.min(...timed.map(stage => stage.time.min)))),
      high = Math.log(Math.max(2, ...timed.map(stage => stage.time.max)));
    const at = ns => 4 + 192 * (Math.log(Math.max(1, ns)) - low) / Math.max(1e-9, high - low);
    const range = (time, u) => {
      if (!time.count) return cell('');
      const line = drawn('rect', { x: at(time.min), y: 7, width: Math.max(1, at(time.max) - at(time.min)), height: 2,
        fill: 'var(--quiet)', opacity: .6 });
      const body = drawn('rect', { x: at(time.min), y: 4, width: Math.max(1, at(time.p99) - at(time.min)), height: 8,
        rx: 2, 'fill-opacity': .45 });
      const median = drawn('rect', { x: at(time.median) - 1, y: 2, width: 2.5, height: 12, fill: 'var(--ink)' });
      onColour(() => { body.style.fill = measured ? colourOf(units[u]) : 'var(--c0)'; });
      return element('td', {}, drawn('svg', { width: 200, height: 16 }, line, body, median));
    };
    const ended = stage => ['failed', 'filtered', 'overdue', 'cancelled', 'late']
      .filter(how => stage[how]).map(how => stage[how] + ' ' + how).join(', ');
    const rows = statistics.stages.map((stage, u) => {
      const time = ns => cell(stage.time.count ? nsText(ns) : '\u2013', 'number');
      const row = element('tr', {}, cell(stage.name), cell(String(stage.segment), 'number'),
        cell(stage.items.toLocaleString('en'), 'number'), time(stage.time.min), time(stage.time.median),
        time(stage.time.p99), time(stage.time.max), range(stage.time, u),
        cell(stage.waited.count ? nsText(stage.waited.p99) : '\u2013', 'number'), cell(ended(stage)));
      return measured ? belongs(row, u) : row;
    });
    document.querySelector('#stages .drawing').append(
      table([['stages'], ['segment', 'number'], ['items', 'number'], ['min', 'number'],
        ['median', 'number'], ['p99', 'number'], ['max', 'number'],
        ['least to most, logarithmic'], ['waited, p99', 'number'], ['ended here, or late']], rows));
    const spread = (name, d, text) =>
      d.count ? name + ': median ' + text(d.median) + ', p99 ' + text(d.p99) + ', max ' + text(d.max) : '';
    const counted = of => Object.entries(of).filter(([, count]) => count)
      .map(([how, count]) => count.toLocaleString('en') + ' ' + how.replace('_', ' '));
    const why = counted(statistics.drops).join(', ');
    const lines = [counted(statistics.items).join(', ') + (why && '; dropped: ' + why),
      ...statistics.regions_behind.map((region, r) =>
        'of rate region ' + (r + 1) + ': ' + counted(region.items).join(', ')),
      spread('age at the output', statistics.age, nsText),
      statistics.latency_budget
        ? 'late: ' + statistics.late.toLocaleString('en') + ' above ' + nsText(statistics.latency_budget) : '',
      statistics.occupied.count
        ? 'slots in use: median ' + statistics.occupied.median + ', max ' + statistics.occupied.max +
          ' of ' + statistics.slots
        : '',
      ...statistics.segments.flatMap((segment, s) => [
        spread('before segment ' + s, segment.waited, nsText), spread('upload of segment ' + s, segment.upload, nsText),
        spread('compute of segment ' + s, segment.compute, nsText),
        spread('download of segment ' + s, segment.download, nsText)])];
    byId('stages').append(...lines.filter(line => line).map(line => element('p', { class: 'note' }, line)));
    note('stages',
      'Nanoseconds an item. The bar goes from the least to the 99th of a hundred, its mark is the median, ' +
      'the thin line ends at the most.' +
      (measured ? '' : ' The stages are not those of this plan: the app was deployed by another.'));
  }
}
)js";

}  // namespace levada::detail
