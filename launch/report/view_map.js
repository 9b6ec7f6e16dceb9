// SPDX-License-Identifier: Apache-2.0
// The data centre and the line of time, drawn on canvases.
const dark = matchMedia('(prefers-color-scheme: dark)');
const cssOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let colours = {};
const readColours = () => {
  colours = {};
  for (const name of ['card', 'page', 'ink', 'soft', 'line', 'grid', 'idle', 'run0', 'run1']) colours[name] = cssOf('--' + name);
  colours.runs = Array.from({length: kColors}, (_, i) => cssOf(`--run${i}`));
};
readColours();
const agentColour = (agent) => colours.runs[agent % kColors];
// Hues a golden angle apart, as the still picture has them; lighter where the page is dark.
const jobColour = (i) => `hsl(${(i * 137.508 % 360).toFixed(1)} 58% ${(dark.matches ? 56 : 50) + 7 * (i % 3)}%)`;
const models = [...new Set(jobs.map((j) => j.model))].sort();
const modelNumber = new Map(models.map((m, i) => [m, i]));
const sizes = [1, 2, 4, 8, 16, 32, 64, Infinity];
const paints = [
  {name: 'by job', of: (job) => jobColour(job.i)},
  {name: 'by home', of: (job) => agentColour(job.home)},
  {name: 'by GPUs asked for', of: (job) => `hsl(${215 - 25 * sizes.findIndex((n) => job.gpus <= n)} 60% ${dark.matches ? 58 : 52}%)`},
  {name: 'by model', of: (job) => jobColour(modelNumber.get(job.model))},
];
let paint = paints[0];

// Links: green, and red where they are full.
const loadColour = (part) => `hsl(${Math.round(140 - 1.35 * Math.min(100, part))} 62% ${dark.matches ? 55 : 42}%)`;

const look = {chosen: null, chosenGpu: null, hover: null, talk: true, flashes: new Map(), arcs: []};

const fit = (canvas, height) => {
  const ratio = devicePixelRatio || 1, width = Math.max(1, canvas.clientWidth);
  canvas.style.height = `${height}px`;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen2d = canvas.getContext('2d');
  pen2d.setTransform(ratio, 0, 0, ratio, 0, 0);
  return {pen: pen2d, width, height, ratio};
};
const rounded = (p, x, y, w, h, r) => { p.beginPath(); p.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2)); };

const map = $('map');
let plan = data.plans[0], scale = 1, left = 0, mapHeight = 1;
const back = document.createElement('canvas');
const layOut = () => {
  floorStale = true;
  const width = Math.max(1, map.clientWidth);
  plan = data.plans[width < 620 ? 1 : 0];
  const most = width < 620 ? width * 1.5 : Math.max(320, innerHeight - 300);
  scale = Math.min(width / Math.max(1, plan.w), most / Math.max(1, plan.h), 4);
  left = (width - plan.w * scale) / 2;
  mapHeight = Math.ceil(plan.h * scale) + 2;
  const {ratio} = fit(map, mapHeight);
  back.width = map.width;
  back.height = map.height;
  const p = back.getContext('2d');
  p.setTransform(ratio, 0, 0, ratio, 0, 0);
  p.clearRect(0, 0, width, mapHeight);
  p.translate(left, 1);
  p.scale(scale, scale);
  for (const [x, y, w, h, name] of plan.racks) {
    rounded(p, x, y, w, h, 3);
    p.fillStyle = colours.page;
    p.fill();
    p.strokeStyle = colours.line;
    p.lineWidth = 0.8 / scale;
    p.stroke();
    if (scale < 0.75) continue;
    p.fillStyle = colours.soft;
    p.font = `7.5px ${kFont}`;
    p.fillText(name, x + 5, y + 9, w - 8);
  }
  for (const [i, [x, y, w, h]] of plan.servers.entries()) {
    if (w === 0) continue;
    rounded(p, x, y, w, h, 2);
    p.fillStyle = colours.card;
    p.fill();
    if (servers[i].agent >= data.agents) continue;
    p.fillStyle = agentColour(servers[i].agent);
    p.fillRect(x, y + 1, 2.4, h - 2);
  }
};
// Where an agent's servers are, about.
const middles = () => Array.from({length: data.agents}, (_, agent) => {
  const boxes = plan.servers.filter(([, , w], i) => w > 0 && servers[i].agent === agent);
  const n = Math.max(1, boxes.length);
  return [boxes.reduce((s, b) => s + b[0] + b[2] / 2, 0) / n, boxes.reduce((s, b) => s + b[1] + b[3] / 2, 0) / n];
});
const middleOf = (gpus) => {
  const n = Math.max(1, gpus.length), half = plan.gpu / 2;
  return [gpus.reduce((s, g) => s + plan.gpus[2 * g], 0) / n + half, gpus.reduce((s, g) => s + plan.gpus[2 * g + 1], 0) / n + half];
};
const bow = (p, [x1, y1], [x2, y2], lift) => {
  const dx = x2 - x1, dy = y2 - y1;
  p.beginPath();
  p.moveTo(x1, y1);
  p.quadraticCurveTo((x1 + x2) / 2 - dy * lift, (y1 + y2) / 2 + dx * lift, x2, y2);
  p.stroke();
};

