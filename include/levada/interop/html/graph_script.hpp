// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html/graph_script.hpp: the graph in layers (Sugiyama), each layer a column, and the columns in lines as words
// of a text are: so a plan of hundreds of units is as wide as the page and its words keep their size.

#include <string_view>

namespace levada::detail {

inline constexpr std::string_view graph_script = R"js(
// ---- the graph: nodes and edges ----
const nodes = [], edges = [];
{
  const addNode = node => {
    nodes.push({ ...node, index: nodes.length, from: [], to: [] });
    return nodes[nodes.length - 1];
  };
  const addEdge = (from, to, value) => {
    edges.push({ from: from.index, to: to.index, text: itemText(value) + ', ' + bytesText(value.bytes),
      border: from.unit && to.unit && from.unit.segment !== to.unit.segment });
    from.to.push(to.index), to.from.push(from.index);
  };
  let last = null;
  data.regions.forEach((region, r) => {
    const values = region.plan.values, own = [];
    const entry = r > 0
      ? addNode({ title: [region.rate || 'rate'],
          foot: region.takes && region.gives ? region.takes + ' \u2192 ' + region.gives : 'rate changes',
          held: region.rate_bytes })
      : null;
    if (r > 0 && last) addEdge(last.node, entry, last.value);
    const ports = values.map((value, v) => v).filter(v => values[v].part_of === 0 && v > 0);
    const inputs = new Map();
    const makersOf = v => {
      const maker = own.findIndex(node => node.unit && node.unit.out === v);
      if (maker >= 0) return [own[maker]];
      if (values[v].part_of !== undefined && values[v].part_of < v && values[v].part_of > 0)
        return makersOf(values[v].part_of);
      const parts = values.map((value, p) => p).filter(p => p < v && values[p].part_of === v);
      if (parts.length) return parts.flatMap(makersOf);
      if (entry) return [entry];
      if (!inputs.has(v))
        inputs.set(v, addNode({ title: [region.plan.source || (v > 0 ? 'port ' + (1 + ports.indexOf(v)) : 'input')],
          foot: itemText(values[v]), enters: true }));
      return [inputs.get(v)];
    };
    for (const unit of units.slice(region.firstUnit, region.lastUnit)) {
      const makers = unit.in.map(v => [v, makersOf(v)]);
      const node = addNode({ unit, title: unit.stages.map(stage => stage.name) });
      for (const [v, all] of makers) for (const maker of all) addEdge(maker, node, values[v]);
      own.push(node);
    }
    if (!region.plan.has_result) { last = null; return; }
    const result = region.plan.result, makers = makersOf(result);
    if (r + 1 < data.regions.length && makers.length === 1) {
      last = { node: makers[0], value: values[result] };
      return;
    }
    const node = addNode({ title: ['result'], foot: itemText(values[result]) });
    for (const maker of makers) addEdge(maker, node, values[result]);
    last = { node, value: values[result] };
  });
}

// ---- layers ----
const layers = [];
{
  const order = [], open = nodes.map(node => node.from.length);
  const ready = nodes.filter(node => !node.from.length);
  while (ready.length) {
    const node = ready.shift();
    order.push(node);
    for (const to of node.to) if (--open[to] === 0) ready.push(nodes[to]);
  }
  for (const node of order) node.layer = Math.max(-1, ...node.from.map(from => nodes[from].layer)) + 1;
  for (const node of order)
    if (node.enters && node.to.length) node.layer = Math.min(...node.to.map(to => nodes[to].layer)) - 1;
  const put = (cell, layer) => {
    (layers[layer] ||= []).push(cell);
    cell.layer = layer; cell.before = []; cell.behind = [];
  };
  for (const node of nodes) put(node, node.layer);
  const join = (a, b) => { a.behind.push(b), b.before.push(a); };
  // An edge across layers takes a place in each of them.
  for (const edge of edges) {
    edge.way = [nodes[edge.from]];
    for (let layer = nodes[edge.from].layer + 1; layer < nodes[edge.to].layer; ++layer) {
      const cell = { isWay: true };
      put(cell, layer), edge.way.push(cell);
    }
    edge.way.push(nodes[edge.to]);
    for (let i = 1; i < edge.way.length; ++i) join(edge.way[i - 1], edge.way[i]);
  }
  // Each as near as can be to the middle of its neighbours, layer by layer, to and fro.
  const number = layer => layer.forEach((cell, at) => { cell.at = at; });
  layers.forEach(number);
  const sortBy = (layer, side) => {
    for (const cell of layer)
      cell.middle = cell[side].length
        ? cell[side].reduce((sum, other) => sum + other.at, 0) / cell[side].length : cell.at;
    layer.sort((a, b) => a.middle - b.middle || a.at - b.at);
    number(layer);
  };
  for (let round = 0; round < 6; ++round) {
    for (let i = 1; i < layers.length; ++i) sortBy(layers[i], 'before');
    for (let i = layers.length - 1; i-- > 0;) sortBy(layers[i], 'behind');
  }
}

// ---- sizes and places ----
const lineHeight = 14, gapX = 34, gapY = 14, widest = 168;
{
  const ruler = document.createElement('canvas').getContext('2d');
  const width = text => ruler.measureText(text).width;
  const fitted = (text, most) => {
    if (width(text) <= most) return text;
    let size = text.length;
    while (size > 1 && width(text.slice(0, size) + '\u2026') > most) --size;
    return text.slice(0, size) + '\u2026';
  };
  const font = getComputedStyle(document.body).fontFamily;
  for (const node of nodes) {
    const unit = node.unit, ran = unit && ranFor(unit.id);
    ruler.font = '11.5px ' + font;
    const shown = node.title.length > 5 ? [...node.title.slice(0, 4), '+ ' + (node.title.length - 4) + ' more']
      : node.title;
    node.lines = shown.map(text => fitted(text, widest - 18));
    const foot = unit
      ? [unit.backend, unit.order === 'serial' ? 'serial' : '',
          unit.cost.origin !== 'unknown' && hasCosts && unit.cost.seconds > 0 ? costText(unit.cost)
            : ran ? nsText(ran.median) : ''].filter(text => text).join(' \u00b7 ')
      : node.foot;
    const title = Math.max(...node.lines.map(width));
    ruler.font = '10.5px ' + font;
    node.foot = fitted(foot, widest - 18);
    node.width = Math.max(52, Math.ceil(Math.max(title, width(node.foot)))) + 18;
    node.height = node.lines.length * lineHeight + 26;
  }
  for (const layer of layers) for (const cell of layer) if (cell.isWay) cell.width = 0, cell.height = 6;
  for (const layer of layers) {
    let y = 0;
    for (const cell of layer) cell.y = y + cell.height / 2, y += cell.height + gapY;
    for (const cell of layer) cell.y -= (y - gapY) / 2;
  }
  // Straight where that goes: a cell wants to be level with its neighbours, those of its own kind above all.
  const settle = (layer, sides) => {
    for (const cell of layer) {
      const all = sides.flatMap(side => cell[side]), alike = all.filter(other => !other.isWay === !cell.isWay),
        near = alike.length ? alike : all;
      cell.wish = near.length ? near.reduce((sum, other) => sum + other.y, 0) / near.length : cell.y;
    }
    // Neighbours that wish for the same place share what is there.
    const blocks = [];
    for (const cell of layer) {
      let block = { cells: [cell], height: cell.height, centre: cell.wish, weight: cell.isWay ? 1 : 60 };
      for (let before = blocks[blocks.length - 1];
          before && before.centre + before.height / 2 + gapY > block.centre - block.height / 2;
          before = blocks[blocks.length - 1]) {
        blocks.pop();
        const height = before.height + gapY + block.height, weight = before.weight + block.weight;
        const top = (before.weight * (before.centre - before.height / 2) +
          block.weight * (block.centre - block.height / 2 - before.height - gapY)) / weight;
        block = { cells: [...before.cells, ...block.cells], height, centre: top + height / 2, weight };
      }
      blocks.push(block);
    }
    for (const block of blocks) {
      let y = block.centre - block.height / 2;
      for (const cell of block.cells) cell.y = y + cell.height / 2, y += cell.height + gapY;
    }
  };
  for (let round = 0; round < 12; ++round) {
    for (const layer of layers) settle(layer, ['before']);
    for (let i = layers.length; i-- > 0;) settle(layers[i], ['behind']);
  }
  for (const layer of layers) settle(layer, ['before', 'behind']);
}

// A way along corners, round at each but the ends.
const rounded = points => points.slice(1).map(([x, y], i) => {
  if (i + 2 === points.length) return ' L' + x + ',' + y;
  const [fromX, fromY] = points[i], [toX, toY] = points[i + 2],
    before = Math.hypot(x - fromX, y - fromY), behind = Math.hypot(toX - x, toY - y);
  const radius = Math.min(6, before / 2, behind / 2),
    a = before ? radius / before : 0, b = behind ? radius / behind : 0;
  return ' L' + (x - (x - fromX) * a) + ',' + (y - (y - fromY) * a) +
    ' Q' + x + ',' + y + ' ' + (x + (toX - x) * b) + ',' + (y + (toY - y) * b);
}).join('');

function drawGraph() {
  const picture = byId('picture'), room = Math.max(420, byId('picture').parentNode.clientWidth - 2);
  const widthOf = layer => Math.max(...layer.map(cell => cell.width), 10);
  // Lines of layers.
  const margin = 22, lines = [];
  let line = null;
  for (const layer of layers) {
    const width = widthOf(layer);
    if (!line || line.width + gapX + width > room - 2 * margin) lines.push(line = { layers: [], width: -gapX });
    line.layers.push(layer), line.width += gapX + width;
  }
  // What comes back with the next item goes back above the boxes.
  const loops = nodes.filter(node => node.unit && node.unit.state_of !== undefined)
    .map(tail => [nodes.find(node =>
      node.unit && node.unit.id === data.regions[tail.unit.region].firstUnit + tail.unit.state_of), tail]);
  let top = loops.length ? 26 : 6;
  lines.forEach((line, l) => {
    const cells = line.layers.flat();
    const high = Math.min(...cells.map(cell => cell.y - cell.height / 2)),
      low = Math.max(...cells.map(cell => cell.y + cell.height / 2));
    // Edges go on in the next line: one lane for each below this one.
    const last = line.layers[line.layers.length - 1];
    line.crossing = l + 1 < lines.length ? last.flatMap(cell => cell.behind.map(other => [cell, other])) : [];
    let x = margin;
    for (const layer of line.layers) {
      const width = widthOf(layer);
      for (const cell of layer) {
        cell.line = l, cell.py = top + cell.y - high;
        cell.left = cell.isWay ? x : x + (width - cell.width) / 2;
        cell.right = cell.isWay ? x + width : cell.left + cell.width;
      }
      x += width + gapX;
    }
    line.right = x - gapX;
    line.lanes = top + low - high + 14;
    top = line.lanes + 6 * line.crossing.length + (loops.length ? 34 : 16);
  });
  const laneOf = new Map();
  for (const line of lines)
    line.crossing.forEach(([from, to], lane) => laneOf.set(from, (laneOf.get(from) || new Map()).set(to, lane)));

  const head = drawn('marker', { id: 'head', viewBox: '0 0 8 8', refX: 7.5, refY: 4, markerWidth: 7, markerHeight: 7,
      orient: 'auto', markerUnits: 'userSpaceOnUse' },
    drawn('path', { d: 'M0,0.8 L8,4 L0,7.2 z', fill: 'var(--quiet)' }));
  const drawing = [drawn('defs', {}, head)];
  for (const edge of edges) {
    let d = '';
    for (let i = 1; i < edge.way.length; ++i) {
      const a = edge.way[i - 1], b = edge.way[i];
      if (i === 1) d += 'M' + a.right + ',' + a.py;
      if (a.line === b.line) {
        const bend = Math.max(12, (b.left - a.right) / 2);
        d += ' C' + (a.right + bend) + ',' + a.py + ' ' + (b.left - bend) + ',' + b.py + ' ' + b.left + ',' + b.py;
      } else {
        const lane = laneOf.get(a).get(b), from = lines[a.line], y = from.lanes + 6 * lane;
        const out = from.right + 8 + Math.min(12, 3 * lane), back = margin - 8 - Math.min(12, 3 * lane);
        d += rounded([[a.right, a.py], [out, a.py], [out, y], [back, y], [back, b.py], [b.left, b.py]]);
      }
      if (b.isWay) d += ' L' + b.right + ',' + b.py;
    }
    const path = drawn('path',
      { d, class: 'edge' + (edge.border ? ' border' : ''), 'marker-end': 'url(#head)', 'stroke-linejoin': 'round' });
    hinted(path, edge.text, () => [edge.border ? 'crosses from one segment to another' : '']);
    drawing.push(path);
  }
  for (const [head, tail] of loops) {
    const middle = node => (node.left + node.right) / 2, y = node => node.py - node.height / 2;
    const path = drawn('path',
      { d: 'M' + middle(tail) + ',' + y(tail) +
        ' C' + middle(tail) + ',' + (y(tail) - 34) + ' ' + middle(head) + ',' + (y(head) - 34) +
        ' ' + middle(head) + ',' + y(head),
      class: 'edge', 'stroke-dasharray': '4 3', 'marker-end': 'url(#head)' });
    hinted(path, 'the state of ' + head.unit.name, () => ['comes back with a later item']);
    drawing.push(path);
  }
  for (const list of parts) list.splice(0, list.length, ...list.filter(node => !node.classList.contains('unit')));
  for (const node of nodes) {
    const y = node.py - node.height / 2, unit = node.unit;
    const box = drawn('rect', { class: 'box', x: node.left, y, width: node.width, height: node.height, rx: 5 });
    const texts = node.lines.map((text, i) => drawn('text', { x: node.left + 9, y: y + 16 + i * lineHeight }, text));
    const foot = drawn('text', { class: 'quiet', x: node.left + 9, y: y + node.height - 7 }, node.foot);
    const group = drawn('g', {}, box, ...texts, foot);
    if (unit) {
      group.setAttribute('class', 'unit'), group.setAttribute('tabindex', '0');
      box.setAttribute('fill-opacity', .15);
      group.colour = () => { box.style.fill = box.style.stroke = colourOf(unit); };
      hinted(group, unit.name, () => unitLines(unit));
      group.addEventListener('click', () => choose(unit.id));
      group.addEventListener('keydown', event => { if (event.key === 'Enter') choose(unit.id); });
      parts[unit.id].unshift(group);
    } else {
      box.style.fill = 'none', box.style.stroke = 'var(--line)';
      hinted(group, node.title[0], () => [node.foot, node.held ? 'holds ' + bytesText(node.held) : '']);
    }
    drawing.push(group);
  }
  picture.setAttribute('width', Math.max(room, ...lines.map(line => line.right + margin)));
  picture.setAttribute('height', top);
  picture.replaceChildren(...drawing);
  colourGraph();
  search(byId('search').value);
}
function colourGraph() {
  for (const group of document.querySelectorAll('#picture .unit')) group.colour();
  byId('legend').replaceChildren(...coloured[colourBy].map((name, i) => {
    const own = units.filter(unit => keys[colourBy](unit) === name),
      cost = own.reduce((sum, unit) => sum + (unit.cost.seconds || 0), 0);
    const swatch = element('span', { class: 'swatch' });
    swatch.style.background = 'var(--c' + i % 8 + ')';
    return element('span', {}, swatch,
      name + ': ' + plural(own.length, 'unit') + (hasCosts && cost > 0 ? ', ' + secondsText(cost) : ''));
  }));
}
function choose(id) {
  const row = parts[id].find(node => node.tagName === 'TR');
  for (const other of document.querySelectorAll('tr.chosen')) other.classList.remove('chosen');
  row.classList.add('chosen');
  row.scrollIntoView({ block: 'center', behavior: 'smooth' });
}
note('graph', 'A box is a unit: a callable, or the ops of one kernel below each other, with its backend' +
  (hasCosts ? ' and cost (\u2248 estimated).' : measured ? ' and the median of its time in the run.' : '.') +
  (segments.length > 1 ? ' Thick lines cross from one segment to another.' : '') +
  (units.some(unit => unit.state_of !== undefined) ? ' Dashed lines carry a state to the next item.' : '') +
  ' Point at it for more; click to see its row below.');
drawGraph();
recolour.push(colourGraph);
let drawnFor = innerWidth;
addEventListener('resize', () => { if (innerWidth !== drawnFor) { drawnFor = innerWidth; drawGraph(); } });
)js";

}  // namespace levada::detail
