// SPDX-License-Identifier: Apache-2.0
// A chart of two axes. draw(id, options, nothing) draws into the element `id`, or says `nothing` there:
//   x, y, right  axes: {name, min, max, log, ticks, whole, format}, or of names: {name, names}; the first name of y is at the top
//   series       [{name, points: [[x, y]], color, dash, kind: 'line' | 'step' | 'dots' | 'bars', dotted, area, right, errors: [[x, y, low, high]]}]
//   cells, boxes [{x, y, to_x, to_y, color, opacity}] in values of the axes
//   marks        lines across: [{x or y, text}]
//   head, value  text of what the pointer is at: of its x, and of a series' y
//   tell         lines of text of the box, bar or dot number i that is pointed at
//   zoom         'x' or 'xy': dragging over a part shows it alone; view: the part at first
const plots = {};
const draw = (id, options, nothing) => {
  plots[id] = nothing ? undefined : {box: $(id), options, hidden: new Set(), view: options.view};
  $(id).replaceChildren();
  if (nothing) make('p', $(id), nothing, {class: 'note'});
  else render(plots[id]);
};
addEventListener('resize', () => { for (const plot of Object.values(plots)) if (plot) render(plot); });

// Where values of an axis lie between two points of the screen.
const scaleOf = (axis, from, to) => {
  if (axis.names) {
    const band = (to - from) / axis.names.length;
    return {band: Math.abs(band), at: (i) => from + band * (i + 0.5), back: (p) => Math.floor((p - from) / band)};
  }
  const f = axis.log ? Math.log10 : (v) => v, g = axis.log ? (v) => 10 ** v : (v) => v, low = f(axis.min), span = f(axis.max) - low || 1;
  return {at: (v) => from + (to - from) * (f(v) - low) / span, back: (p) => g(low + span * (p - from) / (to - from))};
};
// An axis with its ends. It begins at 0 unless its values would lie on one another then.
const rangeOf = (axis, values) => {
  if (axis.names) return axis;
  let min = axis.min ?? Math.min(...values), max = axis.max ?? Math.max(...values);
  if (!Number.isFinite(min) || !Number.isFinite(max)) [min, max] = [0, 1];
  if (min === max) [min, max] = min === 0 ? [0, 1] : [min - Math.abs(min) * 0.1, max + Math.abs(max) * 0.1];
  const room = (max - min) * 0.06;
  if (axis.min === undefined) min = min >= 0 && (axis.zero || min < 0.6 * max) ? 0 : min - room;
  if (axis.max === undefined) max = max <= 0 && min < 0 && axis.zero ? 0 : max + room;
  return {...axis, min, max};
};
const withTicks = (axis, pixels) => {
  if (axis.names) return {...axis, ticks: axis.names.map((_, i) => i)};
  const ticks = (axis.ticks || ticksOf(axis.min, axis.max, pixels / 50, axis.whole)).filter((v) => v >= axis.min && v <= axis.max);
  return {...axis, ticks, texts: ticks.map((v) => (axis.format || tick)(v))};
};

const kLine = 15;  // of text, in pixels
const legendOf = (plot, width) => {
  const {series = []} = plot.options;
  if (series.length < 2) return {rows: 0, entries: []};
  const names = shortened(series.map((s) => s.name), 64), entries = [];
  let x = 0, rows = 1;
  for (const [i, name] of names.entries()) {
    const wide = widthOf(name) + 44;
    if (x > 0 && x + wide > width) { x = 0; ++rows; }
    entries.push({i, name, x, row: rows - 1});
    x += wide;
  }
  return {rows, entries};
};

