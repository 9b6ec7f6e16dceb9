// SPDX-License-Identifier: Apache-2.0
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
  addTile(name, value);
}

addRow($('table'), ['', 'mean', 'median', '90 % at most', '99 % at most', 'most'], 'th');
const quantiles = (name, q, format) => addRow($('table'), [name, format(q.mean), format(q.p50), format(q.p90), format(q.p99), format(q.max)]);
quantiles('Duration', data.duration_s, time);
quantiles('GPUs of a job', data.gpus_per_job, figures);
addRow($('table'), ['Time between submissions: standard deviation / mean (1 if random)', figures(data.interarrival_cv), '', '', '', '']);

const groups = [['Users', data.users], ['Queues', data.queues], ['Models', data.models]].filter(([, shares]) => shares.length > 0);
const totalHours = data.gpu_hours || 1;
for (const [name, shares] of [['GPUs', data.gangs], ...groups]) {
  const box = make('div', $('tables'), undefined, {class: 'scroll'}), table = make('table', box);
  make('caption', table, name === 'GPUs' ? 'By number of GPUs' : `By ${name.toLowerCase().slice(0, -1)}`);
  addRow(table, ['', 'jobs', 'share', 'GPU hours', 'share'], 'th');
  for (const [what, jobs, gpuHours] of shares)
    addRow(table, [name === 'GPUs' ? gpuText(what) : what, count(jobs), percent(jobs / data.jobs), hours(gpuHours), percent(gpuHours / totalHours)]);
}

finish(() => {
  drawDistribution('durations', data.durations.map((d) => ({name: `${d.name} (${count(d.jobs)})`, points: d.points})), 'duration');
  const bars = (id, name, values, format) => draw(id, {
    x: {name: 'GPUs of a job', names: data.gangs.map((g) => g[0])}, y: {name, min: 0, format: tickPercent},
    tell: (i) => [[gpuText(data.gangs[i][0]), format(data.gangs[i])], ['share', percent(values[i])]],
    series: [{name, kind: 'bars', points: values.map((v, i) => [i, v])}]});
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
    const series = (name, value, color) => ({name, kind: 'bars', color, points: shares.map((s, i) => [value(s), i])});
    draw('shares', {x: {name: 'share', min: 0, format: tickPercent}, y: {names: shares.map((s) => s[0])},
      tell: (i) => {
        const [name, jobs, gpuHours] = shares[i];
        return [[name], [`${count(jobs)} jobs`, percent(jobs / data.jobs)], [`${hours(gpuHours)} GPU hours`, percent(gpuHours / totalHours)]];
      },
      series: [series('jobs', (s) => s[1] / data.jobs, colorOf(1)), series('GPU hours', (s) => s[2] / totalHours, colorOf(0))]});
  });
});
