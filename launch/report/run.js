// SPDX-License-Identifier: Apache-2.0
const runs = data.runs, first = runs[0].summary;
const micros = (us) => us === null ? '–' : us < 1000 ? us.toFixed(0) + ' µs' : figures(us / 1000) + ' ms';
const plain = (x) => x === null || x === undefined ? '–' : String(x);

$('subtitle').textContent = `${first.workload} on ${first.topology}: ${count(first.servers)} servers, ${count(first.gpus)} GPUs, ` +
  `${count(first.jobs_submitted)} jobs; policy ${first.policy}, ${count(first.agents)} agent${first.agents === 1 ? '' : 's'}`;

const keyFigures = [['Mean JCT', 'avg_jct_s', time], ['99th percentile JCT', 'p99_jct_s', time], ['Floor of the mean JCT', 'floor_jct_s', time],
  ['Mean time in the queue', 'avg_queue_s', time], ['GPU utilisation', 'gpu_utilization', percent], ['99th percentile decision', 'decision_p99_us', micros]];
for (const [name, key, format] of keyFigures) {
  addTile(name, format(first[key]), runs.slice(1, 3).map((run) => `${run.label}: ${format(run.summary[key])}`));
}

const rows = [['Mode', 'mode', plain], ['Policy', 'policy', plain], ['Family', 'family', plain], ['Agents', 'agents', count], ['Load', 'load', plain], ['Seed', 'seed', plain],
  ['Jobs submitted', 'jobs_submitted', count], ['Jobs finished', 'jobs_finished', count], ['Jobs failed', 'jobs_failed', count], ['Jobs that never ended', 'jobs_unfinished', count],
  ['Rows dropped: no GPU or 0 s', 'rows_dropped', count], ['Jobs of a name used before', 'duplicate_names', count],
  ['JCT, mean', 'avg_jct_s', time], ['JCT, median', 'p50_jct_s', time], ['JCT, 90th percentile', 'p90_jct_s', time], ['JCT, 99th percentile', 'p99_jct_s', time],
  ['JCT, floor of the mean', 'floor_jct_s', time], ['Slowdown, mean', 'avg_slowdown', (x) => x === null ? '–' : figures(x)], ['Time in the queue, mean', 'avg_queue_s', time],
  ['Makespan', 'makespan_s', time], ['GPU utilisation', 'gpu_utilization', percent], ['Forwards', 'forwards', count],
  ['Gangs across partitions', 'cross_partition_gangs', count], ['Preemptions', 'preemptions', count], ['Resizes', 'resizes', count],
  ['Decisions', 'decisions', count], ['Decision, median', 'decision_p50_us', micros], ['Decision, 99th percentile', 'decision_p99_us', micros],
  ['Messages', 'messages', count], ['Wall time', 'wall_s', time], ['Times are good to', 'resolution_s', time], ['Trace hash', 'trace_hash', plain]];
const relative = new Set(['avg_jct_s', 'p50_jct_s', 'p90_jct_s', 'p99_jct_s', 'avg_queue_s', 'makespan_s', 'gpu_utilization', 'avg_slowdown']);
const head = make('tr', $('table'));
make('th', head, '');
for (const run of runs) make('th', head, run.label);
if (runs.length === 2) make('th', head, `${runs[0].label} against ${runs[1].label}`);
for (const [name, key, format] of rows) {
  const row = make('tr', $('table'));
  make('td', row, name);
  for (const run of runs) make('td', row, format(run.summary[key] === undefined ? null : run.summary[key]));
  if (runs.length === 2) {
    const a = runs[0].summary[key], b = runs[1].summary[key];
    make('td', row, relative.has(key) && b > 0 ? ((a / b - 1) * 100).toFixed(1) + ' %' : '');
  }
}

finish(() => {
  drawDistribution('cdf', runs.map((r) => ({name: r.label, points: r.curves.jct})), 'time from submission to the end');
  drawOverTime('busy', runs.map((r) => ({name: r.label, points: r.curves.timeline.map((p) => [p[0], p[1]])})), 'GPUs in use',
    {top: {at: first.gpus, text: `all ${count(first.gpus)}`}, whole: true});
  drawOverTime('waiting', runs.map((r) => ({name: r.label, points: r.curves.timeline.map((p) => [p[0], p[2]])})), 'jobs waiting', {whole: true});
  $('run-line').hidden = runs.length === 1;
  choose($('run-choice'), runs.map((r) => r.label), (i) => {
    drawHeat('heat', runs[i].curves);
    drawGantt('gantt', runs[i].curves, first.gpus);
  });
});
