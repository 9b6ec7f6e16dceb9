const loadText = (load) => load === null ? 'arrivals as given' : 'load ' + load;
const rowName = (row) => row.policy + (row.agents === 1 ? '' : `, ${row.agents} agents`);
const placeName = (x) => x.topology + (x.faults ? `, faults ${x.faults}` : '');
const cellName = (x) => `${placeName(x)}, ${loadText(x.load)}`;

$('title').textContent = data.name;
$('description').textContent = data.description;
$('subtitle').textContent = `${count(data.runs)} runs` + (data.missing > 0 ? `, ${count(data.missing)} missing` : '') + `, physics ${data.physics}` +
  (data.split ? `, split ${data.split}` : '');

// Tables: they need no library.
const spread = (x, unit) => (x.mean / unit).toFixed(2) + (x.half95 === null ? '' : ' ± ' + (x.half95 / unit).toFixed(2));
for (const table of data.tables) {
  const hours = table.floor_jct_s.mean >= 360, unit = hours ? 3600 : 1, name = hours ? 'h' : 's';
  const box = make('div', $('tables'), undefined, {class: 'scroll'}), t = make('table', box);
  make('caption', t, `${table.family_name}: ${cellName(table)}: ${table.pairs} paired run${table.pairs === 1 ? ', so without intervals' : 's'}; floor ${spread(table.floor_jct_s, unit)} ${name}` +
    (table.left_out > 0 ? `; ${table.left_out} runs of incomplete pairs are left out` : ''));
  const head = make('tr', t);
  for (const h of ['Policy', `Mean JCT (${name})`, `p99 JCT (${name})`, 'Utilisation', `Under the baseline (${name})`, 'Under the baseline', 'Excess removed'])
    make('th', head, h);
  for (const row of table.rows) {
    const tr = make('tr', t, undefined, row.baseline ? {class: 'baseline'} : {});
    make('td', tr, rowName(row) + (row.unfinished_jobs > 0 ? ` (${count(row.unfinished_jobs)} jobs unfinished)` : ''));
    make('td', tr, spread(row.avg_jct_s, unit));
    make('td', tr, spread(row.p99_jct_s, unit));
    make('td', tr, (row.gpu_utilization.mean * 100).toFixed(1) + ' %');
    const share = row.under_baseline_share;
    make('td', tr, row.baseline ? 'baseline' : spread(row.under_baseline_s, unit));
    make('td', tr, row.baseline ? '' : (share.mean * 100).toFixed(1) + (share.half95 === null ? '' : ' ± ' + (share.half95 * 100).toFixed(1)) + ' %');
    make('td', tr, row.baseline ? '' : row.excess_removed === null ? '–' : (row.excess_removed * 100).toFixed(0) + ' %');
  }
}
if (data.tables.length === 0) make('p', $('tables'), 'No run has finished yet.', {class: 'note'});

