// SPDX-License-Identifier: Apache-2.0
// Drawing as SVG: shapes, colours and ticks, and saving a drawing as a file.
const svgNs = 'http://www.w3.org/2000/svg';
const shape = (parent, tag, attributes, title) => {
  const e = document.createElementNS(svgNs, tag);
  for (const [k, v] of Object.entries(attributes)) if (v !== undefined) e.setAttribute(k, v);
  if (title) shape(e, 'title', {}).textContent = title;
  parent.appendChild(e);
  return e;
};
const label = (parent, x, y, text, attributes) => {
  const e = shape(parent, 'text', {x, y, ...attributes});
  e.textContent = text;
  return e;
};
// Colours are those of the page, light or dark; a saved drawing has the light ones.
const ink = 'var(--ink)', soft = 'var(--soft)', grid = 'var(--grid)', card = 'var(--card)';
const kColors = 10;
const colorOf = (i) => `var(--run${i % kColors})`;
const dashOf = (i) => [undefined, '7 4', '2 3'][Math.floor(i / kColors) % 3];

const kFont = 'system-ui, sans-serif', kFontSize = 12;
const pen = document.createElement('canvas').getContext('2d');
pen.font = `${kFontSize}px ${kFont}`;
const widthOf = (text) => pen.measureText(text).width;
const svgOf = (box, width, height, name) => shape(box, 'svg', {viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'img', 'aria-label': name,
  'font-family': kFont, 'font-size': kFontSize, fill: ink});

// Round values from low to high, about `wanted` of them.
const ticksOf = (low, high, wanted, whole) => {
  const rough = (high - low) / Math.max(1, wanted), power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  if (whole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
};

const standalone = (svg) => {
  const copy = svg.cloneNode(true), {width, height} = svg.viewBox.baseVal, light = document.styleSheets[0].cssRules[0].style;
  for (const e of copy.querySelectorAll('.pointer')) e.remove();
  copy.setAttribute('width', width);
  copy.setAttribute('height', height);
  copy.prepend(shape(copy, 'rect', {width, height, fill: card}));
  return new XMLSerializer().serializeToString(copy).replace(/var\((--\w+)\)/g, (_, name) => light.getPropertyValue(name).trim());
};
const save = (blob, name) => {
  const link = make('a', document.body, undefined, {href: URL.createObjectURL(blob), download: name, hidden: ''});
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const saveSvg = (svg, name) => save(new Blob([standalone(svg)], {type: 'image/svg+xml'}), name + '.svg');
const savePng = (svg, name) => {
  const image = new Image(), {width, height} = svg.viewBox.baseVal, kScale = 2;
  image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = width * kScale;
    canvas.height = height * kScale;
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, name + '.png'));
  };
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(standalone(svg));
};
// The buttons below a drawing; `more` are further ones, [name, what it does, explanation].
const addTools = (box, svg, more, hint) => {
  const tools = make('p', box, hint || '', {class: 'tools'}), name = `${data.page}-${box.id}`;
  for (const [text, act, title] of [...(more || []), ['SVG', () => saveSvg(svg, name), 'save this drawing as SVG'], ['PNG', () => savePng(svg, name), 'save this drawing as PNG']])
    make('button', tools, text, {type: 'button', title}).onclick = act;
};
