// SPDX-License-Identifier: Apache-2.0
// The run: what happened in order, and what there is at a time.
const jobs = data.jobs.map(([name, model, submit, end, state, gpus, home, forwards, alone], i) =>
  ({i, name, model, submit, end, state, gpus, home, forwards, alone, shares: [], attempts: []}));
const servers = data.servers.map(([name, first, n, type, agent, executor, rack], i) => ({i, name, first, n, type, agent, executor, rack}));
const gpuCount = servers.reduce((n, s) => n + s.n, 0);
const serverOf = new Int32Array(gpuCount);
for (const s of servers) for (let g = 0; g < s.n; ++g) serverOf[s.first + g] = s.i;
const end = Math.max(data.end_s, 1e-9);
const gpusIn = (text) => text === '' ? [] : text.split(',').flatMap((range) => {
  const [first, last] = range.split('-').map(Number);
  return Array.from({length: (last ?? first) - first + 1}, (_, k) => first + k);
});
const shares = data.shares.map(([job, attempt, from, until, text, stopped]) =>
  ({job: jobs[job], attempt, from, until: until < 0 ? end : until, open: until < 0, gpus: gpusIn(text), text, stopped: stopped === 1}));
const gpuStory = Array.from({length: gpuCount}, () => []);
for (const share of shares) {
  share.job.shares.push(share);
  for (const gpu of share.gpus) gpuStory[gpu].push(share);
  const known = share.job.attempts.find((a) => a.number === share.attempt);
  if (known === undefined) {
    share.job.attempts.push({number: share.attempt, from: share.from, until: share.until, open: share.open, gpus: [...share.gpus], stopped: share.stopped});
  } else {
    known.from = Math.min(known.from, share.from);
    known.until = Math.max(known.until, share.until);
    known.open ||= share.open;
    known.stopped ||= share.stopped;
    known.gpus.push(...share.gpus);
  }
}
const rangesOf = (gpus) => {
  const sorted = [...gpus].sort((a, b) => a - b), out = [];
  for (const gpu of sorted) {
    if (out.length > 0 && out[out.length - 1][1] === gpu - 1) out[out.length - 1][1] = gpu; else out.push([gpu, gpu]);
  }
  return out.map(([a, b]) => a === b ? `${a}` : `${a}–${b}`).join(', ');
};
const manyGpus = (n) => `${count(n)} GPU${n === 1 ? '' : 's'}`;
const same = (a, b) => a.length === b.length && new Set([...a, ...b]).size === a.length;

// What each attempt is, beside the one before.
for (const job of jobs) {
  job.attempts.sort((a, b) => a.from - b.from);
  for (const [i, attempt] of job.attempts.entries()) {
    const before = job.attempts[i - 1];
    attempt.what = before === undefined ? 'placed' : before.gpus.length !== attempt.gpus.length ? 'resized' : same(before.gpus, attempt.gpus) ? 'started again' : 'moved';
    attempt.before = before;
    attempt.next = job.attempts[i + 1];
  }
}

// Events in the order in which they are told: {at, text, kind, job, attempt, apply(state)}.
const events = [];
const tell = (at, order, kind, fields, apply) => events.push({at, order, kind, apply, ...fields});
for (const job of jobs) {
  tell(job.submit, 2, 'came', {job, text: `wants ${manyGpus(job.gpus)}`}, (s) => { s.waiting.add(job); });
  if (job.end >= 0) tell(job.end, 1, 'over', {job, text: job.state}, (s) => { s.waiting.delete(job); s.over.add(job); });
  for (const attempt of job.attempts) {
    const {what, gpus} = attempt;
    tell(attempt.from, 4, what, {job, attempt, text: `${what} on ${what === 'resized' ? `${gpus.length} in place of ${attempt.before.gpus.length}: ` : ''}${rangesOf(gpus)}`}, () => {});
    if (!attempt.open && attempt.stopped && job.end !== attempt.until)
      tell(attempt.until, 1, 'stopped', {job, attempt, text: attempt.next ? 'stopped' : 'stopped for good'}, () => {});
  }
}
for (const share of shares) {
  tell(share.from, 3, '', {job: share.job}, (s) => {
    for (const gpu of share.gpus) { if (s.on[gpu].length === 0) ++s.busy; s.on[gpu] = [...s.on[gpu], share.job]; }
    s.parts.set(share.job, (s.parts.get(share.job) || 0) + 1);
    s.waiting.delete(share.job);
  });
  if (share.open) continue;
  tell(share.until, 0, '', {job: share.job}, (s) => {
    for (const gpu of share.gpus) {
      const at = s.on[gpu].indexOf(share.job);
      s.on[gpu] = s.on[gpu].filter((_, k) => k !== at);
      if (s.on[gpu].length === 0) --s.busy;
    }
    const left = s.parts.get(share.job) - 1;
    left > 0 ? s.parts.set(share.job, left) : s.parts.delete(share.job);
    if (left <= 0 && !s.over.has(share.job) && !(share.job.end >= 0 && share.job.end <= share.until)) s.waiting.add(share.job);
  });
}
const daemon = (agent, number) => `${agent ? 'agent' : 'executor'} ${number}`;
for (const [agent, number, from, until] of data.outages) {
  const key = daemon(agent, number);
  tell(from, 5, 'down', {text: `${key} is down`}, (s) => { s.down.add(key); });
  if (until >= 0) tell(until, 5, 'up', {text: `${key} is back`}, (s) => { s.down.delete(key); });
}
for (const [gpu, from, until] of data.sick) {
  tell(from, 5, 'sick', {text: `GPU ${gpu} is sick`}, (s) => { s.sick.add(gpu); });
  if (until >= 0) tell(until, 5, 'well', {text: `GPU ${gpu} is well`}, (s) => { s.sick.delete(gpu); });
}
for (const [at, what] of data.notes) tell(at, 5, 'fault', {text: what}, () => {});
events.sort((a, b) => a.at - b.at || a.order - b.order);
const told = events.filter((e) => e.kind !== '');
const wrongKinds = new Set(['down', 'sick', 'fault']);

const fresh = () => ({at: -1, next: 0, busy: 0, on: Array.from({length: gpuCount}, () => []), parts: new Map(), waiting: new Set(), over: new Set(), down: new Set(), sick: new Set()});
let state = fresh();
// The state of time t: from where it is forward, or from the beginning.
const goTo = (t) => {
  if (t < state.at) state = fresh();
  while (state.next < events.length && events[state.next].at <= t) events[state.next++].apply(state);
  state.at = t;
};
const firstAfter = (list, t) => {
  let low = 0, high = list.length;
  while (low < high) { const middle = (low + high) >> 1; list[middle].at > t ? high = middle : low = middle + 1; }
  return low;
};

// GPUs busy and jobs waiting over the run, at each event.
const course = (() => {
  const s = fresh(), points = [];
  for (let i = 0; i < events.length;) {
    const at = events[i].at;
    while (i < events.length && events[i].at === at) events[i++].apply(s);
    points.push([at, s.busy, s.waiting.size]);
  }
  return points;
})();
const mostWaiting = course.reduce((most, p) => Math.max(most, p[2]), 1);
