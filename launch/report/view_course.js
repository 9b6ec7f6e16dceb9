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

// What was said of jobs when their homes decided about them.
for (const job of jobs) job.whys = [];
for (const [at, job, lines] of data.whys.list) jobs[job].whys.push({at, lines: lines.map((i) => data.whys.lines[i])});

// Links between switches, each in one direction, with the racks whose switches they lead from or to.
const links = data.loads.links.map(([from, to, gbps, out, into], i) => ({i, name: `${from} → ${to}`, gbps, racks: [out, into].filter((rack) => rack !== null)}));
const loads = data.loads.list;

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

const fresh = () => ({at: -1, next: 0, busy: 0, on: Array.from({length: gpuCount}, () => []), parts: new Map(), waiting: new Set(), over: new Set(), down: new Set(), sick: new Set(), load: new Array(links.length).fill(0), nextLoad: 0});
let state = fresh();
// The state of time t: from where it is forward, or from the beginning.
const goTo = (t) => {
  if (t < state.at) state = fresh();
  while (state.next < events.length && events[state.next].at <= t) events[state.next++].apply(state);
  while (state.nextLoad < loads.length && loads[state.nextLoad][0] <= t) {
    const [, link, part] = loads[state.nextLoad++];
    state.load[link] = part;
  }
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

// The load of the fullest link over the run, by parts of it; none where the record has no links.
const kParts = 400;
const fullest = (() => {
  const now = new Array(links.length).fill(0), parts = [];
  if (links.length === 0) return parts;
  let next = 0, most = 0;
  for (let part = 0; part < kParts; ++part) {
    most = Math.max(0, ...now);
    for (; next < loads.length && loads[next][0] < end * (part + 1) / kParts; ++next) {
      now[loads[next][1]] = loads[next][2];
      most = Math.max(most, loads[next][2]);
    }
    parts.push(most);
  }
  return parts;
})();

// Why a job is where it is at the time of the state, in words: what the record shows, and then what its home said last.
const serversOf = (gpus) => {
  const names = [...new Set(gpus.map((gpu) => servers[serverOf[gpu]].name))];
  return names.length <= 4 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more servers`;
};
const someNames = (list) => `${list.slice(0, 3).map((job) => job.name).join(', ')}${list.length > 3 ? ` and ${list.length - 3} more` : ''}`;
const whyRuns = (job, t) => {
  const attempt = job.attempts.findLast((a) => a.from <= t);
  const out = [`runs on GPUs ${rangesOf(attempt.gpus)} of ${serversOf(attempt.gpus)}, for ${time(t - attempt.from)}`];
  const racks = new Set(attempt.gpus.map((gpu) => servers[serverOf[gpu]].rack));
  if (racks.size > 1) out.push(`over ${racks.size} racks`);
  const left = new Set(attempt.gpus.flatMap((gpu) => gpuStory[gpu].filter((s) => s.job !== job && !s.open && Math.abs(s.until - attempt.from) < 1).map((s) => s.job)));
  if (left.size > 0) out.push(`its GPUs became free when it started: of ${someNames([...left])}`);
  const beside = new Set(attempt.gpus.flatMap((gpu) => state.on[gpu].filter((other) => other !== job)));
  if (beside.size > 0) out.push(`shares GPUs with ${someNames([...beside])}`);
  return out;
};
const whyWaits = (job, t) => {
  const before = [...state.waiting].filter((other) => other.home === job.home && (other.submit < job.submit || (other.submit === job.submit && other.i < job.i)));
  const out = [`waits for ${time(t - job.submit)}${job.attempts.some((a) => a.from <= t) ? ' in all, with what it ran' : ''}; ${before.length === 0 ? 'the first in order of arrival' : `${count(before.length)} of its home came before it`}`];
  const free = (of) => of.reduce((n, s) => { for (let g = s.first; g < s.first + s.n; ++g) n += state.on[g].length === 0 && !state.sick.has(g) ? 1 : 0; return n; }, 0);
  const most = (of) => of.reduce((n, s) => Math.max(n, free([s])), 0);
  for (let agent = 0; agent < data.agents && agent < 8; ++agent) {
    const own = servers.filter((s) => s.agent === agent);
    out.push(`agent ${agent}${agent === job.home ? ', its home,' : ''} has ${manyGpus(free(own))} free, ${most(own)} of them in one server; the job asks for ${job.gpus}`);
  }
  return out;
};
const whyNow = (job, t) => {
  if (t < job.submit) return {lines: ['has not come yet'], said: undefined};
  const lines = state.parts.has(job) ? whyRuns(job, t) : state.over.has(job) ? [`${job.state}, ${time(job.end - job.submit)} after it came`] : whyWaits(job, t);
  return {lines, said: job.whys.findLast((why) => why.at <= t)};
};
