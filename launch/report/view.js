// SPDX-License-Identifier: Apache-2.0
$('subtitle').textContent = `${data.policy} on ${data.cluster}: ${count(jobs.length)} jobs${data.workload === '' ? '' : ` of ${data.workload}`} on ${manyGpus(gpuCount)} in ` +
  `${count(servers.length)} servers, ${count(data.agents)} agent${data.agents === 1 ? '' : 's'}, seed ${data.seed}; ${time(end)}`;

let t = 0, playing = false, lastWall = 0, dirty = true, panelsAt = 0;
const speeds = [['10 s', 10], ['20 s', 20], ['1 min', 60], ['3 min', 180], ['10 min', 600], ['1 h', 3600]];
let speed = 2;
const clockText = (s) => {
  const whole = Math.floor(s), day = Math.floor(whole / 86400), two = (n) => String(n).padStart(2, '0');
  const clock = `${two(Math.floor(whole / 3600) % 24)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return end >= 86400 ? `day ${day + 1}, ${clock}` : clock;
};

// For lists, where room is short.
const shortClock = (s) => end >= 86400 ? clockText(s).replace(/^day (\d+), (..:..):..$/, '$1d $2') : clockText(s);
const shortName = (name) => name.length <= 12 ? name : '…' + name.slice(-8);

// What is new between two times becomes light on the map for a moment.
const spark = (from, to, now) => {
  const first = firstAfter(told, from), last = firstAfter(told, to);
  for (const e of told.slice(Math.max(first, last - 120), last)) {
    if (e.attempt === undefined || e.kind === 'stopped') continue;
    for (const gpu of e.attempt.gpus) look.flashes.set(gpu, now);
    if (e.kind === 'moved' || e.kind === 'resized')
      look.arcs.push({move: true, born: now, from: middleOf(e.attempt.before.gpus), to: middleOf(e.attempt.gpus), colour: paint.of(e.job), count: 1});
  }
  if (look.talk && data.agents > 1) {
    const at = middles(), sums = new Map();
    const list = data.frames.list, lowest = (value) => { let a = 0, b = list.length; while (a < b) { const m = (a + b) >> 1; list[m][0] > value ? b = m : a = m + 1; } return a; };
    for (let i = lowest(from); i < lowest(to); ++i) {
      const [, a, b, , n] = list[i], key = a * data.agents + b;
      sums.set(key, (sums.get(key) || 0) + n);
    }
    for (const [key, n] of sums) {
      const a = Math.floor(key / data.agents), b = key % data.agents;
      look.arcs.push({born: now, from: at[a], to: at[b], colour: agentColour(a), count: n});
    }
  }
  look.arcs = look.arcs.filter((arc) => now - arc.born < kArc).slice(-240);
};

const button = (parent, chip, what, figure, call) => {
  const row = make(call ? 'button' : 'div', parent, undefined, {class: 'row'});
  make('span', row, '', {class: 'chip', style: `background:${chip}`});
  make('span', row, what, {class: 'what', title: what});
  if (figure !== undefined) make('span', row, figure, {class: 'figure'});
  if (call) row.onclick = call;
  return row;
};
const showNow = () => {
  const rows = [['running', count(state.parts.size)], ['waiting', count(state.waiting.size)], ['GPUs busy', Math.round(100 * state.busy / Math.max(1, gpuCount)) + ' %'],
    ['over', count(state.over.size)]];
  $('now').replaceChildren();
  for (const [name, value] of rows) { const box = make('div', $('now')); make('b', box, value); make('span', box, name); }
};
const showAgents = () => {
  const busy = new Array(data.agents).fill(0), all = new Array(data.agents).fill(0), homes = new Array(data.agents).fill(0);
  for (const s of servers) {
    if (s.agent >= data.agents) continue;
    all[s.agent] += s.n;
    for (let g = s.first; g < s.first + s.n; ++g) if (state.on[g].length > 0) ++busy[s.agent];
  }
  for (const job of state.waiting) if (job.home < data.agents) ++homes[job.home];
  $('agents').replaceChildren();
  for (let a = 0; a < Math.min(data.agents, 12); ++a) {
    const down = state.down.has(daemon(true, a));
    const row = button($('agents'), agentColour(a), `agent ${a}${down ? ', down' : ''}`, `${busy[a]}/${all[a]}`);
    if (down) row.querySelector('.what').classList.add('wrong');
    const meter = make('span', row, undefined, {class: 'meter'});
    make('i', meter, '', {style: `width:${100 * busy[a] / Math.max(1, all[a])}%;background:${agentColour(a)}`});
  }
  if (data.agents > 12) make('div', $('agents'), `and ${count(data.agents - 12)} more`, {class: 'note'});
};
const showQueue = () => {
  $('queue').replaceChildren();
  const list = [...state.waiting].sort((a, b) => a.submit - b.submit);
  for (const job of list.slice(0, 8)) button($('queue'), paint.of(job), shortName(job.name), `${manyGpus(job.gpus)}, ${time(t - job.submit)}`, () => choosing(job));
  if (list.length > 8) make('div', $('queue'), `and ${count(list.length - 8)} more, for ${manyGpus(list.slice(8).reduce((n, j) => n + j.gpus, 0))}`, {class: 'note'});
  if (list.length === 0) make('div', $('queue'), 'No job waits.', {class: 'note'});
};
const showFeed = () => {
  $('feed').replaceChildren();
  const last = firstAfter(told, t);
  for (const e of told.slice(Math.max(0, last - 9), last).reverse()) {
    const row = button($('feed'), e.job ? paint.of(e.job) : colours.run1, `${e.job ? shortName(e.job.name) + ' ' : ''}${e.text}`, shortClock(e.at), e.job ? () => choosing(e.job) : undefined);
    if (wrongKinds.has(e.kind)) row.querySelector('.what').classList.add('wrong');
  }
};
// The fullest links, and how full.
const showLinks = () => {
  if (links.length === 0) return;
  $('links').replaceChildren();
  const list = links.filter((l) => state.load[l.i] > 0).sort((a, b) => state.load[b.i] - state.load[a.i] || a.i - b.i);
  for (const l of list.slice(0, 6)) {
    const row = button($('links'), loadColour(state.load[l.i]), l.name, `${state.load[l.i]} %`);
    row.title = `${l.name}, ${Number(l.gbps.toPrecision(3))} Gbit/s`;
    const meter = make('span', row, undefined, {class: 'meter'});
    make('i', meter, '', {style: `width:${Math.min(100, state.load[l.i])}%;background:${loadColour(state.load[l.i])}`});
  }
  if (list.length > 6) make('div', $('links'), `and ${count(list.length - 6)} more with less`, {class: 'note'});
  if (list.length === 0) make('div', $('links'), 'No gang crosses a link between racks.', {class: 'note'});
};
const story = $('story');
const storyHead = (title) => {
  story.hidden = false;
  story.replaceChildren();
  make('h2', story, title);
};
const closeStory = () => { look.chosen = look.chosenGpu = null; story.hidden = true; lineStale = floorStale = dirty = true; };
const jump = (parent, text, at) => { const b = make('button', parent, text); b.onclick = () => seek(at); return b; };
const showJob = (job) => {
  storyHead(job.name);
  const waited = job.attempts.length > 0 ? job.attempts[0].from - job.submit : (job.end < 0 ? end : job.end) - job.submit;
  const facts = [job.model, `asked for ${manyGpus(job.gpus)}`, job.alone > 0 ? `${time(job.alone)} alone` : '', `waited ${time(waited)} at first`,
    job.forwards > 0 ? `passed on ${count(job.forwards)} time${job.forwards === 1 ? '' : 's'}` : '', job.home < data.agents ? `at agent ${job.home}` : '', job.end < 0 ? 'has not ended' : `${job.state}, ${time(job.end - job.submit)} after it came`];
  make('p', story, facts.filter((f) => f !== '').join(' · '), {class: 'note'});
  const table = make('table', make('div', story, undefined, {class: 'scroll'}));
  addRow(table, ['', 'from', 'for', 'GPUs'], 'th');
  const came = make('tr', table);
  make('td', came, 'came');
  jump(make('td', came), shortClock(job.submit), job.submit);
  make('td', came, '');
  make('td', came, '');
  for (const a of job.attempts.slice(0, 40)) {
    const tr = make('tr', table);
    make('td', tr, a.what);
    jump(make('td', tr), shortClock(a.from), a.from);
    make('td', tr, a.open ? 'still runs' : time(a.until - a.from) + (a.stopped && a.until !== job.end ? ', stopped' : ''));
    make('td', tr, rangesOf(a.gpus));
  }
  if (job.attempts.length > 40) make('p', story, `and ${count(job.attempts.length - 40)} more attempts`, {class: 'note'});
  make('h3', story, 'Why');
  make('ul', story, undefined, {id: 'why', 'aria-live': 'polite'});
  whyShown = '';
  showWhy();
  jump(story, 'Close', null).onclick = closeStory;
};
let whyShown = '';
const showWhy = () => {
  const box = $('why');
  if (look.chosen === null || box === null) return;
  goTo(t);
  const {lines, said} = whyNow(look.chosen, t);
  const text = [...lines, ...(said ? said.lines : [])].join('\n') + (said ? said.at : '');
  if (text === whyShown) return;
  whyShown = text;
  box.replaceChildren();
  for (const one of lines) make('li', box, one);
  if (said === undefined) return;
  jump(make('li', box, 'its home said at '), shortClock(said.at), said.at);
  for (const one of said.lines) make('li', box, one, {class: 'said'});
};
const showGpu = (gpu) => {
  const server = servers[serverOf[gpu]], had = gpuStory[gpu];
  storyHead(`GPU ${gpu}`);
  make('p', story, `${server.type} in ${server.name}${server.rack === '' ? '' : `, ${server.rack}`}; agent ${server.agent}; busy ${percent(had.reduce((s, x) => s + x.until - x.from, 0) / end)} of the run, by ${count(had.length)} attempts`, {class: 'note'});
  const rows = make('div', story, undefined, {class: 'rows'}), at = had.findIndex((s) => s.until > t);
  const from = Math.max(0, (at < 0 ? had.length : at) - 4);
  for (const share of had.slice(from, from + 10)) button(rows, paint.of(share.job), shortName(share.job.name), `${shortClock(share.from)}, ${time(share.until - share.from)}`, () => choosing(share.job));
  if (had.length > 10) make('div', rows, `${count(had.length)} attempts in all`, {class: 'note'});
  jump(story, 'Close', null).onclick = closeStory;
};
const choosing = (job) => { look.chosen = job; look.chosenGpu = null; showJob(job); lineStale = floorStale = dirty = true; };
const choosingGpu = (gpu) => {
  const on = state.on[gpu];
  if (look.chosenGpu !== gpu && on.length > 0 && !(on.includes(look.chosen))) { choosing(on[0]); return; }
  look.chosen = null;
  look.chosenGpu = gpu;
  showGpu(gpu);
  lineStale = floorStale = dirty = true;
};

const panels = () => { showNow(); showAgents(); showQueue(); showLinks(); showFeed(); showWhy(); };
const slider = $('slider');
const show = (now) => {
  goTo(t);
  drawMap(now);
  drawLine(t);
  $('clock').textContent = clockText(t);
  slider.value = String(Math.round(t / end * 10000));
  slider.setAttribute('aria-valuetext', clockText(t));
  if (now - panelsAt > 120 || !playing) { panels(); panelsAt = now; }
};
const seek = (to) => { t = Math.min(end, Math.max(0, to)); look.arcs = []; look.flashes.clear(); dirty = true; };
const setPlaying = (plays) => {
  playing = plays;
  if (plays && t >= end) seek(0);
  $('go').textContent = plays ? 'Pause' : 'Play';
  $('go').setAttribute('aria-label', plays ? 'Pause' : 'Play');
  lastWall = 0;
  dirty = true;
};
let frames = 0;
const frame = (now) => {
  ++frames;
  const sparkling = look.arcs.some((arc) => now - arc.born < kArc) || [...look.flashes.values()].some((born) => now - born < kFlash);
  if (playing) {
    const step = lastWall === 0 ? 0 : Math.min(now - lastWall, 100) / 1000 * end / speeds[speed][1], before = t;
    t = Math.min(end, t + step);
    if (step > 0) spark(before, t, now);
    lastWall = now;
    if (t >= end) setPlaying(false);
  }
  if (playing || dirty || sparkling) { dirty = false; show(now); }
  requestAnimationFrame(frame);
};

const near = (forward) => {
  const at = firstAfter(told, t);
  if (forward) return at < told.length ? told[at].at : end;
  let i = at - 1;
  while (i >= 0 && told[i].at >= t) --i;
  return i >= 0 ? told[i].at : 0;
};
const stepTo = (forward) => {
  setPlaying(false);
  const before = t, now = performance.now();
  seek(near(forward));
  if (forward) { goTo(t); spark(before, t, now); }
};
$('go').onclick = () => setPlaying(!playing);
$('back').onclick = () => stepTo(false);
$('on').onclick = () => stepTo(true);
slider.oninput = () => seek(Number(slider.value) / 10000 * end);
for (const [i, [name]] of speeds.entries()) make('option', $('speed'), name, {value: i});
$('speed').onchange = () => { speed = Number($('speed').value); };
const legend = () => {
  $('legend').replaceChildren();
  const words = [[`${colours.run0}`, 'GPUs in use'], [colours.run1, 'jobs waiting, and below them faults'], [colours.idle, 'a free GPU']];
  if (data.agents > 1) words.push([agentColour(0), 'left of a server: its agent']);
  if (links.length > 0) words.push([loadColour(50), 'the fullest link; on a rack, the fullest of its switch']);
  for (const [colour, text] of words) { const e = make('span', $('legend')); make('i', e, '', {style: `background:${colour}`}); e.append(text); }
};
choose($('colour'), paints.map((p) => p.name), (i) => { paint = paints[i]; lineStale = floorStale = dirty = true; });
$('links-card').hidden = links.length === 0;
$('talk').onchange = () => { look.talk = $('talk').checked; };
$('find').onchange = () => {
  const word = $('find').value.trim().toLowerCase();
  if (word === '') return;
  const job = jobs.find((j) => j.name.toLowerCase() === word) || jobs.find((j) => j.name.toLowerCase().includes(word));
  const server = servers.find((s) => s.n > 0 && s.name.toLowerCase() === word);
  if (server) { look.chosen = null; look.chosenGpu = server.first; showGpu(server.first); lineStale = floorStale = dirty = true; }
  else if (job) { choosing(job); if (!state.parts.has(job)) seek(job.attempts.length > 0 ? job.attempts[0].from : job.submit); }
  $('find').setCustomValidity(server || job ? '' : 'no job and no server is called that');
  $('find').reportValidity();
};
map.onclick = (e) => { const gpu = gpuAt(e); gpu === null ? closeStory() : choosingGpu(gpu); };
map.onpointermove = (e) => {
  const gpu = gpuAt(e);
  map.title = gpu === null ? '' : `GPU ${gpu} in ${servers[serverOf[gpu]].name}: ${state.on[gpu].map((j) => j.name).join(', ') || 'free'}`;
};
const dragTo = (e) => { const box = line.getBoundingClientRect(); seek((e.clientX - box.left) / box.width * end); };
line.onpointerdown = (e) => { line.setPointerCapture(e.pointerId); dragTo(e); };
line.onpointermove = (e) => { if (e.buttons > 0) dragTo(e); };
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const types = e.target.matches('input[type=search]'), picks = e.target.matches('select');
  if (e.key === 'Escape') { closeStory(); e.target.blur(); return; }
  if (types || (picks && e.key.startsWith('Arrow'))) return;
  const keys = {' ': () => setPlaying(!playing), ArrowRight: () => e.shiftKey ? seek(t + end / 50) : stepTo(true), ArrowLeft: () => e.shiftKey ? seek(t - end / 50) : stepTo(false),
    Home: () => seek(0), End: () => seek(end), '/': () => $('find').focus(), '+': () => faster(-1), '=': () => faster(-1), '-': () => faster(1)};
  if (keys[e.key] === undefined || (e.key === ' ' && e.target.matches('button'))) return;
  e.preventDefault();
  keys[e.key]();
});
const faster = (by) => { speed = Math.min(speeds.length - 1, Math.max(0, speed + by)); $('speed').value = String(speed); };
const anew = () => { readColours(); layOut(); legend(); lineStale = floorStale = dirty = true; };
dark.addEventListener('change', anew);
new ResizeObserver(() => { layOut(); dirty = true; }).observe(map.parentElement);
$('speed').value = String(speed);
// file.html#at=3600&job=NAME: that moment, and the story of that job or server.
const asked = new URLSearchParams(location.hash.slice(1));
finish(() => {
  anew();
  if (asked.has('job')) { $('find').value = asked.get('job'); $('find').onchange(); }
  if (Number.isFinite(Number(asked.get('at')))) seek(Number(asked.get('at')) || t);
  show(0);
  requestAnimationFrame(frame);
});
