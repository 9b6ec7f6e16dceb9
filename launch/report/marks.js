// SPDX-License-Identifier: Apache-2.0
// What a chart has between its axes, and what it tells of what the pointer is at.
const pathOf = (points, sx, sy, step) => {
  let path = '', before = null;
  for (const [px, py] of points) {
    if (py === null || py === undefined) continue;
    const ax = sx.at(px).toFixed(1), ay = sy.at(py).toFixed(1);
    path += before === null ? `M${ax} ${ay}` : step ? `H${ax}V${ay}` : `L${ax} ${ay}`;
    before = ay;
  }
  return path;
};
function drawSeries(s, f, inner, all) {
  const {sx, sy, floor, y} = f, across = !!y.names;
  if (s.kind === 'line' || s.kind === 'step') {
    const path = pathOf(s.points, sx, sy, s.kind === 'step');
    if (s.area && path) shape(inner, 'path', {d: `${path}V${floor}H${sx.at(s.points[0][0])}Z`, fill: s.color, opacity: 0.15});
    shape(inner, 'path', {d: path, fill: 'none', stroke: s.color, 'stroke-width': 1.8, 'stroke-dasharray': s.dash, 'stroke-linejoin': 'round'});
  }
  if (s.kind === 'bars') {
    const bars = all.filter((b) => b.kind === 'bars'), band = across ? sy.band : sx.band, thick = Math.min(44, band * 0.76 / bars.length);
    const shift = (bars.findIndex((b) => b.i === s.i) - (bars.length - 1) / 2) * thick - thick / 2;
    for (const [i, [px, py]] of s.points.entries()) {
      const place = across ? {x: sx.at(0), y: sy.at(py) + shift, width: Math.max(sx.at(px) - sx.at(0), 0), height: thick - 1}
        : {x: sx.at(px) + shift, y: sy.at(py), width: thick - 1, height: Math.max(sy.at(0) - sy.at(py), 0)};
      shape(inner, 'rect', {...place, fill: s.color, 'data-i': i});
    }
  }
  const error = (x1, y1, x2, y2) => shape(inner, 'line', {x1, y1, x2, y2, stroke: s.kind === 'dots' && s.colors ? ink : s.color, 'stroke-width': 1.4, 'pointer-events': 'none'});
  for (const [px, py, low, high] of s.errors || []) {
    const a = across ? [sx.at(low), sy.at(py)] : [sx.at(px), sy.at(low)], b = across ? [sx.at(high), sy.at(py)] : [sx.at(px), sy.at(high)];
    const dx = across ? 0 : 4, dy = across ? 4 : 0;
    error(...a, ...b);
    error(a[0] - dx, a[1] - dy, a[0] + dx, a[1] + dy);
    error(b[0] - dx, b[1] - dy, b[0] + dx, b[1] + dy);
  }
  if (s.kind === 'dots' || s.dotted) {
    for (const [i, [px, py]] of s.points.entries()) {
      if (py === null || py === undefined) continue;
      shape(inner, 'circle', {cx: sx.at(px), cy: sy.at(py), r: s.radius || 3.2, fill: s.colors ? s.colors[i] : s.color, opacity: s.opacity, 'data-i': i}, s.titles?.[i]);
    }
  }
}
function drawBoxes(options, f, inner) {
  if (options.under) shape(inner, 'rect', {x: f.left, y: f.top, width: f.edge - f.left, height: f.floor - f.top, fill: options.under});
  for (const [i, b] of (options.boxes || []).entries()) {
    const x1 = Math.max(f.sx.at(b.x), f.left - 1), x2 = Math.min(f.sx.at(b.to_x), f.edge + 1), y1 = f.sy.at(b.y), y2 = f.sy.at(b.to_y);
    if (x2 < f.left || x1 > f.edge || y2 < f.top || y1 > f.floor) continue;
    const gap = b.gap && y2 - y1 > 4 ? 1 : 0;
    shape(inner, 'rect', {x: x1.toFixed(1), y: y1.toFixed(1), width: Math.max(x2 - x1, 1).toFixed(1), height: Math.max(y2 - y1 - gap, 1).toFixed(1), fill: b.color, opacity: b.opacity,
      'shape-rendering': 'crispEdges', 'data-i': i});
  }
}

