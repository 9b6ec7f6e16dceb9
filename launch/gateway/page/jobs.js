// SPDX-License-Identifier: Apache-2.0
// Lists of jobs, one job's story, and what may be done to it.
const list = {jobs: new Map(), next: null, total: 0, stale: false, loading: false};
const day = (date) => date === null ? '–' : new Date(date).toLocaleString(undefined, {month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit'});
const asked = (j) => (j.workers > 1 ? j.workers + '×' : '') + (j.gpus_per_worker ?? '–') + (j.gpu_types && j.gpu_types.length > 0 ? ' ' + j.gpu_types.join('|') : '');
const columnsOfJobs = [['state', (j) => j.state], ['name', (j) => j.name ?? '–', 'word'], ['user', (j) => j.user ?? '–', 'word wide'], ['queue', (j) => j.queue || '–', 'word wide'],
  ['GPUs', asked], ['submitted', (j) => day(j.submitted), 'wide'], ['waited', (j) => time(j.queued_s), 'wide'], ['on GPUs', (j) => time(j.service_s), 'wide'], ['servers', (j) => j.servers.slice(0, 2).join(' ') + (j.servers.length > 2 ? ' …' : ''), 'word wide']];
const fillRow = (row, j) => {
  const had = row.contains(document.activeElement);
  row.replaceChildren();
  const open = make('button', make('td', row), j.job.slice(0, 8), {type: 'button', class: 'open', title: j.job, 'data-job': j.job});
  for (const [name, value, kind] of columnsOfJobs) {
    const cell = make('td', row, name === 'state' ? undefined : String(value(j)), kind ? {class: kind} : {class: 'word'});
    if (name === 'state') make('span', cell, j.state, {class: 'state ' + j.state});
  }
  row.onclick = () => openJob(j.job);
  if (had) open.focus();
};
const drawJobs = () => {
  const table = $('jobs'), at = document.activeElement?.dataset?.job;
  table.replaceChildren();
  const head = make('tr', make('thead', table)), body = make('tbody', table);
  make('th', head, 'job', {scope: 'col'});
  for (const [name, , kind] of columnsOfJobs) make('th', head, name, {scope: 'col', class: kind || 'word'});
  for (const [id, j] of list.jobs) { const row = make('tr', body, undefined, {id: 'job-' + id}); fillRow(row, j); if (id === at) row.querySelector('button').focus(); }
  $('jobs-note').textContent = list.total === 0 ? 'No job is of that kind.' : `${count(list.jobs.size)} of ${count(list.total)}, the newest first`;
  $('more').hidden = list.next === null;
};
const filterText = () => {
  const query = new URLSearchParams();
  for (const name of ['state', 'user', 'name', 'queue', 'since']) { const text = $('f-' + name).value.trim(); if (text !== '') query.set(name, text); }
  return query;
};
const loadJobs = async (more) => {
  if (list.loading) { list.stale = true; return; }
  list.loading = true;
  try {
    const query = filterText();
    query.set('limit', more ? 100 : Math.max(50, Math.min(1000, list.jobs.size)));
    if (more && list.next !== null) query.set('after', list.next);
    const found = await ask('GET', '/v1/jobs?' + query);
    if (!more) list.jobs.clear();
    for (const j of found.jobs) list.jobs.set(j.job, j);
    [list.next, list.total] = [found.next, found.total];
    drawJobs();
    showTrouble(null);
  } catch (trouble) { showTrouble(trouble); }
  list.loading = false;
};
// What is shown is changed at once; whether it still belongs here, and whether others do, the next list says.
const takeJob = (j) => {
  list.stale = true;
  if (list.jobs.has(j.job)) { list.jobs.set(j.job, j); fillRow($('job-' + j.job), j); }
  if (openedJob === j.job) tellStory(j);
};
setInterval(() => { if (list.stale && session.me !== null && !document.hidden) { list.stale = false; loadJobs(false); } }, 1500);

let openedJob = null, logStop = null;
const tellStory = (j) => {
  const story = $('story');
  story.replaceChildren();
  make('li', story, `${j.user ?? 'a user'} asked for ${asked(j)} GPU${asked(j) === '1' ? '' : 's'}${j.priority ? ', priority ' + j.priority : ''}: ${day(j.submitted)}`);
  if (j.forwards > 0) make('li', story, `handed on ${count(j.forwards)} times, to agent-${j.agent}`);
  make('li', story, j.state === 'waiting' ? `waits, for ${time(j.queued_s)} until now` : `waited for ${time(j.queued_s)}`);
  if (j.started !== null) make('li', story, `first started ${day(j.started)}; ${count(j.attempts)} attempt${j.attempts === 1 ? '' : 's'}, ${count(j.preemptions)} times stopped for others, ${time(j.service_s)} on GPUs`);
  if (j.servers.length > 0) make('li', story, `GPUs ${j.placement} on ${j.servers.join(', ')}`);
  if (j.ended !== null) make('li', story, `${j.state} ${day(j.ended)}${j.exit_code === null ? '' : ', exit code ' + j.exit_code}`);
  else make('li', story, `is ${j.state}`);
  const mine = session.me.role === 'operator' || (session.me.role === 'user' && j.user === session.me.user);
  $('cancel').hidden = j.ended !== null || !mine;
};
const openJob = async (id) => {
  openedJob = id;
  $('job-title').textContent = 'Job ' + id;
  for (const part of ['story', 'explain', 'log', 'job-trouble']) $(part).replaceChildren();
  if (!$('job').open) $('job').showModal();
  logStop?.abort();
  logStop = new AbortController();
  try {
    tellStory(await ask('GET', '/v1/jobs/' + id));
    ask('GET', `/v1/jobs/${id}/explain`).then((e) => { if (openedJob === id) $('explain').textContent = e.lines.join('\n'); }).catch((t) => { $('explain').textContent = t.message; });
    await readText(`/v1/jobs/${id}/logs?follow=true`, {}, logStop.signal, (text) => {
      const log = $('log'), low = log.scrollTop + log.clientHeight + 20 >= log.scrollHeight;
      log.textContent = (log.textContent + text).slice(-200000);
      if (low) log.scrollTop = log.scrollHeight;
    });
  } catch (trouble) { if (trouble.name !== 'AbortError' && openedJob === id) $('job-trouble').textContent = trouble.message; }
};
// Many jobs have changed, and perhaps this one.
const refreshJob = async () => {
  const id = openedJob;
  if (id === null) return;
  try { const j = await ask('GET', '/v1/jobs/' + id); if (openedJob === id) tellStory(j); } catch { /* the next change tells */ }
};
$('job').onclose = () => { const id = openedJob; openedJob = null; logStop?.abort(); document.querySelector(`[data-job="${id}"]`)?.focus(); };
$('cancel').onclick = async () => {
  try { takeJob(await ask('DELETE', '/v1/jobs/' + openedJob)); } catch (trouble) { $('job-trouble').textContent = trouble.message; }
};

$('new-job').onclick = () => $('submit').showModal();
$('submit-close').onclick = () => $('submit').close();
const freshId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
let submitAs = freshId();  // kept until it is accepted: whoever presses twice submits once
$('submit-form').onsubmit = async (event) => {
  event.preventDefault();
  const job = {workers: Number($('s-workers').value), gpus_per_worker: Number($('s-gpus').value), priority: Number($('s-priority').value)};
  if ($('s-command').value.trim() !== '') job.command = $('s-command').value;
  if ($('s-duration').value.trim() !== '') job.duration_s = Number($('s-duration').value);
  if ($('s-name').value.trim() !== '') job.name = $('s-name').value.trim();
  if ($('s-type').value !== '') job.gpu_types = [$('s-type').value];
  try {
    await ask('PUT', '/v1/jobs/' + submitAs, job);
    submitAs = freshId();
    $('submit-trouble').textContent = '';
    $('submit').close();
    loadJobs(false);
  } catch (trouble) {
    if (trouble.status === 409) submitAs = freshId();
    $('submit-trouble').textContent = trouble.message;
  }
};
