'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const make = (tag, parent, text, attributes) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  parent.appendChild(e);
  return e;
};
const figures = (x) => Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 10 ? x.toFixed(1) : x.toFixed(2);
const time = (s) => s === 0 ? '0' : s < 1 ? figures(s * 1e3) + ' ms' : s < 120 ? figures(s) + ' s' : s < 7200 ? figures(s / 60) + ' min'
  : s < 172800 ? figures(s / 3600) + ' h' : figures(s / 86400) + ' d';
const loadText = (load) => load === null ? 'arrivals as given' : 'load ' + load;
const rowName = (row) => row.policy + (row.agents === 1 ? '' : `, ${row.agents} agents`);
const cellName = (x) => `${x.topology}, ${loadText(x.load)}`;

$('title').textContent = data.name;
$('description').textContent = data.description;
$('subtitle').textContent = `${data.runs} runs` + (data.missing > 0 ? `, ${data.missing} missing` : '') + `, physics ${data.physics}` +
  (data.split ? `, split ${data.split}` : '');

// Tables: they need no library.
const spread = (x, unit) => (x.mean / unit).toFixed(2) + (x.half95 === null ? '' : ' ± ' + (x.half95 / unit).toFixed(2));
for (const table of data.tables) {
  const hours = table.floor_jct_s.mean >= 360, unit = hours ? 3600 : 1, name = hours ? ' (h)' : ' (s)';
  const box = make('div', $('tables'), undefined, {class: 'scroll'}), t = make('table', box);
  make('caption', t, `${table.family_name}: ${cellName(table)}: ${table.pairs} paired run${table.pairs === 1 ? '' : 's'}, floor ${spread(table.floor_jct_s, unit)}` +
    (table.left_out > 0 ? `, ${table.left_out} runs of incomplete pairs left out` : ''));
  const head = make('tr', t);
  for (const h of ['Policy', 'Mean JCT' + name, 'p99 JCT' + name, 'Utilisation', 'Under the baseline' + name, 'Under the baseline', 'Excess removed'])
    make('th', head, h);
  for (const row of table.rows) {
    const tr = make('tr', t, undefined, row.baseline ? {class: 'baseline'} : {});
    make('td', tr, rowName(row) + (row.unfinished_jobs > 0 ? ` (${row.unfinished_jobs} jobs unfinished)` : ''));
    make('td', tr, spread(row.avg_jct_s, unit));
    make('td', tr, spread(row.p99_jct_s, unit));
    make('td', tr, (row.gpu_utilization.mean * 100).toFixed(1) + ' %');
    const share = row.under_baseline_share;
    make('td', tr, row.baseline ? 'baseline' : spread(row.under_baseline_s, unit));
    make('td', tr, row.baseline ? '' : (share.mean * 100).toFixed(1) + (share.half95 === null ? '' : ' ± ' + (share.half95 * 100).toFixed(1)) + ' %');
    make('td', tr, row.baseline || row.excess_removed === null ? '' : (row.excess_removed * 100).toFixed(0) + ' %');
  }
}

// An error bar over a value: [x, low, high] of a series with value axes or a category axis.
const errorBars = (points, color) => ({
  type: 'custom', data: points, silent: true, z: 5, itemStyle: {color}, encode: {x: 0, y: [1, 2]},
  renderItem: (params, api) => {
    const low = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(0), api.value(2)]);
    const line = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style: {stroke: color, lineWidth: 1.5}});
    return {type: 'group', children: [line(low[0], low[1], high[0], high[1]), line(low[0] - 4, low[1], low[0] + 4, low[1]),
      line(high[0] - 4, high[1], high[0] + 4, high[1])]};
  },
});
const choose = (select, names, change) => {
  for (const [i, name] of names.entries()) make('option', select, name, {value: i});
  select.addEventListener('change', () => change(Number(select.value)));
  change(0);
};

