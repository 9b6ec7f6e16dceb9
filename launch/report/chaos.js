// SPDX-License-Identifier: Apache-2.0
const svgNs = 'http://www.w3.org/2000/svg';
const shape = (parent, tag, attributes, title) => {
  const e = document.createElementNS(svgNs, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (title) {
    const t = document.createElementNS(svgNs, 'title');
    t.textContent = title;
    e.appendChild(t);
  }
  parent.appendChild(e);
  return e;
};
$('title').textContent = `Chaos: ${data.scenario}`;
$('subtitle').textContent = `${count(data.agents)} agents, ${count(data.executors)} executors, state in ${data.state}, seed ${data.seed}; ` +
  `faults for ${time(data.faults_s)}, all over ${time(data.recovered_s)} after healing`;
const hits = Object.values(data.faults).reduce((n, k) => n + k.happened, 0);
for (const [name, value] of [['Faults', count(hits)], ['Jobs accepted', count(data.jobs.accepted)], ['Jobs finished', count(data.jobs.finished)],
  ['Partitions taken over', count(data.takeovers)], ['Answers checked', count(data.answers_checked)], ['Violations', count(data.violations.length)]]) {
  addTile(name, value);
}

const width = 1080, left = 150;
const end = Math.max(data.faults_s + data.recovered_s, 1);
const x = (s) => left + (width - left - 10) * Math.min(Math.max(s, 0), end) / end;
const seconds = (svg, height) => {
  const step = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200].find((s) => end / s <= 12) || 3600;
  for (let s = 0; s <= end; s += step) {
    shape(svg, 'line', {x1: x(s), x2: x(s), y1: 0, y2: height, stroke: grid});
    if (x(s) < width - 40) label(svg, x(s) + 2, height + 12, time(s));
  }
  shape(svg, 'line', {x1: x(data.faults_s), x2: x(data.faults_s), y1: 0, y2: height, stroke: ink, 'stroke-dasharray': '4 3'}, 'healed');
};
const lane = 18;
{
  const kinds = [...new Set(data.timeline.map((f) => f.fault))].sort();
  const agents = [...new Set(data.recoveries.map((r) => r.agent))].sort((a, b) => a - b);
  const height = (kinds.length + agents.length) * lane + 6;
  const svg = svgOf($('timeline'), width, height + 18, 'faults and recoveries over time');
  seconds(svg, height);
  for (const [row, kind] of kinds.entries()) {
    label(svg, 2, row * lane + 13, kind);
    for (const f of data.timeline.filter((f) => f.fault === kind && !f.skipped)) {
      shape(svg, 'rect', {x: x(f.at_s), y: row * lane + 3, width: Math.max(2, x(f.until_s) - x(f.at_s)), height: lane - 6, fill: colorOf(row), opacity: 0.75},
        `${kind} ${f.whom}, ${time(f.at_s)} to ${time(f.until_s)}`);
    }
  }
  for (const [i, agent] of agents.entries()) {
    const y = (kinds.length + i) * lane;
    label(svg, 2, y + 13, `agent ${agent} away`);
    for (const r of data.recoveries.filter((r) => r.agent === agent)) {
      shape(svg, 'rect', {x: x(r.at_s), y: y + 3, width: Math.max(2, x(r.at_s + r.accepted_s) - x(r.at_s)), height: lane - 6, fill: ink, opacity: 0.7},
        `${r.fault}: ${r.host === r.agent ? 'itself again' : 'taken over by agent ' + r.host}; answers after ${time(r.answered_s)}, ` +
        `accepts a job after ${time(r.accepted_s)}, all GPUs known after ${time(r.reconciled_s)}`);
    }
  }
  for (const v of data.violations)
    shape(svg, 'line', {x1: x(v.at_s), x2: x(v.at_s), y1: 0, y2: height, stroke: colorOf(1), 'stroke-width': 2}, `${v.rule}: ${v.message}`);
  addTools($('timeline'), svg);
}
{
  const rows = data.job_rows, high = Math.min(420, Math.max(60, rows.length * 2)), row = high / Math.max(1, rows.length);
  const svg = svgOf($('jobs'), width, high + 18, 'jobs over time');
  seconds(svg, high);
  label(svg, 2, 13, `${count(rows.length)} jobs`);
  for (const [i, [submitted, accepted, started, ended, attempts]] of rows.entries()) {
    const y = i * row, until = ended < 0 ? end : ended, runs = started < 0 ? until : started;
    shape(svg, 'rect', {x: x(submitted), y, width: Math.max(0.5, x(runs) - x(submitted)), height: Math.max(0.4, row), fill: colorOf(0), opacity: 0.3});
    if (started >= 0)
      shape(svg, 'rect', {x: x(runs), y, width: Math.max(0.5, x(until) - x(runs)), height: Math.max(0.4, row), fill: colorOf(attempts > 1 ? 3 : 0)},
        `${attempts} attempt${attempts === 1 ? '' : 's'}, accepted ${time(accepted)}`);
  }
  addTools($('jobs'), svg);
}
addRow($('times'), ['', 'count', 'median', '90 %', '99 %', 'most', 'how they are spread'], 'th');
for (const [name, t] of Object.entries(data.times)) {
  const line = make('tr', $('times'));
  make('td', line, name);
  for (const value of [count(t.count), time(t.p50_s), time(t.p90_s), time(t.p99_s), time(t.max_s)]) make('td', line, value);
  const bars = shape(make('td', line), 'svg', {viewBox: '0 0 160 22', width: 160, height: 22});
  const most = Math.max(...t.histogram.map((b) => b.count), 1);
  for (const [i, b] of t.histogram.entries()) {
    const high = 20 * b.count / most, from = i === 0 ? 0 : t.histogram[i - 1].up_to_s;
    shape(bars, 'rect', {x: i * 10, y: 21 - high, width: 8, height: high + 0.5, fill: colorOf(0)},
      `${count(b.count)} from ${time(from)}${b.up_to_s < 1e8 ? ' to ' + time(b.up_to_s) : ' up'}`);
  }
}
if (data.violations.length === 0) make('p', $('violations'), 'None.');
for (const v of data.violations) make('p', $('violations'), `${time(v.at_s)}, ${v.rule}: ${v.message}`, {class: 'wrong'});
document.body.dataset.ready = 'yes';
