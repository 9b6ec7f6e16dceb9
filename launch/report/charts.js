'use strict';
// What the pages share: figures as text, tables, and the charts that more than one of them draws.
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const make = (tag, parent, text, attributes) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  parent.appendChild(e);
  return e;
};
const choose = (select, names, change) => {
  select.replaceChildren();
  for (const [i, name] of names.entries()) make('option', select, name, {value: i});
  select.onchange = () => change(Number(select.value));
  if (names.length > 0) change(0);
};

// Three figures, without zeros that say nothing.
const figures = (x) => {
  const text = Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 10 ? x.toFixed(1) : x.toFixed(2);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
};
const time = (s) => s === null || s === undefined ? '–' : s === 0 ? '0' : s < 1 ? figures(s * 1e3) + ' ms' : s < 120 ? figures(s) + ' s'
  : s < 7200 && s !== 3600 ? figures(s / 60) + ' min' : s < 172800 && s !== 86400 ? figures(s / 3600) + ' h' : figures(s / 86400) + ' d';
const count = (n) => n === null || n === undefined ? '–' : Number(n).toLocaleString('en-US');
const tick = (x) => String(Number(x.toPrecision(6)));  // of an axis: its steps may be small beside its values
const percent = (x) => x === null || x === undefined ? '–' : figures(x * 100) + ' %';
// The unit in which a span of time is drawn, so that its axis has round figures.
const unitOf = (span) => span > 3 * 86400 ? {s: 86400, name: 'days'} : span > 3 * 3600 ? {s: 3600, name: 'hours'}
  : span > 180 ? {s: 60, name: 'minutes'} : {s: 1, name: 'seconds'};

const css = getComputedStyle(document.documentElement);
const cssColor = (name) => css.getPropertyValue(name).trim();
const ink = cssColor('--ink'), soft = cssColor('--soft'), grid = cssColor('--grid'), card = cssColor('--card'), line = cssColor('--line');
const kColors = 10;
const colors = Array.from({length: kColors}, (_, i) => cssColor('--run' + i));
const colorOf = (i) => colors[i % kColors];
const dashOf = (i) => ['solid', 'dashed', 'dotted'][Math.floor(i / kColors) % 3];

const plots = {};
// Draws into the element `id`; where there is nothing to draw, says `nothing` instead.
const draw = (id, options, nothing) => {
  const box = $(id);
  if (nothing) {
    if (plots[id]) { plots[id].dispose(); delete plots[id]; }
    box.replaceChildren();
    make('p', box, nothing, {class: 'note'});
    return null;
  }
  if (!plots[id]) {
    box.replaceChildren();
    plots[id] = echarts.init(box, null, {renderer: 'canvas'});
  }
  plots[id].setOption({animation: false, color: colors, textStyle: {color: ink, fontFamily: 'system-ui, sans-serif'},
    legend: {type: 'scroll', top: 0, textStyle: {color: ink}, pageTextStyle: {color: ink}}, grid: {left: 70, right: 28, top: 40, bottom: 48},
    ...options, tooltip: {confine: true, backgroundColor: card, borderColor: line, textStyle: {color: ink, fontSize: 12.5}, ...options.tooltip}}, true);
  return plots[id];
};
addEventListener('resize', () => { for (const plot of Object.values(plots)) plot.resize(); });

const axis = (name, more) => ({type: 'value', name, nameLocation: 'middle', nameGap: 30, nameTextStyle: {color: soft},
  axisLabel: {color: ink}, splitLine: {lineStyle: {color: grid}}, ...more});
const categories = (names, more) => ({type: 'category', data: names, axisTick: {show: false}, axisLabel: {color: ink, interval: 0, ...more}});
const marks = [1e-3, 1e-2, 0.1, 1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400];

// Distributions of times: series [{name, points: [[s, share]]}].
function drawDistribution(id, series, name) {
  const all = series.flatMap((s) => s.points.map((p) => p[0])).filter((s) => s > 0);
  if (all.length === 0) return draw(id, {}, 'Nothing has finished, so there is nothing to draw.');
  const least = all.reduce((a, b) => Math.min(a, b)), most = all.reduce((a, b) => Math.max(a, b));
  // From the mark below the quickest hundredth on: a few very short ones would squeeze the others.
  const low = [...all].sort((a, b) => a - b)[Math.floor(all.length / 100)];
  const min = Math.max(marks.filter((m) => m <= Math.max(low, least)).pop() || least, 1e-3), max = Math.max(most * 1.02, min * 10);
  const ticks = {customValues: marks.filter((m) => m >= min && m <= max)};
  draw(id, {
    xAxis: axis(name, {type: 'log', min, max, axisTick: {...ticks, show: true}, minorTick: {show: false}, minorSplitLine: {show: false},
      axisLabel: {color: ink, formatter: time, ...ticks}}),
    yAxis: axis('share of jobs', {max: 1, nameGap: 46, axisLabel: {color: ink, formatter: percent}}),
    tooltip: {trigger: 'axis', order: 'valueDesc', formatter: (at) => `within ${time(at[0].axisValue)}<br>` +
      at.map((p) => `${p.marker}${echarts.format.encodeHTML(p.seriesName)}: <b>${percent(p.value[1])}</b>`).join('<br>')},
    series: series.map((s, i) => ({name: s.name, type: 'line', symbol: 'none', step: s.points.length < 60 ? 'end' : undefined, itemStyle: {color: colorOf(s.color ?? i)},
      lineStyle: {color: colorOf(s.color ?? i), type: dashOf(s.color ?? i), width: 1.8},
      data: [[min, 0], ...s.points.map(([x, share]) => [Math.max(x, min), share])]})),
  });
}