const kFlash = 900, kArc = 700;  // milliseconds of the watcher
// Racks and GPUs as they were drawn last: of a frame only those are drawn anew that are others now.
const floor = document.createElement('canvas');
let floorStale = true, drawnOn = [], drawnSick = [];
const drawFloor = () => {
  const p = floor.getContext('2d'), ratio = devicePixelRatio || 1;
  if (floorStale || floor.width !== map.width || floor.height !== map.height) {
    floor.width = map.width;
    floor.height = map.height;
    p.drawImage(back, 0, 0);
    drawnOn = new Array(gpuCount);
    floorStale = false;
  }
  p.setTransform(ratio * scale, 0, 0, ratio * scale, left * ratio, ratio);
  for (let gpu = 0; gpu < gpuCount; ++gpu) {
    const on = state.on[gpu], sick = state.sick.has(gpu);  // a list is never changed, but another one
    if (drawnOn[gpu] === on && drawnSick[gpu] === sick) continue;
    drawnOn[gpu] = on;
    drawnSick[gpu] = sick;
    drawGpu(p, gpu);
  }
};
const drawGpu = (p, gpu) => {
  const x = plan.gpus[2 * gpu], y = plan.gpus[2 * gpu + 1], side = plan.gpu, on = state.on[gpu];
  p.fillStyle = colours.card;
  p.fillRect(x - 0.4, y - 0.4, side + 0.8, side + 0.8);
  rounded(p, x, y, side, side, 1.6);
  p.fillStyle = on.length === 0 ? colours.idle : paint.of(on[0]);
  p.globalAlpha = look.chosen !== null && on.length > 0 && !on.includes(look.chosen) ? 0.28 : 1;
  p.fill();
  if (on.length > 1) {
    p.fillStyle = paint.of(on[1]);
    p.fillRect(x, y + side / 2, side, side / 2);
  }
  p.globalAlpha = 1;
  if (state.sick.has(gpu)) {
    p.strokeStyle = colours.run1;
    p.lineWidth = 1.6;
    p.beginPath();
    p.moveTo(x + 1, y + 1); p.lineTo(x + side - 1, y + side - 1); p.moveTo(x + side - 1, y + 1); p.lineTo(x + 1, y + side - 1);
    p.stroke();
  }
};
// At the top of each rack how full the fullest link of its switch is.
const drawUplinks = (p) => {
  const part = new Map();
  for (const link of links) for (const rack of link.racks) part.set(rack, Math.max(part.get(rack) || 0, state.load[link.i]));
  for (const [x, y, w, , name] of plan.racks) {
    const full = part.get(name), wide = Math.min(24, w / 2);
    if (full === undefined) continue;
    p.fillStyle = colours.idle;
    p.fillRect(x + w - wide - 4, y + 4, wide, 4);
    p.fillStyle = loadColour(full);
    p.fillRect(x + w - wide - 4, y + 4, wide * Math.min(1, full / 100), 4);
  }
};
const drawFlashes = (p, now) => {
  p.strokeStyle = colours.ink;
  p.lineWidth = 1.6;
  for (const [gpu, born] of look.flashes) {
    const left0 = 1 - (now - born) / kFlash;
    if (left0 <= 0) { look.flashes.delete(gpu); continue; }
    if (state.on[gpu].length === 0) continue;
    p.globalAlpha = 0.7 * Math.min(1, left0);
    p.strokeRect(plan.gpus[2 * gpu] + 0.4, plan.gpus[2 * gpu + 1] + 0.4, plan.gpu - 0.8, plan.gpu - 0.8);
  }
  p.globalAlpha = 1;
};
const drawMap = (now) => {
  const {pen: p, width, ratio} = fit(map, mapHeight);
  drawFloor();
  p.setTransform(1, 0, 0, 1, 0, 0);
  p.clearRect(0, 0, map.width, map.height);
  p.drawImage(floor, 0, 0);
  p.setTransform(ratio * scale, 0, 0, ratio * scale, left * ratio, ratio);
  drawFlashes(p, now);
  if (links.length > 0) drawUplinks(p);
  for (const s of servers) {
    const [x, y, w, h] = plan.servers[s.i];
    const away = state.down.has(daemon(false, s.executor)), mute = state.down.has(daemon(true, s.agent));
    if (w === 0 || (!away && !mute)) continue;
    p.fillStyle = colours.card;
    p.globalAlpha = away ? 0.55 : 0.25;
    p.fillRect(x, y, w, h);
    p.globalAlpha = 1;
    p.strokeStyle = colours.run1;
    p.lineWidth = 1;
    p.setLineDash(away ? [2, 1.5] : [0.5, 1.5]);
    p.strokeRect(x, y, w, h);
    p.setLineDash([]);
  }
  if (look.chosen !== null) {
    p.strokeStyle = colours.ink;
    p.lineWidth = 1.6;
    for (let gpu = 0; gpu < gpuCount; ++gpu)
      if (state.on[gpu].includes(look.chosen)) p.strokeRect(plan.gpus[2 * gpu] - 0.5, plan.gpus[2 * gpu + 1] - 0.5, plan.gpu + 1, plan.gpu + 1);
  }
  if (look.chosenGpu !== null) {
    p.strokeStyle = colours.run0;
    p.lineWidth = 2;
    p.strokeRect(plan.gpus[2 * look.chosenGpu] - 1, plan.gpus[2 * look.chosenGpu + 1] - 1, plan.gpu + 2, plan.gpu + 2);
  }
  p.lineCap = 'round';
  for (const arc of look.arcs) {
    const age = (now - arc.born) / kArc;
    if (age >= 1) continue;
    p.globalAlpha = (arc.move ? 0.95 : 0.55) * (1 - age);
    p.strokeStyle = arc.colour;
    p.lineWidth = (arc.move ? 2.4 : Math.min(4, 0.9 + Math.log2(1 + arc.count) * 0.5)) / Math.max(0.6, scale);
    bow(p, arc.from, arc.to, arc.move ? 0.12 : 0.2);
  }
  p.globalAlpha = 1;
  void width;
};
const gpuAt = (event) => {
  const box = map.getBoundingClientRect();
  const x = (event.clientX - box.left - left) / scale, y = (event.clientY - box.top - 1) / scale, side = plan.gpu + 1;
  for (let gpu = 0; gpu < gpuCount; ++gpu) {
    const dx = x - plan.gpus[2 * gpu], dy = y - plan.gpus[2 * gpu + 1];
    if (dx >= -1 && dx < side && dy >= -1 && dy < side) return gpu;
  }
  return null;
};

