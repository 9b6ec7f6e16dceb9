'use strict';
const runs = JSON.parse(document.getElementById('data').textContent).runs;
const color = (i) => `var(--run${i % 6})`;
const $ = (id) => document.getElementById(id);
const make = (tag, attributes, parent, text) => {
  const svg = ['svg', 'g', 'path', 'line', 'text', 'rect', 'title'].includes(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.appendChild(e);
  return e;
};
const short = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2)).replace(/\.?0+$/, (m) => (m[0] === '.' ? '' : m));
const time = (s) => s === null ? '–' : s === 0 ? '0' : s < 1 ? short(s * 1e3) + ' ms' : s < 120 ? short(s) + ' s' : s < 7200 && s !== 3600 ? short(s / 60) + ' min'
  : s < 172800 ? short(s / 3600) + ' h' : short(s / 86400) + ' d';
const count = (n) => n === null ? '–' : Number(n).toLocaleString('en-US');
const micros = (us) => us === null ? '–' : us < 1000 ? us.toFixed(0) + ' µs' : short(us / 1000) + ' ms';
const share = (x) => x === null ? '–' : (x * 100).toFixed(1) + ' %';
const plain = (x) => x === null ? '–' : String(x);

const first = runs[0].summary;
$('subtitle').textContent = `${first.workload} on ${first.topology}: ${count(first.servers)} servers, ${count(first.gpus)} GPUs, ` +
  `${count(first.jobs_submitted)} jobs`;

const keyFigures = [['Average JCT', 'avg_jct_s', time], ['99th percentile JCT', 'p99_jct_s', time], ['Average queueing', 'avg_queue_s', time],
  ['GPU utilisation', 'gpu_utilization', share], ['Gangs across partitions', 'cross_partition_gangs', count],
  ['Decision p99', 'decision_p99_us', micros]];
for (const [name, key, format] of keyFigures) {
  const tile = make('div', {class: 'tile'}, $('tiles'));
  make('div', {class: 'name'}, tile, name);
  make('div', {class: 'value'}, tile, format(first[key]));
  for (const run of runs.slice(1, 3)) make('div', {class: 'other'}, tile, `${run.label}: ${format(run.summary[key])}`);
}
for (const legend of document.querySelectorAll('.legend')) {
  runs.forEach((run, i) => {
    const item = make('span', {}, legend);
    make('i', {style: `background:${color(i)}`}, item);
    item.append(run.label);
  });
}

const tip = $('tip');
const showTip = (event, text) => {
  tip.hidden = false;
  tip.textContent = text;
  const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  tip.style.left = x + 'px';
  tip.style.top = (event.clientY + 14) + 'px';
};
const hideTip = () => { tip.hidden = true; };

const steps = (top, n) => {
  const raw = Math.max(top, 1e-9) / n, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= raw);
  const out = [];
  for (let v = 0; v <= top * 1.0001; v += step) out.push(v);
  return out;
};
const timeTicks = (from, to) => [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400]
  .filter((t) => t >= from && t <= to);

