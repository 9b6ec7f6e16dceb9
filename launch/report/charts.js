// SPDX-License-Identifier: Apache-2.0
// The charts that more than one page draws.
const marks = [1e-3, 1e-2, 0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400];

// Distributions of times: series [{name, points: [[s, share]]}].
function drawDistribution(id, series, name) {
  const all = series.flatMap((s) => s.points.map((p) => p[0])).filter((s) => s > 0);
  if (all.length === 0) return draw(id, {}, 'Nothing has finished, so there is nothing to draw.');
  const least = all.reduce((a, b) => Math.min(a, b)), most = all.reduce((a, b) => Math.max(a, b));
  // From the mark below the quickest hundredth on: a few very short ones would squeeze the others.
  const low = [...all].sort((a, b) => a - b)[Math.floor(all.length / 100)];
  const min = Math.max(marks.filter((m) => m <= Math.max(low, least)).pop() || least, 1e-3), max = Math.max(most * 1.02, min * 10);
  return draw(id, {
    x: {name, log: true, min, max, ticks: marks, format: time},
    y: {name: 'share of jobs', min: 0, max: 1, format: tickPercent},
    head: (x) => `within ${time(x)}`, value: percent, zoom: 'xy',
    series: series.map((s, i) => ({name: s.name, kind: s.points.length < 60 ? 'step' : 'line', color: colorOf(s.color ?? i), dash: dashOf(s.color ?? i),
      points: [[min, 0], ...s.points.map(([x, share]) => [Math.max(x, min), share])]})),
  });
}

// Means over `bins` parts of the time, of values that hold until the next.
const binned = (points, end, bins) => {
  const sums = new Array(bins).fill(0), bin = end / bins;
  for (const [i, [from, value]] of points.entries()) {
    const until = i + 1 < points.length ? points[i + 1][0] : end;
    for (let b = Math.min(bins - 1, Math.floor(from / bin)); b < bins && b * bin < until; ++b)
      sums[b] += value * Math.max(0, Math.min(until, (b + 1) * bin) - Math.max(from, b * bin));
  }
  return [...sums.map((sum, b) => [b * bin, sum / bin]), [end, sums[bins - 1] / bin]];
};
const kSteps = 60;
// A line that goes up and down at almost every step is a barcode: its means tell more.
const restless = (points) => points.length > kSteps &&
  points.filter((p, i) => i > 1 && (p[1] - points[i - 1][1]) * (points[i - 1][1] - points[i - 2][1]) < 0).length > points.length / 4;

// Counts over time as steps: series [{name, points: [[s, n]]}]; `top` draws a line at what there is.
function drawOverTime(id, series, name, more) {
  const end = series.reduce((m, s) => s.points.length ? Math.max(m, s.points[s.points.length - 1][0]) : m, 0);
  if (end === 0) return draw(id, {}, 'Nothing happened, so there is nothing to draw.');
  const unit = unitOf(end), options = more || {}, calm = options.area || !series.some((s) => restless(s.points));
  return draw(id, {
    x: {name: `${unit.name} since the ${options.since || 'start'}`, min: 0, max: end / unit.s},
    y: {name: calm ? name : `${name}, mean of ${time(end / kSteps)}`, min: 0, whole: options.whole && calm, format: (n) => count(Number(n.toPrecision(6)))},
    marks: options.top ? [{y: options.top.at, text: options.top.text}] : [],
    head: (x) => time(x * unit.s), value: (n) => count(Number(n.toPrecision(3))), zoom: 'x',
    series: series.map((s, i) => ({name: s.name, kind: 'step', color: colorOf(s.color ?? i), dash: dashOf(s.color ?? i), area: options.area,
      points: (calm ? s.points : binned(s.points, end, kSteps)).map((p) => [p[0] / unit.s, p[1]])})),
  });
}

// How busy rows of servers were over time.
function drawHeat(id, curves) {
  const {cells, bin_s: bin} = curves.heat;
  if (cells.length === 0) return draw(id, {}, 'No job ran, so there is nothing to draw.');
  const bins = cells[0].length, unit = unitOf(bins * bin);
  const boxes = cells.flatMap((row, y) => row.map((v, x) => ({x: x * bin / unit.s, to_x: (x + 1) * bin / unit.s, y, to_y: y + 1, color: 'var(--heat)', opacity: v / 100})));
  return draw(id, {dense: true, height: 420, under: 'var(--idle)', boxes, rows: curves.rows.map((r, i) => [r[0], i]),
    x: {name: `${unit.name} since the start`, min: 0, max: bins * bin / unit.s}, y: {min: 0, max: cells.length, down: true},
    tell: (i) => {
      const y = Math.floor(i / bins), x = i % bins;
      return [[curves.rows[y][0]], [`${time(x * bin)} to ${time((x + 1) * bin)}`, `${cells[y][x]} % of its GPUs busy`]];
    }});
}

const kGanttNote = 'One bar per job and range of GPUs, on the GPUs of its last attempt from its first start to its end; the colours only tell ' +
  'neighbours apart. Dragging over a part shows it alone, pointing at a bar tells of its job.';
// Which job had which GPUs when: a bar per job and range of neighbouring GPUs.
function drawGantt(id, curves, gpus) {
  const {bars, from_s: from, to_s: to, left_out: leftOut} = curves.gantt, runEnd = curves.timeline.length ? curves.timeline[curves.timeline.length - 1][0] : to;
  $(id + '-note').textContent = kGanttNote + (from > 0 || to < runEnd * 0.99 ? ` Of this run the page holds ${time(from)} to ${time(to)}.` : '') +
    (leftOut > 0 ? ` ${count(leftOut)} jobs of few GPUs are left out.` : '');
  if (bars.length === 0) return draw(id, {}, 'No job ran, so there is nothing to draw.');
  const unit = unitOf(to);
  const boxes = bars.flatMap((bar, i) => bar[5].split(',').filter((r) => r !== '').map((range) => {
    const [first, last] = range.split('-').map(Number);
    return {x: bar[2] / unit.s, to_x: bar[3] / unit.s, y: first, to_y: (last ?? first) + 1, job: i, color: colorOf(i), opacity: 0.8, gap: true};
  }));
  const rowOf = (gpu) => { let name = ''; for (const [n, first] of curves.rows) { if (first > gpu) break; name = n; } return name; };
  // At first the time in which the middle 500 bars began.
  const middle = (rank) => bars[Math.min(bars.length - 1, Math.max(0, Math.floor(bars.length / 2) + rank))][2] / unit.s;
  const view = bars.length > 500 && middle(-250) < middle(250) ? {x: [middle(-250), middle(250)]} : undefined;
  return draw(id, {dense: true, height: 420, boxes, rows: curves.rows, view, zoom: 'xy',
    x: {name: `${unit.name} since the start`, min: from / unit.s, max: to / unit.s}, y: {min: 0, max: gpus, down: true},
    tell: (i) => {
      const [job, submit, start, finish, n, placement] = bars[boxes[i].job];
      return [[job, `${n} GPU${n === 1 ? '' : 's'}: ${placement}`], [`from ${rowOf(boxes[i].y)}`], [`waited ${time(Math.max(0, start - submit))}`],
        [`from ${time(start)} to ${time(finish)}, for ${time(finish - start)}`]];
    }});
}
const finish = (drawAll) => { drawAll(); document.body.dataset.ready = 'yes'; };
