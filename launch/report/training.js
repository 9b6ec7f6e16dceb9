// SPDX-License-Identifier: Apache-2.0
const signed = (part) => (part < 0 ? '−' : '+') + figures(100 * Math.abs(part)) + ' %';
const change = (log) => log === null || log === undefined ? '–' : signed(Math.expm1(log));
const stages = data.stages;
const points = (s) => s.iterations;
$('subtitle').textContent = `${count(stages.length)} stage${stages.length === 1 ? '' : 's'}, ` +
  `${count(stages.reduce((n, s) => n + points(s).length, 0))} iterations, ${time(Math.max(0, ...stages.map((s) => s.seconds)))}`;

addRow($('stages'), ['stage', 'what', 'iterations', 'last JCT', 'validation', 'kept', 'after'], 'th');
const meanOf = (values) => values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
for (const s of stages) {
  const last = meanOf(points(s).slice(-5).map((p) => p.log_jct));
  addRow($('stages'), [s.stage, s.name, count(points(s).length), change(last), change(s.validation), s.kept === null ? '–' : s.kept ? 'yes' : 'no', time(s.seconds)]);
}

const fits = stages.flatMap((s) => s.fits.map((f) => [s.stage, count(f.decisions), ...f.loss.map((x) => x.toFixed(4)), ...f.best_taken.map(percent)]));
$('fits-card').hidden = fits.length === 0;
addRow($('fits'), ['stage', 'decisions', 'loss before', 'after', 'best taken before', 'after'], 'th');
for (const fit of fits) addRow($('fits'), fit);

const names = [...new Set(stages.flatMap((s) => s.runs.map((r) => r.name)))];
$('runs-card').hidden = names.length === 0;
addRow($('runs'), ['runs', ...stages.map((s) => `stage ${s.stage}`)], 'th');
for (const name of names) {
  addRow($('runs'), [name, ...stages.map((s) => change(meanOf(s.runs.filter((r) => r.name === name).map((r) => r.log_jct))))]);
}

finish(() => {
  const shown = stages.filter((s) => points(s).length > 0);
  const lines = (s, list, format) => ({
    x: {name: 'iteration', min: points(s)[0].at, max: points(s)[points(s).length - 1].at, whole: true}, y: {format},
    right: list.some((l) => l.right) ? {format: tickPercent} : undefined, head: (x) => `iteration ${x}`, value: format, zoom: 'x',
    series: list.map((l, i) => ({name: l.name, kind: l.dots ? 'dots' : 'line', radius: 2.5, opacity: l.dots ? 0.5 : 1, right: l.right, color: colorOf(i), points: l.data,
      value: l.right ? percent : undefined})),
  });
  const of = (s, key) => points(s).map((p) => [p.at, p[key]]);
  const smooth = (values) => values.map(([x], i) => [x, meanOf(values.slice(Math.max(0, i - 4), i + 5).map((v) => v[1]))]);
  $('charts').hidden = shown.length === 0;
  choose($('stage-choice'), shown.map((s) => `stage ${s.stage}: ${s.name}`), (i) => {
    const s = shown[i], critic = points(s)[0].entropy !== undefined;
    const parts = (values) => values.map(([x, log]) => [x, Math.expm1(log)]);
    draw('jct', lines(s, [{name: 'of an iteration', dots: true, data: parts(of(s, 'log_jct'))},
      {name: 'mean of neighbours', data: parts(smooth(of(s, 'log_jct')))}], signed));
    $('critic-card').hidden = !critic;
    if (!critic) return;
    const small = (x) => x.toPrecision(3);
    draw('entropy', lines(s, [{name: 'entropy', data: of(s, 'entropy')}], small));
    draw('critic', lines(s, [{name: 'error', data: of(s, 'critic_error')}, {name: 'explained', right: true, data: of(s, 'explained')}], small));
    draw('agreement', lines(s, [{name: 'cosine', data: of(s, 'agreement')}], small));
    draw('steps', lines(s, [{name: 'divergence', data: of(s, 'divergence')}, {name: 'clipped', right: true, data: of(s, 'clipped')}], small));
  });
});