function render(plot) {
  const {box, options} = plot, width = Math.max(box.clientWidth, 300);
  const series = (options.series || []).map((s, i) => ({color: colorOf(i), kind: 'line', ...s, i})), shown = series.filter((s) => !plot.hidden.has(s.i));
  const values = (k, right) => [...shown.filter((s) => k === 0 || !s.right === !right)
    .flatMap((s) => [...s.points.map((p) => p[k]), ...(s.errors || []).flatMap((e) => options.y.names ? (k === 0 ? e.slice(2) : []) : k === 0 ? [] : e.slice(2))]),
    ...(options.marks || []).map((m) => k === 0 ? m.x : right ? undefined : m.y)].filter((v) => v !== undefined && v !== null);
  let x = rangeOf(options.x, values(0)), y = rangeOf(options.y, values(1, false)), right = options.right && rangeOf(options.right, values(1, true));
  const view = plot.view;
  if (view) x = {...x, min: view.x[0], max: view.x[1], ticks: x.log ? x.ticks : undefined};
  if (view?.y) y = {...y, min: view.y[0], max: view.y[1], ticks: undefined};

  // How much room the texts need.
  const legend = legendOf(plot, width - 20), top = 10 + legend.rows * 18;
  const lines = y.names && wrappedNames(y.names, width), perName = lines ? Math.max(...lines.map((l) => l.length)) * kLine + 8 : 0;
  const rotated = x.names && x.names.length * (Math.max(...x.names.map(widthOf)) + 8) > width - 90;
  const bottom = (rotated ? Math.max(...x.names.map(widthOf)) * 0.7 + 14 : 22) + (x.name ? 20 : 4);
  const height = y.names && !options.dense ? Math.max(options.height || 0, top + bottom + y.names.length * perName) : options.height || 320;
  y = options.rows ? rowTicks(y, options.rows) : withTicks(y, height - top - bottom);
  if (right) right = withTicks(right, height - top - bottom);
  const left = (y.name ? 24 : 8) + Math.max(...(lines ? lines.flat() : y.texts).map(widthOf), 10) + 6;
  const edge = width - (right ? 12 + Math.max(...right.texts.map(widthOf), 10) + 6 : 26), floor = height - bottom;
  x = withTicks(x, edge - left);
  const sx = scaleOf(x, left, edge), sy = y.names ? scaleOf(y, top, floor) : y.down ? scaleOf(y, top, floor) : scaleOf(y, floor, top);
  const sr = right && scaleOf(right, floor, top);

  box.replaceChildren();
  const svg = svgOf(box, width, height, `${y.name || ''} over ${x.name || ''}`);
  const frame = {svg, sx, sy, sr, left, edge, top, floor, x, y, right, lines, rotated, height, width};
  drawFrame(plot, frame, legend, series);
  const clip = `clip-${box.id}`, clipPath = shape(svg, 'clipPath', {id: clip});
  shape(clipPath, 'rect', {x: left, y: top - 5, width: Math.max(edge - left, 0), height: floor - top + 7});
  const inner = shape(svg, 'g', {'clip-path': `url(#${clip})`});
  drawBoxes(options, frame, inner);
  for (const s of shown) drawSeries(s, {...frame, sy: s.right ? sr : sy}, inner, series);
  for (const m of options.marks || []) {
    const at = m.x !== undefined ? {x1: sx.at(m.x), x2: sx.at(m.x), y1: top, y2: floor} : {x1: left, x2: edge, y1: sy.at(m.y), y2: sy.at(m.y)};
    shape(inner, 'line', {...at, stroke: ink, 'stroke-dasharray': '5 4', 'pointer-events': 'none'});
    if (m.text) label(svg, m.x !== undefined ? at.x1 + 4 : edge - 4, m.x !== undefined ? top + 10 : at.y1 - 4, m.text, {fill: soft, 'text-anchor': m.x !== undefined ? 'start' : 'end'});
  }
  addPointer(plot, frame, shown);
  const all = ['show all', () => { plot.view = undefined; render(plot); }, 'double-click does so too'];
  addTools(box, svg, view ? [all] : [], options.zoom && !view ? 'Drag over a part to see it alone.' : '');
}
// Names of an axis in lines: half the chart is for the chart.
const wrappedNames = (names, width) => {
  const room = Math.max(14, Math.min(34, Math.floor(width * 0.4 / 7)));
  return names.map((n) => wrapped(n, room));
};
// Of very many rows [name, where it begins] at most 20 names are written.
const rowTicks = (y, rows) => {
  const seen = rows.filter((r) => r[1] >= y.min && r[1] < y.max), every = Math.ceil(seen.length / 20), some = seen.filter((_, i) => i % every === 0);
  return {...y, ticks: some.map((r) => r[1]), texts: shortened(some.map((r) => r[0]), 18)};
};

function drawFrame(plot, f, legend, series) {
  const {svg, sx, sy, sr, left, edge, top, floor, x, y, right, lines} = f, dense = plot.options.dense;
  for (const [i, v] of x.ticks.entries()) {
    const at = sx.at(v);
    if (!x.names) shape(svg, 'line', {x1: at, x2: at, y1: top, y2: floor, stroke: grid});
    if (x.names && f.rotated) label(svg, at + 4, floor + 14, x.names[i], {'text-anchor': 'end', transform: `rotate(-40 ${at + 4} ${floor + 14})`});
    else if (x.names) label(svg, at, floor + 16, x.names[i], {'text-anchor': 'middle'});
  }
  if (!x.names) {  // texts that would lie on one another are left out
    let free = -Infinity;
    for (const [i, v] of x.ticks.entries()) {
      const half = widthOf(x.texts[i]) / 2, at = Math.min(Math.max(sx.at(v), half), f.width - half - 2);
      if (at - half < free) continue;
      label(svg, at, floor + 16, x.texts[i], {'text-anchor': 'middle'});
      free = at + half + 8;
    }
  }
  for (const [i, v] of y.ticks.entries()) {
    const at = sy.at(v), texts = lines ? lines[i] : [y.texts[i]];
    if (!y.names && !dense) shape(svg, 'line', {x1: left, x2: edge, y1: at, y2: at, stroke: grid});
    texts.forEach((text, k) => label(svg, left - 6, at + 4 + (k - (texts.length - 1) / 2) * kLine + (dense ? 4 : 0), text, {'text-anchor': 'end'}));
  }
  if (right) right.ticks.forEach((v, i) => label(svg, edge + 6, sr.at(v) + 4, right.texts[i]));
  if (x.name) label(svg, (left + edge) / 2, f.height - 6, x.name, {fill: soft, 'text-anchor': 'middle'});
  if (y.name) label(svg, 14, (top + floor) / 2, y.name, {fill: soft, 'text-anchor': 'middle', transform: `rotate(-90 14 ${(top + floor) / 2})`});
  for (const {i, name, x: at, row} of legend.entries) {
    const s = series[i], g = shape(svg, 'g', {class: 'key', opacity: plot.hidden.has(i) ? 0.35 : 1}, `${s.name}: click to hide or to show it`), mid = 10 + row * 18;
    shape(g, 'rect', {x: 8 + at, y: mid - 9, width: widthOf(name) + 36, height: 18, fill: 'transparent'});
    if (s.kind === 'bars' || s.kind === 'dots') shape(g, 'circle', {cx: 20 + at, cy: mid, r: 5, fill: s.color});
    else shape(g, 'line', {x1: 10 + at, x2: 32 + at, y1: mid, y2: mid, stroke: s.color, 'stroke-width': 2.4, 'stroke-dasharray': s.dash});
    label(g, 38 + at, mid + 4, name);
    g.onclick = () => { plot.hidden.has(i) ? plot.hidden.delete(i) : plot.hidden.add(i); render(plot); };
  }
}