// GPUs in use filled, jobs waiting as a line, faults as ticks, and where we are.
const line = $('line'), lineBack = document.createElement('canvas');
let lineStale = true;
const drawCurves = (p, width, height) => {
  p.clearRect(0, 0, width, height);
  const low = height - 8, high = 4, x = (s) => s / end * width;
  // A point for each pixel is enough: of more the highest and the lowest.
  const curve = (value, most) => {
    p.beginPath();
    p.moveTo(0, low);
    let y = low, pixel = -1, least = low, top = low;
    const to = (at) => { p.lineTo(at, least); p.lineTo(at, top); p.lineTo(at, y); };
    for (const point of course) {
      const at = x(point[0]), next = low - (low - high) * value(point) / most;
      if (Math.floor(at * 2) !== pixel) {
        if (pixel >= 0) to((pixel + 0.5) / 2);
        p.lineTo(at, y);
        pixel = Math.floor(at * 2);
        least = top = next;
      }
      y = next;
      least = Math.max(least, y);
      top = Math.min(top, y);
    }
    if (pixel >= 0) to((pixel + 0.5) / 2);
    p.lineTo(width, y);
  };
  curve((point) => point[1], Math.max(1, gpuCount));
  p.lineTo(width, low);
  p.closePath();
  p.fillStyle = colours.run0;
  p.globalAlpha = 0.28;
  p.fill();
  p.globalAlpha = 1;
  curve((point) => point[2], mostWaiting);
  p.strokeStyle = colours.run1;
  p.lineWidth = 1.3;
  p.stroke();
  if (fullest.length > 0) {
    p.strokeStyle = loadColour(50);
    p.setLineDash([3, 2]);
    p.beginPath();
    for (const [part, most] of fullest.entries()) p.lineTo((part + 0.5) / kParts * width, low - (low - high) * Math.min(1, most / 100));
    p.stroke();
    p.setLineDash([]);
  }
  p.fillStyle = colours.run1;
  for (const e of told) if (wrongKinds.has(e.kind)) p.fillRect(x(e.at) - 0.5, low + 2, 1.5, 6);
  p.strokeStyle = colours.line;
  p.lineWidth = 1;
  p.beginPath(); p.moveTo(0, low + 0.5); p.lineTo(width, low + 0.5); p.stroke();
  if (look.chosen !== null) {
    p.fillStyle = paint.of(look.chosen);
    for (const a of look.chosen.attempts) p.fillRect(x(a.from), low - 4, Math.max(2, x(a.until) - x(a.from)), 5);
  }
};
const drawLine = (t) => {
  const {pen: p, width, height, ratio} = fit(line, 74);
  if (lineStale || lineBack.width !== line.width || lineBack.height !== line.height) {
    lineBack.width = line.width;
    lineBack.height = line.height;
    const back2d = lineBack.getContext('2d');
    back2d.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawCurves(back2d, width, height);
    lineStale = false;
  }
  p.clearRect(0, 0, width, height);
  p.drawImage(lineBack, 0, 0, width, height);
  const at = t / end * width;
  p.strokeStyle = colours.ink;
  p.lineWidth = 1.6;
  p.beginPath(); p.moveTo(at, 0); p.lineTo(at, height); p.stroke();
};
