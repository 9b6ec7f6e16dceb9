// SPDX-License-Identifier: Apache-2.0
// Half widths of normal intervals in those of a 90 % one.
const kLevels = [[10, 0.0764], [20, 0.154], [30, 0.2342], [40, 0.3188], [50, 0.41], [60, 0.5116], [70, 0.63], [80, 0.7791], [90, 1], [95, 1.1915], [99, 1.5659]];
const three = (x) => x === null ? '–' : x.toFixed(4);

$('subtitle').textContent = data.file + (data.note ? ': ' + data.note : '');
for (const [name, value] of [['Speeds', count(data.all.rows)], ['Mean absolute error', three(data.all.mae)], ['In their 90 % interval', percent(data.all.coverage90)],
  ['Always the mean', three(data.all.mean_mae)], ...data.worth.map((w) => [`Sharing worth ${figures(1 + w.gain)} told wrongly`, percent(w.wrong / w.pairs)]),
  ...(data.auc === null ? [] : [['Which pairs run: AUC', three(data.auc)]])]) {
  addTile(name, value);
}
addRow($('errors'), ['set', 'speeds', 'MAE', 'rmse', 'in 90 %', 'always the mean'], 'th');
for (const [name, e] of Object.entries(data.groups))
  addRow($('errors'), [name, count(e.rows), three(e.mae), three(e.rmse), percent(e.coverage90), three(e.mean_mae)]);
for (const [name, text] of Object.entries(data.notes)) addRow($('notes'), [name, text]);

const sets = ['all', ...data.sets];
choose($('set-choice'), sets, (chosen) => {
  const rows = data.rows.filter((r) => chosen === 0 || r[0] === chosen - 1);
  const most = Math.max(1, ...rows.map((r) => Math.max(r[3], r[4])));
  const side = Math.ceil(most * 5) / 5, square = (end, x, y) => ({x: {name: x, min: 0, max: end}, y: {name: y, min: 0, max: end}, height: 380});
  const line = (end) => ({name: 'both agree', color: soft, dash: '4 3', points: [[0, 0], [end, end]]});
  const shown = data.sets.map((name, i) => ({name, color: colorOf(i), rows: rows.filter((r) => r[0] === i)})).filter((set) => set.rows.length > 0);
  draw('scatter', {...square(side, 'measured', 'predicted'), zoom: 'xy',
    series: [line(side), ...shown.map((set) => ({...set, kind: 'dots', radius: 2.2, opacity: 0.55, points: set.rows.map((r) => [r[3], r[4]]),
      titles: set.rows.map((r) => `${data.types[r[1]]} beside ${data.types[r[2]]}: measured ${r[3]}, predicted ${r[4]} ± ${r[5]}`)}))]});
  draw('calibration', {...square(100, 'should hold, %', 'holds, %'), head: (x) => `${figures(x)} % should hold`, value: (y) => `${figures(y)} %`,
    series: [line(100), {name: 'measured speeds', dotted: true, color: colorOf(0),
      points: kLevels.map(([level, times]) => [level, 100 * rows.filter((r) => Math.abs(r[3] - r[4]) <= times * r[5]).length / Math.max(rows.length, 1)])}]});
  $('worst').replaceChildren();
  addRow($('worst'), ['job', 'beside', 'set', 'measured', 'predicted', '90 % interval ±', 'off by'], 'th');
  for (const r of [...rows].sort((a, b) => Math.abs(b[3] - b[4]) - Math.abs(a[3] - a[4])).slice(0, 25))
    addRow($('worst'), [data.types[r[1]], data.types[r[2]], data.sets[r[0]], r[3].toFixed(3), r[4].toFixed(3), r[5].toFixed(3), (r[4] - r[3]).toFixed(3)]);
});
document.body.dataset.ready = 'yes';