// series: [[x, y], ...] per run, by ascending x.
function chart(target, series, o) {
  const W = o.wide ? 1060 : 510, H = 260, left = 52, right = 12, top = 10, bottom = 28;
  const xs = series.flat().map((p) => p[0]), ys = series.flat().map((p) => p[1]);
  if (xs.length === 0) { make('p', {class: 'note'}, target, 'No job finished.'); return; }
  let x0 = o.log ? Math.max(Math.min(...xs), 1e-3) : 0, x1 = xs.reduce((a, b) => Math.max(a, b), x0 * 1.01 + 1e-9);
  const y1 = o.top || ys.reduce((a, b) => Math.max(a, b), 1);
  const fx = o.log ? (x) => Math.log(Math.max(x, x0)) : (x) => x;
  const X = (x) => left + (fx(x) - fx(x0)) / (fx(x1) - fx(x0) || 1) * (W - left - right);
  const Y = (y) => H - bottom - y / y1 * (H - top - bottom);
  const svg = make('svg', {viewBox: `0 0 ${W} ${H}`, role: 'img'}, target);
  for (const y of steps(y1, 5)) {
    make('line', {class: 'grid', x1: left, x2: W - right, y1: Y(y), y2: Y(y)}, svg);
    make('text', {x: left - 8, y: Y(y) + 4, 'text-anchor': 'end'}, svg, o.y(y));
  }
  const ticks = o.log ? timeTicks(x0, x1) : steps(x1 / o.unit, 6).map((v) => v * o.unit);
  for (const x of ticks) {
    make('line', {class: 'grid', x1: X(x), x2: X(x), y1: top, y2: H - bottom}, svg);
    make('text', {x: X(x), y: H - 8, 'text-anchor': 'middle'}, svg, o.x(x));
  }
  make('line', {class: 'axis', x1: left, x2: W - right, y1: H - bottom, y2: H - bottom}, svg);
  series.forEach((points, i) => {
    let d = '';
    points.forEach((p, k) => {
      if (k === 0) d += `M${X(p[0]).toFixed(1)},${Y(p[1]).toFixed(1)}`;
      else d += (o.stairs ? `H${X(p[0]).toFixed(1)}V${Y(p[1]).toFixed(1)}` : `L${X(p[0]).toFixed(1)},${Y(p[1]).toFixed(1)}`);
    });
    make('path', {d, stroke: color(i), 'stroke-dasharray': i % 2 ? '6 3' : ''}, svg);
  });
  const cross = make('line', {class: 'cross', y1: top, y2: H - bottom, visibility: 'hidden'}, svg);
  svg.addEventListener('mousemove', (event) => {
    const box = svg.getBoundingClientRect(), px = (event.clientX - box.left) / box.width * W;
    if (px < left || px > W - right) return;
    const f = fx(x0) + (px - left) / (W - left - right) * (fx(x1) - fx(x0)), x = o.log ? Math.exp(f) : f;
    cross.setAttribute('x1', px); cross.setAttribute('x2', px); cross.setAttribute('visibility', 'visible');
    const lines = series.map((points, i) => {
      let a = 0, b = points.length;
      while (a < b) { const m = (a + b) >> 1; if (points[m][0] <= x) a = m + 1; else b = m; }
      return `${runs[i].label}: ${a === 0 ? o.y(0) : o.y(points[a - 1][1])}`;
    });
    showTip(event, [time(x), ...lines].join('\n'));
  });
  svg.addEventListener('mouseleave', () => { hideTip(); cross.setAttribute('visibility', 'hidden'); });
}

const longest = runs.reduce((m, r) => Math.max(m, r.timeline.length ? r.timeline[r.timeline.length - 1][0] : 0), 0);
const unit = longest > 2 * 86400 ? 86400 : longest > 2 * 3600 ? 3600 : longest > 120 ? 60 : 1;
chart($('cdf'), runs.map((r) => r.cdf), {wide: true, log: true, top: 1, x: time, y: (v) => (v * 100).toFixed(0) + ' %'});
chart($('busy'), runs.map((r) => r.timeline.map((p) => [p[0], p[1]])), {unit, top: first.gpus, x: time, y: (v) => count(Math.round(v)), stairs: true});
chart($('waiting'), runs.map((r) => r.timeline.map((p) => [p[0], p[2]])), {unit, x: time, y: (v) => count(Math.round(v)), stairs: true});

