// SPDX-License-Identifier: Apache-2.0
'use strict';
// What the pages share: their data, figures as text, and elements.
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
const addRow = (table, cells, tag) => { const tr = make('tr', table); for (const cell of cells) make(tag || 'td', tr, cell); };
const addTile = (name, value, others) => {
  const tile = make('div', $('tiles'), undefined, {class: 'tile'});
  make('div', tile, name, {class: 'name'});
  make('div', tile, value, {class: 'value'});
  for (const other of others || []) make('div', tile, other, {class: 'other'});
};

// Three figures, without zeros that say nothing.
const figures = (x) => {
  const text = Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 10 ? x.toFixed(1) : Math.abs(x) >= 0.01 || x === 0 ? x.toFixed(2) : x.toPrecision(2);
  return text.includes('.') && !text.includes('e') ? text.replace(/\.?0+$/, '') : text;
};
const time = (s) => s === null || s === undefined ? '–' : s === 0 ? '0' : s < 1 ? figures(s * 1e3) + ' ms' : s < 120 ? figures(s) + ' s'
  : s < 7200 && s !== 3600 ? figures(s / 60) + ' min' : s < 172800 && s !== 86400 ? figures(s / 3600) + ' h' : figures(s / 86400) + ' d';
const count = (n) => n === null || n === undefined ? '–' : Number(n).toLocaleString('en-US');
const tick = (x) => String(Number(x.toPrecision(6)));  // of an axis: its steps may be small beside its values
const percent = (x) => x === null || x === undefined ? '–' : figures(x * 100) + ' %';
const tickPercent = (x) => tick(x * 100) + ' %';
// The unit in which a span of time is drawn, so that its axis has round figures.
const unitOf = (span) => span > 3 * 86400 ? {s: 86400, name: 'days'} : span > 3 * 3600 ? {s: 3600, name: 'hours'}
  : span > 180 ? {s: 60, name: 'minutes'} : {s: 1, name: 'seconds'};

// Names of at most `most` characters, shortened in the middle. Names that differ stay different, even if that takes more characters.
const shortened = (names, most) => {
  const wanted = new Set(names).size;
  for (let room = most; ; room += 4) {
    for (const part of [0.5, 0.75, 0.25]) {
      const tail = Math.floor((room - 1) * part);
      const short = names.map((n) => n.length <= room ? n : n.slice(0, room - 1 - tail) + '…' + n.slice(n.length - tail));
      if (new Set(short).size === wanted) return short;
    }
  }
};
// Lines of at most `room` characters, broken behind a mark where there is one.
const wrapped = (name, room) => {
  const lines = [];
  let rest = name;
  while (rest.length > room) {
    const at = Math.max(...[' ', ',', ':', '=', '-', '/', '_'].map((mark) => rest.lastIndexOf(mark, room - 1)));
    const end = at > 0 ? at + 1 : room;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return rest === '' ? lines : [...lines, rest];
};