// A bar from low to high over or beside a value; across: values lie on the horizontal axis. [place, low, high].
const errorBars = (points, color, across) => ({
  type: 'custom', data: points, silent: true, z: 5, itemStyle: {color}, encode: across ? {y: 0, x: [1, 2]} : {x: 0, y: [1, 2]}, tooltip: {show: false},
  renderItem: (params, api) => {
    const at = (value) => across ? api.coord([value, api.value(0)]) : api.coord([api.value(0), value]);
    const low = at(api.value(1)), high = at(api.value(2)), dx = across ? 0 : 4, dy = across ? 4 : 0;
    const stroke = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style: {stroke: color, lineWidth: 1.5}});
    return {type: 'group', children: [stroke(low[0], low[1], high[0], high[1]), stroke(low[0] - dx, low[1] - dy, low[0] + dx, low[1] + dy),
      stroke(high[0] - dx, high[1] - dy, high[0] + dx, high[1] + dy)]};
  },
});

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
  choose($('sweep-choice'), wide.map(([name]) => name), (i) => {
    const tables = [...wide[i][1]].sort((a, b) => a.load - b.load), unit = scale(tables), loads = tables.map((t) => t.load);
    const rows = [...new Map(tables.flatMap((t) => t.rows).map((r) => [rowName(r), r])).values()];
    const margin = (loads[loads.length - 1] - loads[0]) * 0.05;
    const series = rows.flatMap((row) => {
      const name = rowName(row);
      const found = tables.map((t) => [t.load, t.rows.find((r) => rowName(r) === name)]).filter(([, r]) => r);
      return [{name, type: 'line', symbolSize: 6, data: found.map(([load, r]) => [load, r.avg_jct_s.mean / unit.s]), itemStyle: {color: color(row)},
        lineStyle: {color: color(row), type: dashOf(indexOf(row))}},
      errorBars(found.filter(([, r]) => r.avg_jct_s.half95 !== null)
        .map(([load, r]) => [load, (r.avg_jct_s.mean - r.avg_jct_s.half95) / unit.s, (r.avg_jct_s.mean + r.avg_jct_s.half95) / unit.s]), color(row))];
    });
    series.push({name: 'floor', type: 'line', symbol: 'none', lineStyle: {type: 'dashed', color: soft}, itemStyle: {color: soft},
      data: tables.map((t) => [t.load, t.floor_jct_s.mean / unit.s])});
    draw('sweep', {series, yAxis: axis(`mean JCT (${unit.name})`, {nameGap: 46, min: 0}),
      xAxis: axis('offered load', {min: loads[0] - margin, max: loads[loads.length - 1] + margin, axisTick: {show: true, customValues: loads},
        axisLabel: {color: ink, customValues: loads}}),
      tooltip: {trigger: 'axis', formatter: (at) => `${loadText(at[0].axisValue)}<br>` + at.filter((p) => p.seriesType === 'line')
        .map((p) => `${p.marker}${echarts.format.encodeHTML(p.seriesName)}: <b>${figures(p.value[1])} ${unit.name}</b>`).join('<br>')}});
  });

  // One table as bars, and its paired differences.
  choose($('bars-choice'), data.tables.map((t) => `${t.family_name}: ${cellName(t)}`), (i) => {
    const table = data.tables[i], rows = table.rows, unit = scale([table]);
    const bounds = (x, by) => [(x.mean - (x.half95 || 0)) / by, (x.mean + (x.half95 || 0)) / by];
    // Names side by side must fit under their bars.
    const slanted = rows.length * Math.max(...rows.map((r) => rowName(r).length)) > 66;
    draw('bars', {legend: {show: false}, grid: {left: 70, right: 44, top: 16, bottom: slanted ? 84 : 48},
      xAxis: categories(rows.map(rowName), {rotate: slanted ? 25 : 0}), yAxis: axis(`mean JCT (${unit.name})`, {nameGap: 46, min: 0}),
      tooltip: {trigger: 'item', formatter: (p) => `${echarts.format.encodeHTML(p.name)}: <b>${spread(rows[p.dataIndex].avg_jct_s, unit.s)} ${unit.name}</b>`},
      series: [{type: 'bar', barMaxWidth: 60, data: rows.map((r) => ({value: r.avg_jct_s.mean / unit.s, itemStyle: {color: color(r)}})),
        markLine: {symbol: 'none', silent: true, lineStyle: {color: ink, type: 'dashed'}, label: {formatter: 'floor', color: ink, position: 'end'},
          data: [{yAxis: table.floor_jct_s.mean / unit.s}]}},
      errorBars(rows.map((r, k) => [k, ...bounds(r.avg_jct_s, unit.s)]).filter((x) => x[1] !== x[2]), ink)]});
    const others = rows.filter((r) => !r.baseline);
    draw('less', {legend: {show: false}, grid: {left: 170, right: 28, top: 12, bottom: 48},
      xAxis: axis('mean JCT under the baseline’s', {axisLabel: {color: ink, formatter: percent}}),
      yAxis: {...categories(others.map(rowName), {width: 160, overflow: 'truncate'}), inverse: true, axisLine: {show: false}},
      tooltip: {trigger: 'item', formatter: (p) => `${echarts.format.encodeHTML(p.name)}: <b>${spread(others[p.dataIndex].under_baseline_share, 0.01)} %</b>`},
      series: [{type: 'scatter', symbolSize: 10, data: others.map((r, k) => ({name: rowName(r), value: [r.under_baseline_share.mean, k], itemStyle: {color: color(r)}})),
        markLine: {symbol: 'none', silent: true, lineStyle: {color: ink}, label: {show: false}, data: [{xAxis: 0}]}},
      errorBars(others.map((r, k) => [k, ...bounds(r.under_baseline_share, 1)]).filter((x) => x[1] !== x[2]), ink, true)]},
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
