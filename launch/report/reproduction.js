// SPDX-License-Identifier: Apache-2.0
$('subtitle').textContent = data.reproductions.map((r) => r.name).join(', ');
const figuresOf = data.reproductions.flatMap((r) => r.figures);
for (const [name, value] of [['Figures', count(figuresOf.length)], ['With a bound', count(figuresOf.filter((f) => f.bound !== null).length)],
  ['Missed', count(figuresOf.filter((f) => !f.holds).length)]]) {
  addTile(name, value);
}
for (const r of data.reproductions) {
  const card = make('section', $('reproductions'), undefined, {class: 'card'});
  make('h2', card, r.name);
  make('p', card, `${r.title}. Published by ${r.source}. From ${r.inputs}: ${r.verdict}.`, {class: 'note'});
  make('code', make('p', card), r.command);
  const table = make('table', make('div', card, undefined, {class: 'scroll'}));
  addRow(table, r.rows[0], 'th');
  for (const [i, row] of r.rows.slice(1).entries()) {
    addRow(table, row);
    if (!r.figures[i].holds) table.lastElementChild.setAttribute('class', 'missed');
  }
  for (const note of r.notes) make('p', card, note, {class: 'note'});
}
document.body.dataset.ready = 'yes';
