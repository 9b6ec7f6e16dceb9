// SPDX-License-Identifier: Apache-2.0
const loadText = (load) => load === null ? 'arrivals as given' : 'load ' + load;
const rowName = (row) => row.policy + (row.agents === 1 ? '' : `, ${row.agents} agents`);
const placeName = (x) => x.topology + (x.faults ? `, faults ${x.faults}` : '');
const cellName = (x) => `${placeName(x)}, ${loadText(x.load)}`;

$('title').textContent = data.name;
$('description').textContent = [data.description, ...data.notes].join(' ');
$('subtitle').textContent = `${count(data.runs)} runs` + (data.missing > 0 ? `, ${count(data.missing)} missing` : '') + `, physics ${data.physics}` +
  (data.split ? `, split ${data.split}` : '');

// "4.71 ± 0.32": two figures of the half width, but no more than three of the larger of both.
const digitsOf = (x, unit) => {
  const mean = Math.abs(x.mean) / unit, half = Math.abs(x.half95 || 0) / unit, first = (v) => Math.floor(Math.log10(v));
  if (mean === 0 && half === 0) return 0;
  const most = 2 - first(Math.max(mean, half));
  return Math.max(0, half > 0 ? Math.min(most, 1 - first(half)) : most);
};
const spread = (x, unit) => (x.mean / unit).toFixed(digitsOf(x, unit)) + (x.half95 === null ? '' : ' ± ' + (x.half95 / unit).toFixed(digitsOf(x, unit)));
for (const table of data.tables) {
  const hours = table.floor_jct_s.mean >= 360, unit = hours ? 3600 : 1, name = hours ? 'h' : 's';
  const box = make('div', $('tables'), undefined, {class: 'scroll'}), t = make('table', box);
  make('caption', t, `${table.family_name}: ${cellName(table)}: ${table.pairs} paired run${table.pairs === 1 ? ', so without intervals' : 's'}; floor ${spread(table.floor_jct_s, unit)} ${name}` +
    (table.left_out > 0 ? `; ${table.left_out} runs of incomplete pairs are left out` : ''));
  const head = make('tr', t), together = table.family === null;
  for (const h of ['Policy', ...(together ? ['May', 'Knows'] : []), `Mean JCT (${name})`, `p99 JCT (${name})`, 'Utilisation', `Under the baseline (${name})`, 'Under the baseline', 'Excess removed'])
    make('th', head, h, ['May', 'Knows'].includes(h) ? {class: 'word'} : {});
  for (const row of table.rows) {
    const tr = make('tr', t, undefined, row.baseline ? {class: 'baseline'} : {});
    make('td', tr, rowName(row) + (row.by_partition ? ' †' : '') + (together && row.best ? ' ‡' : '') + (row.unfinished_jobs > 0 ? ` (${count(row.unfinished_jobs)} jobs unfinished)` : ''));
    if (together) {
      make('td', tr, row.may.join(', '), {class: 'word'});
      make('td', tr, row.knows, {class: 'word'});
    }
    make('td', tr, spread(row.avg_jct_s, unit));
    make('td', tr, spread(row.p99_jct_s, unit));
    make('td', tr, (row.gpu_utilization.mean * 100).toFixed(1) + ' %');
    const share = row.under_baseline_share;
    make('td', tr, row.baseline ? 'baseline' : spread(row.under_baseline_s, unit));
    make('td', tr, row.baseline ? '' : spread(share, 0.01) + ' %');
    make('td', tr, row.baseline ? '' : row.excess_removed === null ? '–' : (row.excess_removed * 100).toFixed(0) + ' %');
  }
}
for (const note of data.table_notes) make('p', $('tables'), note.replace(/\*([^*]+)\*/g, '“$1”'), {class: 'note'});
if (data.tables.length === 0) make('p', $('tables'), 'No run has finished yet.', {class: 'note'});