const tip = make('div', document.body, undefined, {class: 'tip', hidden: ''});
// Lines of text beside the pointer: [text], or [text, value, colour].
const showTip = (event, lines) => {
  tip.replaceChildren();
  for (const [text, value, color] of lines) {
    const line = make('div', tip);
    if (color) make('span', line, undefined, {class: 'dot', style: `background:${color}`});
    make('span', line, value === undefined ? text : text + ': ');
    if (value !== undefined) make('b', line, value);
  }
  tip.hidden = false;
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 20)) + 'px';
  tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)) + 'px';
};
// The last point at or before x of a line of steps; the nearest of others.
const pointAt = (points, x, step) => {
  let best = null;
  for (const p of points) {
    if (p[1] === null || p[1] === undefined) continue;
    if (step ? p[0] <= x : best === null || Math.abs(p[0] - x) < Math.abs(best[0] - x)) best = p;
  }
  return best;
};
function addPointer(plot, f, shown) {
  const {svg, sx, sy, left, edge, top, floor} = f, {options} = plot;
  const rule = shape(svg, 'line', {class: 'pointer', y1: top, y2: floor, stroke: soft, visibility: 'hidden', 'pointer-events': 'none'});
  const chosen = shape(svg, 'rect', {class: 'pointer', fill: soft, opacity: 0.25, visibility: 'hidden', 'pointer-events': 'none'});
  const place = (event) => {  // in the drawing's own pixels, which are the screen's unless it is zoomed
    const r = svg.getBoundingClientRect(), k = f.width / r.width;
    return [Math.min(Math.max((event.clientX - r.left) * k, left), edge), Math.min(Math.max((event.clientY - r.top) * k, top), floor)];
  };
  let from = null;
  svg.onpointermove = (event) => {
    const [px, py] = place(event);
    if (from) {
      const [ax, ay] = options.zoom === 'xy' ? from : [from[0], top], [bx, by] = options.zoom === 'xy' ? [px, py] : [px, floor];
      for (const [k, v] of Object.entries({x: Math.min(ax, bx), y: Math.min(ay, by), width: Math.abs(ax - bx), height: Math.abs(ay - by), visibility: 'visible'})) chosen.setAttribute(k, v);
      return;
    }
    const i = event.target.dataset?.i;
    if (options.tell) {
      if (i === undefined) tip.hidden = true; else showTip(event, options.tell(Number(i)));
      return;
    }
    const r = svg.getBoundingClientRect();
    if (!options.head || event.clientY - r.top < top - 4 || event.clientY - r.top > floor + 4) { tip.hidden = true; return; }
    const step = shown.some((s) => s.kind === 'step');
    let x = sx.back(px);
    if (!step) x = pointAt(shown.flatMap((s) => s.points), x)?.[0] ?? x;
    rule.setAttribute('x1', sx.at(x));
    rule.setAttribute('x2', sx.at(x));
    rule.setAttribute('visibility', 'visible');
    const found = shown.map((s) => [s, pointAt(s.points, x, step)]).filter(([, p]) => p).sort((a, b) => (a[0].right ? 1 : 0) - (b[0].right ? 1 : 0) || b[1][1] - a[1][1]);
    showTip(event, [[options.head(x)], ...found.map(([s, p]) => [s.name, (s.value || options.value)(p[1]), s.color])]);
  };
  svg.onpointerleave = () => { tip.hidden = true; rule.setAttribute('visibility', 'hidden'); };
  if (!options.zoom) return;
  svg.style.cursor = 'crosshair';
  svg.onpointerdown = (event) => {
    if (event.button !== 0 || event.target.closest('.key')) return;
    from = place(event);
    tip.hidden = true;
    svg.setPointerCapture(event.pointerId);
  };
  svg.onpointerup = (event) => {
    const begun = from, [px, py] = place(event);
    from = null;
    if (!begun || Math.abs(px - begun[0]) < 5) { chosen.setAttribute('visibility', 'hidden'); return; }
    const sorted = (a, b) => a < b ? [a, b] : [b, a];
    plot.view = {x: sorted(sx.back(begun[0]), sx.back(px)),
      y: options.zoom === 'xy' && Math.abs(py - begun[1]) >= 5 ? sorted(sy.back(begun[1]), sy.back(py)) : plot.view?.y};
    render(plot);
  };
  svg.ondblclick = (event) => { if (!event.target.closest('.key')) { plot.view = undefined; render(plot); } };
}
