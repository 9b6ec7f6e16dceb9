const hours = (x) => count(Math.round(x * 10) / 10);
const gpuText = (n) => n + (n === '1' ? ' GPU' : ' GPUs');
$('title').textContent = data.name;
$('subtitle').textContent = `${count(data.jobs)} jobs submitted over ${time(data.span_s)}` +
  (data.dropped > 0 ? `; ${count(data.dropped)} rows without GPU or time are left out` : '');

const atWork = data.span_s > 0 ? data.gpu_hours * 3600 / data.span_s : null;
const tiles = [['Jobs', count(data.jobs)], ['GPU hours', count(Math.round(data.gpu_hours))], ['Mean GPUs asked for at once', atWork === null ? '–' : figures(atWork)],
  ['Median duration', time(data.duration_s.p50)], ['Mean duration', time(data.duration_s.mean)], ['Mean GPUs of a job', figures(data.gpus_per_job.mean)]];
if (data.load !== null) tiles.push([`Load of ${count(data.cluster_gpus)} GPUs`, figures(data.load)]);
for (const [name, value] of tiles) {
  const tile = make('div', $('tiles'), undefined, {class: 'tile'});
  make('div', tile, name, {class: 'name'});
  make('div', tile, value, {class: 'value'});
}

const row = (table, cells, tag) => { const tr = make('tr', table); for (const cell of cells) make(tag || 'td', tr, cell); };
row($('table'), ['', 'mean', 'median', '90 % at most', '99 % at most', 'most'], 'th');
const quantiles = (name, q, format) => row($('table'), [name, format(q.mean), format(q.p50), format(q.p90), format(q.p99), format(q.max)]);
quantiles('Duration', data.duration_s, time);
quantiles('GPUs of a job', data.gpus_per_job, figures);
row($('table'), ['Time between submissions: standard deviation / mean (1 if random)', figures(data.interarrival_cv), '', '', '', '']);

const groups = [['Users', data.users], ['Queues', data.queues], ['Models', data.models]].filter(([, shares]) => shares.length > 0);
const totalHours = data.gpu_hours || 1;
for (const [name, shares] of [['GPUs', data.gangs], ...groups]) {
  const box = make('div', $('tables'), undefined, {class: 'scroll'}), table = make('table', box);
  make('caption', table, name === 'GPUs' ? 'By number of GPUs' : `By ${name.toLowerCase().slice(0, -1)}`);
  row(table, ['', 'jobs', 'share', 'GPU hours', 'share'], 'th');
  for (const [what, jobs, gpuHours] of shares)
    row(table, [name === 'GPUs' ? gpuText(what) : what, count(jobs), percent(jobs / data.jobs), hours(gpuHours), percent(gpuHours / totalHours)]);
}

finish(() => {
  drawDistribution('durations', data.durations.map((d) => ({name: `${d.name} (${count(d.jobs)})`, points: d.points})), 'duration');
  const bars = (id, name, values, format) => draw(id, {legend: {show: false}, grid: {left: 62, right: 16, top: 16, bottom: 48},
    xAxis: {...categories(data.gangs.map((g) => g[0]), {rotate: data.gangs.length > 10 ? 40 : 0}), name: 'GPUs of a job', nameLocation: 'middle', nameGap: 30, nameTextStyle: {color: soft}},
    yAxis: axis(name, {nameGap: 46, axisLabel: {color: ink, formatter: percent}}),
    tooltip: {trigger: 'axis', axisPointer: {type: 'shadow'}, formatter: ([p]) => `${gpuText(p.name)}: ${format(data.gangs[p.dataIndex])}<br><b>${percent(p.value)}</b>`},
    series: [{type: 'bar', barMaxWidth: 44, data: values, itemStyle: {color: colors[0]}}]});
  bars('gangs', 'share of jobs', data.gangs.map((g) => g[1] / data.jobs), (g) => `${count(g[1])} jobs`);
  bars('gpuhours', 'share of GPU hours', data.gangs.map((g) => g[2] / totalHours), (g) => `${hours(g[2])} GPU hours`);

  // A step holds until the next point, so the last value is drawn to the end of its bin.
  const steps = (values) => [...values.map((v, i) => [i * data.bin_s, v]), [values.length * data.bin_s, values[values.length - 1]]];
  const over = (id, name, values, more) => drawOverTime(id, [{name, points: steps(values)}], name, {area: true, since: 'first submission', ...more});
  over('arrivals', 'jobs per hour', data.jobs_per_hour);
  over('demand', 'GPUs', data.demand_gpus, data.cluster_gpus === null ? {} : {top: {at: data.cluster_gpus, text: `${count(data.cluster_gpus)} GPUs`}});

  if (groups.length === 0) draw('shares', {}, 'The trace names no users, queues or models.');
  $('share-choice').hidden = groups.length === 0;
  choose($('share-choice'), groups.map(([name]) => name), (i) => {
    const shares = groups[i][1];
    const series = (name, value, color) => ({name, type: 'bar', data: shares.map(value), itemStyle: {color}});
    draw('shares', {grid: {left: 150, right: 28, top: 36, bottom: 48},
      xAxis: axis('share', {axisLabel: {color: ink, formatter: percent}}),
      yAxis: {...categories(shares.map((s) => s[0]), {width: 140, overflow: 'truncate'}), inverse: true},
      tooltip: {trigger: 'axis', axisPointer: {type: 'shadow'}, formatter: (at) => { const s = shares[at[0].dataIndex];
        return `<b>${echarts.format.encodeHTML(s[0])}</b><br>${count(s[1])} jobs, ${percent(s[1] / data.jobs)}<br>${hours(s[2])} GPU hours, ${percent(s[2] / totalHours)}`; }},
      series: [series('jobs', (s) => s[1] / data.jobs, colors[1]), series('GPU hours', (s) => s[2] / totalHours, colors[0])]});
  });
});