finish(() => {
  const policies = [...new Set([...data.cells, ...data.tables.flatMap((t) => t.rows)].map(rowName))];  // one colour each, on all charts
  const indexOf = (row) => policies.indexOf(rowName(row)), color = (row) => colorOf(indexOf(row));
  const scale = (tables) => tables.some((t) => t.floor_jct_s.mean >= 360) ? {s: 3600, name: 'h'} : {s: 1, name: 's'};

  // Mean JCT of each policy over loads.
  const sweeps = new Map();
  for (const table of data.tables.filter((t) => t.load !== null)) {
    const key = `${table.family_name}: ${placeName(table)}`;
    sweeps.set(key, [...(sweeps.get(key) || []), table]);
  }
  const wide = [...sweeps].filter(([, tables]) => tables.length > 1);
  $('sweep-card').hidden = wide.length === 0;
  const half = (x) => x.half95 || 0;
  const drawSweep = (relative) => {
    const tables = [...wide[Number($('sweep-choice').value)][1]].sort((a, b) => a.load - b.load), unit = scale(tables), loads = tables.map((t) => t.load);
    const rows = [...new Map(tables.flatMap((t) => t.rows).map((r) => [rowName(r), r])).values()];
    const margin = (loads[loads.length - 1] - loads[0]) * 0.05;
    // Relative ones are the paired differences, whose intervals are narrower; above 0 is longer.
    const meanOf = (r) => !relative ? r.avg_jct_s.mean / unit.s : r.baseline ? 0 : -r.under_baseline_share.mean;
    const halfOf = (r) => !relative ? half(r.avg_jct_s) / unit.s : r.baseline ? 0 : half(r.under_baseline_share);
    const series = rows.map((row) => {
      const found = tables.map((t) => [t.load, t.rows.find((r) => rowName(r) === rowName(row))]).filter(([, r]) => r);
      return {name: rowName(row), dotted: true, color: color(row), dash: dashOf(indexOf(row)), points: found.map(([load, r]) => [load, meanOf(r)]),
        errors: found.filter(([, r]) => halfOf(r) > 0).map(([load, r]) => [load, meanOf(r), meanOf(r) - halfOf(r), meanOf(r) + halfOf(r)])};
    });
    if (!relative)
      series.push({name: 'floor', color: soft, dash: '3 4', points: tables.map((t) => [t.load, t.floor_jct_s.mean / unit.s])});
    draw('sweep', {series, x: {name: 'offered load', min: loads[0] - margin, max: loads[loads.length - 1] + margin, ticks: loads},
      y: relative ? {name: 'mean JCT against the baseline’s', format: tickPercent} : {name: `mean JCT (${unit.name})`},
      head: loadText, value: relative ? percent : (v) => `${figures(v)} ${unit.name}`});
  };
  const sweepScale = () => drawSweep($('sweep-scale').value === '1');
  $('sweep-scale').onchange = sweepScale;
  choose($('sweep-choice'), wide.map(([name]) => name), sweepScale);

  // One table as dots with their intervals, and its paired differences.
  choose($('bars-choice'), data.tables.map((t) => `${t.family_name}: ${cellName(t)}`), (i) => {
    const table = data.tables[i], rows = table.rows, unit = scale([table]), others = rows.filter((r) => !r.baseline);
    const errors = (list, of, by) => list.map((r, k) => [of(r).mean / by, k, (of(r).mean - half(of(r))) / by, (of(r).mean + half(of(r))) / by]).filter((e) => e[2] !== e[3]);
    const dots = (list, of, by) => [{name: '', kind: 'dots', radius: 5, points: list.map((r, k) => [of(r).mean / by, k]), colors: list.map(color), errors: errors(list, of, by)}];
    // The floor is on the axis unless the policies would lie on one another then.
    const all = rows.map((r) => r.avg_jct_s.mean), low = Math.min(...all), floor = table.floor_jct_s.mean;
    const far = low - floor > 4 * Math.max(Math.max(...all) - low, ...rows.map((r) => half(r.avg_jct_s)));
    draw('bars', {x: {name: `mean JCT (${unit.name})` + (far ? `; floor ${spread(table.floor_jct_s, unit.s)} ${unit.name}` : '')}, y: {names: rows.map(rowName)},
      tell: (k) => [[rowName(rows[k]), `${spread(rows[k].avg_jct_s, unit.s)} ${unit.name}`]], marks: far ? [] : [{x: floor / unit.s, text: 'floor'}],
      series: dots(rows, (r) => r.avg_jct_s, unit.s)});
    draw('less', {x: {name: 'mean JCT under the baseline’s', format: tickPercent}, y: {names: others.map(rowName)},
      tell: (k) => [[rowName(others[k]), `${spread(others[k].under_baseline_share, 0.01)} %`]], marks: [{x: 0}],
      series: dots(others, (r) => r.under_baseline_share, 1)},
    others.length === 0 ? 'There is nothing beside the baseline.' : undefined);
  });

  // The first paired run of a topology and load.
  const groups = new Map();
  for (const cell of data.cells) groups.set(cellName(cell), [...(groups.get(cellName(cell)) || []), cell]);
  $('pair-card').hidden = groups.size === 0;
  choose($('cell-choice'), [...groups.keys()], (i) => {
    const shown = [...groups.values()][i];
    $('cell-note').textContent = `the first of its paired runs: ${shown[0].workload}, seed ${shown[0].seed}` +
      (data.undrawn > 0 ? `; ${count(data.undrawn)} further runs are in the tables alone` : '');
    const series = (points) => shown.map((c) => ({name: rowName(c), color: indexOf(c), points: points(c.curves)}));
    drawDistribution('cdf', series((c) => c.jct), 'time from submission to the end');
    drawOverTime('busy', series((c) => c.timeline.map((p) => [p[0], p[1]])), 'GPUs in use', {top: {at: shown[0].gpus, text: `all ${count(shown[0].gpus)}`}, whole: true});
    drawOverTime('waiting', series((c) => c.timeline.map((p) => [p[0], p[2]])), 'jobs waiting', {whole: true});
    choose($('run-choice'), shown.map(rowName), (k) => {
      drawHeat('heat', shown[k].curves);
      drawGantt('gantt', shown[k].curves, shown[k].gpus);
    });
  });
});