for (const run of runs) {
  const {rows, cells, bin_s: bin} = run.heat;
  if (rows.length === 0) continue;
  make('h3', {}, $('heat'), run.label);
  const W = 1060, left = 110, cellHeight = Math.max(4, Math.min(12, 420 / rows.length)), H = rows.length * cellHeight + 24;
  const bins = cells[0].length, cellWidth = (W - left) / bins;
  const svg = make('svg', {viewBox: `0 0 ${W} ${H}`, role: 'img'}, $('heat'));
  make('rect', {x: left, y: 0, width: W - left, height: rows.length * cellHeight, fill: 'var(--grid)'}, svg);
  const every = Math.ceil(14 / cellHeight);
  rows.forEach((name, r) => {
    if (r % every === 0) make('text', {x: left - 8, y: r * cellHeight + Math.min(11, cellHeight + 4), 'text-anchor': 'end'}, svg, name);
    cells[r].forEach((v, c) => {
      if (v > 0) {
        make('rect', {class: 'heatcell', 'shape-rendering': 'crispEdges', x: (left + c * cellWidth).toFixed(2), y: (r * cellHeight).toFixed(2),
          width: cellWidth.toFixed(2), height: Math.max(cellHeight - 0.6, 1).toFixed(2), 'fill-opacity': (v / 100).toFixed(2)}, svg);
      }
    });
  });
  for (const t of steps(bins * bin / unit, 8)) {
    make('text', {x: left + t * unit / bin * cellWidth, y: H - 6, 'text-anchor': 'middle'}, svg, time(t * unit));
  }
  svg.addEventListener('mousemove', (event) => {
    const box = svg.getBoundingClientRect();
    const c = Math.floor(((event.clientX - box.left) / box.width * W - left) / cellWidth);
    const r = Math.floor((event.clientY - box.top) / box.height * H / cellHeight);
    if (c < 0 || c >= bins || r < 0 || r >= rows.length) { hideTip(); return; }
    showTip(event, `${rows[r]}\n${time(c * bin)} to ${time((c + 1) * bin)}\n${cells[r][c]} % of its GPUs in use`);
  });
  svg.addEventListener('mouseleave', hideTip);
}

const figures = [['Mode', 'mode', plain], ['Policy', 'policy', plain], ['Family', 'family', plain], ['Agents', 'agents', count], ['Load', 'load', plain], ['Seed', 'seed', plain],
  ['Jobs submitted', 'jobs_submitted', count], ['Jobs finished', 'jobs_finished', count], ['Jobs failed', 'jobs_failed', count],
  ['JCT mean', 'avg_jct_s', time], ['JCT p50', 'p50_jct_s', time], ['JCT p90', 'p90_jct_s', time], ['JCT p99', 'p99_jct_s', time],
  ['JCT floor', 'floor_jct_s', time], ['Slowdown, mean', 'avg_slowdown', (x) => x === null ? '–' : short(x)], ['Queueing, mean', 'avg_queue_s', time],
  ['Makespan', 'makespan_s', time], ['GPU utilisation', 'gpu_utilization', share], ['Forwards', 'forwards', count],
  ['Gangs across partitions', 'cross_partition_gangs', count], ['Preemptions', 'preemptions', count], ['Resizes', 'resizes', count],
  ['Decisions', 'decisions', count], ['Decision p50', 'decision_p50_us', micros], ['Decision p99', 'decision_p99_us', micros],
  ['Messages', 'messages', count], ['Wall time', 'wall_s', time], ['Trace hash', 'trace_hash', plain]];
const relative = new Set(['avg_jct_s', 'p50_jct_s', 'p90_jct_s', 'p99_jct_s', 'avg_queue_s', 'makespan_s', 'gpu_utilization', 'avg_slowdown']);
const table = $('table'), head = make('tr', {}, table);
make('th', {}, head, '');
for (const run of runs) make('th', {}, head, run.label);
if (runs.length === 2) make('th', {}, head, 'Difference');
for (const [name, key, format] of figures) {
  const row = make('tr', {}, table);
  make('td', {}, row, name);
  for (const run of runs) make('td', {}, row, format(run.summary[key] === undefined ? null : run.summary[key]));
  if (runs.length === 2) {
    const a = runs[0].summary[key], b = runs[1].summary[key];
    make('td', {}, row, relative.has(key) && b > 0 ? ((a / b - 1) * 100).toFixed(1) + ' %' : '');
  }
}