// Counts over time as steps: series [{name, points: [[s, n]]}]; `top` draws a line at what there is.
function drawOverTime(id, series, name, more) {
  const end = series.reduce((m, s) => s.points.length ? Math.max(m, s.points[s.points.length - 1][0]) : m, 0);
  if (end === 0) return draw(id, {}, 'Nothing happened, so there is nothing to draw.');
  const unit = unitOf(end), options = more || {};
  const lines = series.map((s, i) => ({name: s.name, type: 'line', symbol: 'none', step: 'end', itemStyle: {color: colorOf(s.color ?? i)},
    lineStyle: {color: colorOf(s.color ?? i), type: dashOf(s.color ?? i), width: 1.4}, areaStyle: options.area ? {opacity: 0.15} : undefined,
    data: s.points.map((p) => [p[0] / unit.s, p[1]])}));
  if (options.top) {
    lines[0].markLine = {symbol: 'none', silent: true, lineStyle: {color: soft, type: 'dashed'}, data: [{yAxis: options.top.at}],
      label: {formatter: options.top.text, color: soft, position: 'insideEndTop'}};
  }
  draw(id, {
    legend: {show: series.length > 1, type: 'scroll', top: 0, textStyle: {color: ink}, pageTextStyle: {color: ink}},
    grid: {left: 62, right: 28, top: series.length > 1 ? 40 : 16, bottom: 48},
    xAxis: axis(`${unit.name} since the ${options.since || 'start'}`, {max: end / unit.s, axisLabel: {color: ink, hideOverlap: true, showMaxLabel: false, formatter: tick}}),
    yAxis: axis(name, {nameGap: 46, minInterval: options.whole ? 1 : undefined, max: options.top ? (v) => Math.max(v.max, options.top.at * 1.02) : undefined,
      axisLabel: {color: ink, formatter: (n) => options.top && n > Math.max(options.top.at, 1) * 1.019 ? '' : count(Math.round(n * 100) / 100)}}),
    tooltip: {trigger: 'axis', formatter: (at) => `${time(at[0].axisValue * unit.s)}<br>` +
      at.map((p) => `${p.marker}${echarts.format.encodeHTML(p.seriesName)}: <b>${count(Math.round(p.value[1] * 10) / 10)}</b>`).join('<br>')},
    dataZoom: [{type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl'}],
    series: lines,
  });
}

// How busy rows of servers were over time.
function drawHeat(id, curves) {
  const {cells, bin_s: bin} = curves.heat;
  if (cells.length === 0) return draw(id, {}, 'No job ran, so there is nothing to draw.');
  const bins = cells[0].length, unit = unitOf(bins * bin);
  const every = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 48].find((k) => bins / k <= 12) || 60;
  draw(id, {legend: {show: false}, grid: {left: 120, right: 28, top: 8, bottom: 92},
    xAxis: {...categories(cells[0].map((_, x) => figures(x * bin / unit.s)), {interval: (x) => x % every === 0}), name: `${unit.name} since the start`,
      nameLocation: 'middle', nameGap: 28, nameTextStyle: {color: soft}},
    yAxis: {...categories(curves.rows.map((r) => r[0]), {interval: (y) => y % Math.ceil(cells.length / 20) === 0, width: 110, overflow: 'truncate'}), inverse: true},
    visualMap: {min: 0, max: 100, orient: 'horizontal', left: 'center', bottom: 0, itemHeight: 160, text: ['all GPUs busy', 'idle'], textStyle: {color: ink},
      inRange: {color: [cssColor('--idle'), cssColor('--heat')]}},
    tooltip: {formatter: (p) => `${echarts.format.encodeHTML(curves.rows[p.value[1]][0])}<br>${time(p.value[0] * bin)} to ${time((p.value[0] + 1) * bin)}<br><b>${p.value[2]} %</b> of its GPUs busy`},
    series: [{type: 'heatmap', data: cells.flatMap((row, y) => row.map((v, x) => [x, y, v]))}]});
}

const kGanttNote = 'One bar per job and range of GPUs, on the GPUs of its last attempt from its first start to its end; the colours only tell ' +
  'neighbours apart. The sliders choose the window, hovering over a bar tells of its job.';
// Which job had which GPUs when: a bar per job and range of neighbouring GPUs. The window is moved by the sliders.
function drawGantt(id, curves, gpus) {
  const {bars, from_s: from, to_s: to, left_out: leftOut} = curves.gantt, runEnd = curves.timeline.length ? curves.timeline[curves.timeline.length - 1][0] : to;
  $(id + '-note').textContent = kGanttNote + (from > 0 || to < runEnd * 0.99 ? ` Of this run the page holds ${time(from)} to ${time(to)}.` : '') +
    (leftOut > 0 ? ` ${count(leftOut)} jobs of few GPUs are left out.` : '');
  if (bars.length === 0) return draw(id, {}, 'No job ran, so there is nothing to draw.');
  const unit = unitOf(to);
  const boxes = bars.flatMap((bar, i) => bar[5].split(',').filter((r) => r !== '').map((range) => {
    const [first, last] = range.split('-').map(Number);
    return [bar[2] / unit.s, bar[3] / unit.s, first, (last ?? first) + 1, i];
  }));
  const rowOf = (gpu) => { let name = ''; for (const [n, first] of curves.rows) { if (first > gpu) break; name = n; } return name; };
  // At first the time in which the middle 500 bars began.
  const middle = (rank) => bars[Math.min(bars.length - 1, Math.max(0, Math.floor(bars.length / 2) + rank))][2] / unit.s;
  const window = bars.length > 500 ? {startValue: middle(-250), endValue: middle(250)} : {start: 0, end: 100};
  // At most 20 names of rows between two GPUs.
  const labels = (first, last) => {
    const seen = curves.rows.map((r) => r[1]).filter((gpu) => gpu >= first && gpu < last), every = Math.ceil(seen.length / 20);
    return seen.filter((_, i) => i % every === 0);
  };
  const plot = draw(id, {legend: {show: false}, grid: {left: 120, right: 60, top: 12, bottom: 84},
    xAxis: axis(`${unit.name} since the start`, {min: from / unit.s, max: to / unit.s, axisLabel: {color: ink, hideOverlap: true, showMinLabel: false, showMaxLabel: false, formatter: tick}}),
    yAxis: axis('', {min: 0, max: gpus, inverse: true, axisTick: {show: true, customValues: labels(0, gpus)},
      axisLabel: {color: ink, width: 110, overflow: 'truncate', customValues: labels(0, gpus), formatter: rowOf}}),
    dataZoom: [{type: 'slider', xAxisIndex: 0, ...window, bottom: 8, height: 24, filterMode: 'none', showDataShadow: false,
      textStyle: {color: ink}, labelFormatter: (v) => time(v * unit.s)},
    {type: 'slider', yAxisIndex: 0, right: 8, width: 22, filterMode: 'none', showDataShadow: false, showDetail: false},
    {type: 'inside', xAxisIndex: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl'}],
    tooltip: {formatter: (p) => {
      const [job, submit, start, finish, n, placement] = bars[p.value[4]];
      return `<b>${echarts.format.encodeHTML(job)}</b>, ${n} GPU${n === 1 ? '' : 's'}: ${echarts.format.encodeHTML(placement)}<br>from ${echarts.format.encodeHTML(rowOf(p.value[2]))}` +
        `<br>waited ${time(Math.max(0, start - submit))}<br>from ${time(start)} to ${time(finish)}, for ${time(finish - start)}`;
    }},
    series: [{type: 'custom', dimensions: ['start', 'end', 'first', 'last', 'job'], encode: {x: [0, 1], y: [2, 3]}, data: boxes, clip: true,
      renderItem: (params, api) => {
        const a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(1), api.value(3)]);
        const gap = b[1] - a[1] > 4 ? 1 : 0;
        const shape = echarts.graphic.clipRectByRect({x: a[0], y: a[1], width: Math.max(b[0] - a[0], 1), height: Math.max(b[1] - a[1] - gap, 1)}, params.coordSys);
        return shape && {type: 'rect', shape, style: {fill: colorOf(api.value(4)), opacity: 0.8}};
      }}]});
  plot.off('datazoom');
  plot.on('datazoom', (event) => {
    const zoom = plot.getOption().dataZoom[1], customValues = labels(Math.floor(zoom.startValue), zoom.endValue);
    if (event.dataZoomId === zoom.id) plot.setOption({yAxis: {axisTick: {customValues}, axisLabel: {customValues}}});
  });
}

// Draws if the chart library is there, and says when all is done.
function finish(drawCharts) {
  const charts = typeof echarts !== 'undefined';
  $('nocharts').hidden = charts;
  $('charts').hidden = !charts;
  if (charts) drawCharts();
  document.body.dataset.ready = 'yes';
}
