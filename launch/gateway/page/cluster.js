// SPDX-License-Identifier: Apache-2.0
// The data centre down to GPUs, and the agents.
const cluster = {topology: null, servers: new Map(), chosen: null, boxes: new Map()};
const colourOfJob = (job) => 'c' + parseInt(job.slice(-6), 16) % 10;

const paintServer = (name) => {
  const box = cluster.boxes.get(name), server = cluster.servers.get(name);
  if (box === undefined || server === undefined) return;
  const holder = new Map();
  for (const held of server.jobs) for (const gpu of held.gpus) holder.set(gpu, held.job);
  for (const [i, cell] of box.cells.entries()) {
    const gpu = box.first + i, job = holder.get(gpu), bad = server.bad_gpus.includes(gpu);
    cell.className = 'gpu' + (bad ? ' bad' : job === undefined ? '' : ' ' + colourOfJob(job));
    cell.title = `GPU ${gpu}${bad ? ', bad' : ''}${job === undefined ? '' : ', job ' + job}`;
  }
  box.button.classList.toggle('drained', server.drained);
  box.button.setAttribute('aria-label', `${name}: ${holder.size} of ${box.cells.length} GPUs held${server.drained ? ', drained' : ''}`);
  if (cluster.chosen === name) showServer(name);
};
const drawServer = (parent, server) => {
  const button = make('button', parent, undefined, {class: 'server', type: 'button', 'aria-pressed': 'false'});
  make('span', button, server.name, {class: 'label'});
  const gpus = make('span', button, undefined, {class: 'gpus'}), cells = [];
  for (let i = 0; i < server.gpus; ++i) cells.push(make('span', gpus, undefined, {class: 'gpu'}));
  button.onclick = () => { cluster.chosen = cluster.chosen === server.name ? null : server.name; choseServer(); };
  cluster.boxes.set(server.name, {button, cells, first: server.first_gpu});
};
const drawCluster = () => {
  const t = cluster.topology, children = t.subtrees.map(() => []);
  for (const [i, s] of t.subtrees.entries()) if (i > 0) children[s.parent].push(i);
  cluster.boxes.clear();
  $('cluster').replaceChildren();
  const draw = (i, parent) => {
    const s = t.subtrees[i], tree = make('div', parent, undefined, {class: 'tree'});
    make('div', tree, `${s.level.replace('_', ' ')} ${s.name}`, {class: 'name'});
    if (children[i].length > 0) { for (const child of children[i]) draw(child, tree); return; }
    const servers = make('div', tree, undefined, {class: 'servers'});
    for (let n = s.first_server; n < s.end_server; ++n) drawServer(servers, t.servers[n]);
  };
  if (t.subtrees.length > 0) draw(0, $('cluster'));
  for (const name of cluster.servers.keys()) paintServer(name);
  $('flock-name').textContent = t.name;
  $('s-type').replaceChildren();
  make('option', $('s-type'), 'any', {value: ''});
  for (const type of t.gpu_types) make('option', $('s-type'), type.name, {value: type.name});
};
const choseServer = () => {
  for (const [name, box] of cluster.boxes) box.button.setAttribute('aria-pressed', String(name === cluster.chosen));
  $('server').hidden = cluster.chosen === null;
  if (cluster.chosen !== null) showServer(cluster.chosen);
};
const showServer = (name) => {
  const server = cluster.servers.get(name), facts = cluster.topology.servers.find((s) => s.name === name), at = $('server');
  const focused = at.contains(document.activeElement) ? document.activeElement.textContent : null;
  at.replaceChildren();
  make('strong', at, name);
  make('span', at, ` ${facts.gpus} × ${facts.gpu_type || 'no GPU'}, agent-${facts.agent}${server.drained ? ', drained' : ''}${server.bad_gpus.length > 0 ? ', bad: ' + server.bad_gpus.join(' ') : ''}`);
  const list = make('ul', at);
  if (server.jobs.length === 0) make('li', list, 'no job');
  for (const held of server.jobs) {
    const line = make('li', list, `${count(held.gpus.length)} GPUs: `);
    make('button', line, held.job, {type: 'button'}).onclick = () => openJob(held.job);
  }
  if (session.me.role !== 'operator') return;
  const say = async (method, more) => {
    try { await ask(method, `/v1/servers/${encodeURIComponent(name)}/drain${more}`); await loadServers(); } catch (trouble) { showTrouble(trouble); }
  };
  if (server.drained) make('button', at, 'use it again', {type: 'button'}).onclick = () => say('DELETE', '');
  else {
    make('button', at, 'drain', {type: 'button'}).onclick = () => say('PUT', '');
    make('button', at, 'drain and requeue', {type: 'button'}).onclick = () => say('PUT', '?evict=true');
  }
  if (focused !== null) for (const button of at.querySelectorAll('button')) if (button.textContent === focused) button.focus();
};
const loadTopology = async () => { cluster.topology = await ask('GET', '/v1/topology'); await loadServers(); drawCluster(); };
const loadServers = async () => takeServers((await ask('GET', '/v1/servers')).servers);
const takeServers = (servers) => {
  for (const server of servers) { cluster.servers.set(server.server, server); paintServer(server.server); }
};

const takeAgents = (all) => {
  const rows = $('agents');
  rows.replaceChildren();
  const head = make('tr', make('thead', rows)), body = make('tbody', rows);
  const columns = [['agent', (a) => 'agent-' + a.agent], ['GPUs', (a) => a.gpus], ['free', (a) => a.free], ['waiting', (a) => a.waiting], ['running', (a) => a.running],
    ['accepted', (a) => a.accepted, 1], ['finished', (a) => a.finished, 1], ['failed', (a) => a.failed, 1], ['away or bad', (a) => a.quarantined, 1], ['drained', (a) => a.drained, 1],
    ['decision, 99 %', (a) => time(a.decision_p99_us * 1e-6), 1], ['host', (a) => a.host, 1]];
  for (const [name, , wide] of columns) make('th', head, name, wide ? {class: 'wide', scope: 'col'} : {scope: 'col'});
  for (const a of all.agents) {
    const line = make('tr', body);
    for (const [, value, wide] of columns) { const v = value(a); make('td', line, typeof v === 'number' ? count(v) : v, wide ? {class: 'wide'} : {}); }
  }
  for (const silent of all.silent) { const line = make('tr', body); make('td', line, 'agent-' + silent); make('td', line, 'does not answer', {colspan: columns.length - 1, class: 'wrong'}); }
  const sum = (field) => all.agents.reduce((n, a) => n + a[field], 0), gpus = sum('gpus'), free = sum('free'), away = sum('quarantined'), drained = sum('drained');
  $('tiles').replaceChildren();
  addTile('GPUs held', count(gpus - free - away - drained), [`of ${count(gpus)}`]);
  addTile('GPUs free', count(free), drained + away > 0 ? [`${count(drained)} drained, ${count(away)} away or bad`] : []);
  addTile('jobs waiting', count(sum('waiting')), []);
  addTile('jobs running', count(sum('running')), []);
  addTile('jobs finished', count(sum('finished')), [`${count(sum('failed'))} failed`]);
  addTile('agents', count(all.agents.length), all.silent.length > 0 ? [`${count(all.silent.length)} silent`] : []);
  for (const line of all.troubles) addTile('trouble', '', [line]);
};
const loadAgents = async () => takeAgents(await ask('GET', '/v1/agents'));