function drawCharts() {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--ink').trim(), grid = style.getPropertyValue('--grid').trim();
  const colors = [0, 1, 2, 3, 4, 5].map((i) => style.getPropertyValue('--run' + i).trim());
  const policies = [...new Set(data.cells.map(rowName))];  // one colour each, on all charts
  const colorOf = (name) => colors[policies.indexOf(name) % 6];
  const plots = {};
  const draw = (id, options) => {
    plots[id] = plots[id] || echarts.init($(id), null, {renderer: 'canvas'});
    plots[id].setOption({animation: false, color: colors, textStyle: {color: ink}, tooltip: {confine: true},
      legend: {type: 'scroll', top: 0, textStyle: {color: ink}}, grid: {left: 70, right: 24, top: 40, bottom: 44}, ...options}, true);
  };
  const axis = (name, more) => ({type: 'value', name, nameLocation: 'middle', nameGap: 28, axisLabel: {color: ink},
    splitLine: {lineStyle: {color: grid}}, ...more});
  const timeAxis = axis('time (days)', {axisLabel: {color: ink, formatter: (s) => figures(s / 86400)}, max: 'dataMax'});
  const hours = data.tables.some((t) => t.floor_jct_s.mean >= 360), unit = hours ? 3600 : 1, unitName = hours ? ' h' : ' s';
  const jctAxis = axis(hours ? 'hours' : 'seconds', {nameGap: 44});
  const jctText = (x) => figures(x) + unitName;

  // Mean JCT of each policy over loads.
  const sweeps = new Map();
  for (const table of data.tables.filter((t) => t.load !== null)) {
    const key = `${table.family_name}: ${table.topology}`;
    sweeps.set(key, [...(sweeps.get(key) || []), table]);
  }
  const wide = [...sweeps].filter(([, tables]) => tables.length > 1);
  $('sweep-card').hidden = wide.length === 0;
  if (wide.length > 0) {
    choose($('sweep-choice'), wide.map(([name]) => name), (i) => {
      const tables = [...wide[i][1]].sort((a, b) => a.load - b.load);
      const names = [...new Set(tables.flatMap((t) => t.rows.map(rowName)))];
      const series = names.flatMap((name) => {
        const found = tables.map((t) => [t.load, t.rows.find((r) => rowName(r) === name)]).filter(([, r]) => r);
        return [{name, type: 'line', data: found.map(([load, r]) => [load, r.avg_jct_s.mean / unit]), itemStyle: {color: colorOf(name)}, lineStyle: {color: colorOf(name)}},
          errorBars(found.filter(([, r]) => r.avg_jct_s.half95 !== null)
            .map(([load, r]) => [load, (r.avg_jct_s.mean - r.avg_jct_s.half95) / unit, (r.avg_jct_s.mean + r.avg_jct_s.half95) / unit]), colorOf(name))];
      });
      series.push({name: 'floor', type: 'line', symbol: 'none', lineStyle: {type: 'dashed', color: ink}, itemStyle: {color: ink},
        data: tables.map((t) => [t.load, t.floor_jct_s.mean / unit])});
      draw('sweep', {xAxis: axis('offered load', {scale: true}), yAxis: jctAxis, series, tooltip: {trigger: 'axis', confine: true, valueFormatter: jctText}});
    });
  }

  // One table as bars.
  if (data.tables.length > 0) {
    choose($('bars-choice'), data.tables.map((t) => `${t.family_name}: ${cellName(t)}`), (i) => {
      const rows = data.tables[i].rows, j = rows.map((r) => r.avg_jct_s);
      draw('bars', {legend: {show: false}, xAxis: {type: 'category', data: rows.map(rowName), axisLabel: {color: ink, interval: 0, rotate: rows.length > 6 ? 20 : 0}},
        yAxis: jctAxis, tooltip: {confine: true, valueFormatter: jctText},
        series: [{type: 'bar', barMaxWidth: 60, data: rows.map((r) => ({value: r.avg_jct_s.mean / unit, itemStyle: {color: colorOf(rowName(r))}})),
          markLine: {symbol: 'none', silent: true, lineStyle: {color: ink}, label: {formatter: 'floor', color: ink, position: 'insideEndTop'}, data: [{yAxis: data.tables[i].floor_jct_s.mean / unit}]}},
        errorBars(j.map((x, k) => [k, (x.mean - (x.half95 || 0)) / unit, (x.mean + (x.half95 || 0)) / unit]).filter((x) => x[1] !== x[2]), ink)]});
    });
  }

  // The first paired run of a topology and load.
  const groups = new Map();
  for (const cell of data.cells) groups.set(cellName(cell), [...(groups.get(cellName(cell)) || []), cell]);
  const drawRun = (cell) => {
    const {heat, gantt} = cell.curves;
    const cells = heat.cells.flatMap((row, y) => row.map((v, x) => [x, y, v]));
    const columns = heat.cells.length > 0 ? heat.cells[0].map((_, x) => figures(x * heat.bin_s / 86400)) : [];
    draw('heat', {legend: {show: false}, grid: {left: 120, right: 24, top: 8, bottom: 100},
      xAxis: {type: 'category', data: columns, name: 'time (days)', nameLocation: 'middle', nameGap: 24, axisLabel: {color: ink}},
      yAxis: {type: 'category', data: heat.rows, inverse: true, axisLabel: {color: ink}},
      visualMap: {min: 0, max: 100, calculable: true, orient: 'horizontal', left: 'center', bottom: 0, text: ['100 % busy', '0'], textStyle: {color: ink},
        inRange: {color: ['#eef2f8', '#1d4f91']}},
      series: [{type: 'heatmap', data: cells}]});
    const bars = [...gantt].reverse();
    const start = Math.min(...gantt.map((b) => b[1]));
    const stack = (name, value, color) => ({name, type: 'bar', stack: 'job', barCategoryGap: '15%', data: bars.map(value), itemStyle: {color},
      silent: name === ''});
    draw('gantt', {grid: {left: 120, right: 24, top: 32, bottom: 44},
      xAxis: axis('since the first of them was submitted', {axisLabel: {color: ink, formatter: time}}),
      yAxis: {type: 'category', data: bars.map((b) => `${b[0]} (${b[4]})`), axisLabel: {color: ink, fontSize: 10}},
      tooltip: {trigger: 'axis', axisPointer: {type: 'shadow'}, confine: true, valueFormatter: time},
      series: [stack('', (b) => b[1] - start, 'transparent'), stack('waiting', (b) => b[2] - b[1], colors[1]), stack('running', (b) => b[3] - b[2], colors[0])]});
  };
  if (groups.size === 0) return;
  let shown = [];
  $('run-choice').addEventListener('change', () => drawRun(shown[Number($('run-choice').value)]));
  choose($('cell-choice'), [...groups.keys()], (i) => {
    shown = [...groups.values()][i];
    $('cell-note').textContent = `${shown[0].workload}, seed ${shown[0].seed}`;
    const lines = (value, step) => shown.map((c) => ({name: rowName(c), type: 'line', symbol: 'none', step, data: value(c),
      itemStyle: {color: colorOf(rowName(c))}, lineStyle: {color: colorOf(rowName(c)), width: 1.5}}));
    draw('cdf', {xAxis: {type: 'log', name: 'JCT', nameLocation: 'middle', nameGap: 28, min: 1, axisLabel: {color: ink, formatter: time}, splitLine: {lineStyle: {color: grid}}},
      yAxis: axis('', {max: 1}), series: lines((c) => c.curves.jct.map(([s, share]) => [Math.max(s, 1), share]))});
    draw('busy', {xAxis: timeAxis, yAxis: axis(''), series: lines((c) => c.curves.timeline.map((p) => [p[0], p[1]]), 'end')});
    draw('waiting', {xAxis: timeAxis, yAxis: axis(''), series: lines((c) => c.curves.timeline.map((p) => [p[0], p[2]]), 'end')});
    $('run-choice').replaceChildren();
    for (const [k, c] of shown.entries()) make('option', $('run-choice'), rowName(c), {value: k});
    drawRun(shown[0]);
  });
  addEventListener('resize', () => { for (const plot of Object.values(plots)) plot.resize(); });
}

if (typeof echarts === 'undefined') {
  $('nocharts').hidden = false;
} else {
  $('charts').hidden = false;
  drawCharts();
}
document.body.dataset.ready = 'yes';
