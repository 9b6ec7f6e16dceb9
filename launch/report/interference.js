// Drawn as SVG by hand: the page needs no chart library.
const kWide = 420, kTall = 320, kLeft = 54, kBottom = 40, kTop = 10, kRight = 18;
const svgMake = (tag, parent, attributes, text) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  parent.appendChild(e);
  return e;
};
// A square of values from 0 to `most` on both axes; answers where a point lies.
const plane = (id, most, xName, yName) => {
  $(id).replaceChildren();
  const svg = svgMake('svg', $(id), {viewBox: `0 0 ${kWide} ${kTall}`, role: 'img', 'aria-label': `${yName} over ${xName}`});
  const x = (v) => kLeft + v / most * (kWide - kLeft - kRight), y = (v) => kTall - kBottom - v / most * (kTall - kBottom - kTop);
  const steps = most === 100 ? 5 : Math.round(most * 5);  // of 20, or of 0.2
  for (let i = 0; i <= steps; ++i) {
    const v = Number((most * i / steps).toFixed(6));
    svgMake('line', svg, {x1: x(v), x2: x(v), y1: y(0), y2: y(most), stroke: grid});
    svgMake('line', svg, {x1: x(0), x2: x(most), y1: y(v), y2: y(v), stroke: grid});
    svgMake('text', svg, {x: x(v), y: kTall - kBottom + 15, 'text-anchor': 'middle'}, tick(v));
    svgMake('text', svg, {x: kLeft - 6, y: y(v) + 4, 'text-anchor': 'end'}, tick(v));
  }
  svgMake('text', svg, {x: (kLeft + kWide) / 2, y: kTall - 5, 'text-anchor': 'middle'}, xName);
  svgMake('text', svg, {x: 14, y: kTall / 2, 'text-anchor': 'middle', transform: `rotate(-90 14 ${kTall / 2})`}, yName);
  svgMake('line', svg, {x1: x(0), y1: y(0), x2: x(most), y2: y(most), stroke: soft, 'stroke-dasharray': '4 3'});
  return {svg, x, y};
};
// Half widths of normal intervals in those of a 90 % one.
const kLevels = [[10, 0.0764], [20, 0.154], [30, 0.2342], [40, 0.3188], [50, 0.41], [60, 0.5116], [70, 0.63], [80, 0.7791], [90, 1], [95, 1.1915], [99, 1.5659]];
const addRow = (table, cells, tag) => { const tr = make('tr', table); for (const cell of cells) make(tag || 'td', tr, cell); };
const three = (x) => x === null ? '–' : x.toFixed(4);

$('subtitle').textContent = data.file + (data.note ? ': ' + data.note : '');
for (const [name, value] of [['Speeds', count(data.all.rows)], ['Mean absolute error', three(data.all.mae)], ['In their 90 % interval', percent(data.all.coverage90)],
  ['Always the mean', three(data.all.mean_mae)], ...data.worth.map((w) => [`Sharing worth ${figures(1 + w.gain)} told wrongly`, percent(w.wrong / w.pairs)]),
  ...(data.auc === null ? [] : [['Which pairs run: AUC', three(data.auc)]])]) {
  const tile = make('div', $('tiles'), undefined, {class: 'tile'});
  make('div', tile, name, {class: 'name'});
  make('div', tile, value, {class: 'value'});
}
addRow($('errors'), ['set', 'speeds', 'MAE', 'rmse', 'in 90 %', 'always the mean'], 'th');
for (const [name, e] of Object.entries(data.groups))
  addRow($('errors'), [name, count(e.rows), three(e.mae), three(e.rmse), percent(e.coverage90), three(e.mean_mae)]);
for (const [name, text] of Object.entries(data.notes)) addRow($('notes'), [name, text]);

const sets = ['all', ...data.sets];
choose($('set-choice'), sets, (chosen) => {
  const rows = data.rows.filter((r) => chosen === 0 || r[0] === chosen - 1);
  const most = Math.max(1, ...rows.map((r) => Math.max(r[3], r[4])));
  const s = plane('scatter', Math.ceil(most * 5) / 5, 'measured', 'predicted');
  for (const r of rows) {
    const dot = svgMake('circle', s.svg, {cx: s.x(r[3]), cy: s.y(r[4]), r: 2.2, fill: colorOf(r[0]), 'fill-opacity': 0.55});
    svgMake('title', dot, {}, `${data.types[r[1]]} beside ${data.types[r[2]]}: measured ${r[3]}, predicted ${r[4]} ± ${r[5]}`);
  }
  const shown = data.sets.map((name, i) => [name, i]).filter(([, i]) => rows.some((r) => r[0] === i));
  shown.forEach(([name, i], line) => {
    const y = kTop + 12 + 16 * line;
    svgMake('circle', s.svg, {cx: kLeft + 12, cy: y - 4, r: 4, fill: colorOf(i)});
    svgMake('text', s.svg, {x: kLeft + 21, y}, name);
  });
  const c = plane('calibration', 100, 'should hold, %', 'holds, %');
  const points = kLevels.map(([level, times]) => [level, 100 * rows.filter((r) => Math.abs(r[3] - r[4]) <= times * r[5]).length / Math.max(rows.length, 1)]);
  svgMake('polyline', c.svg, {points: points.map(([a, b]) => `${c.x(a)},${c.y(b)}`).join(' '), fill: 'none', stroke: colors[0], 'stroke-width': 2});
  for (const [a, b] of points) svgMake('circle', c.svg, {cx: c.x(a), cy: c.y(b), r: 3, fill: colors[0]});
  $('worst').replaceChildren();
  addRow($('worst'), ['job', 'beside', 'set', 'measured', 'predicted', '90 % interval ±', 'off by'], 'th');
  for (const r of [...rows].sort((a, b) => Math.abs(b[3] - b[4]) - Math.abs(a[3] - a[4])).slice(0, 25))
    addRow($('worst'), [data.types[r[1]], data.types[r[2]], data.sets[r[0]], r[3].toFixed(3), r[4].toFixed(3), r[5].toFixed(3), (r[4] - r[3]).toFixed(3)]);
});
