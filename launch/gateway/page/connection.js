// SPDX-License-Identifier: Apache-2.0
// The gateway: one function to ask it, one that hears what changes.
const session = {token: sessionStorage.getItem('token') || '', me: null};
// A link may bring a token behind '#', which no server sees; it does not stay in the address.
if (location.hash.startsWith('#token=')) {
  session.token = decodeURIComponent(location.hash.slice(7));
  history.replaceState(null, '', location.pathname);
}
class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}
const heading = (extra) => ({...(session.token ? {Authorization: 'Bearer ' + session.token} : {}), ...extra});
const refusal = async (answer) => {
  const text = await answer.text();
  try { return new Refused(answer.status, JSON.parse(text).message); } catch { return new Refused(answer.status, text || `status ${answer.status}`); }
};
const ask = async (method, path, body) => {
  const answer = await fetch(path, {method, headers: heading(body === undefined ? {} : {'Content-Type': 'application/json'}), body: body === undefined ? undefined : JSON.stringify(body)});
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
};
// Text as it comes, until it ends or `stop` is asked for.
const readText = async (path, extra, signal, take) => {
  const answer = await fetch(path, {headers: heading(extra), signal});
  if (!answer.ok) throw await refusal(answer);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    take(value);
  }
};
// EventSource cannot show a token, so events are read as text.
const watch = async (hear, link) => {
  let last = '', pause = 500;
  for (;;) {
    let rest = '';
    try {
      await readText('/v1/events', last === '' ? {} : {'Last-Event-ID': last}, undefined, (text) => {
        link(true);
        pause = 500;
        const events = (rest + text).split('\n\n');
        rest = events.pop();
        for (const event of events) {
          const fields = {};
          for (const line of event.split('\n')) {
            const colon = line.indexOf(': ');
            if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
          }
          if (fields.id !== undefined) last = fields.id;
          if (fields.event !== undefined) hear(fields.event, JSON.parse(fields.data));
        }
      });
    } catch (trouble) {
      if (trouble.status === 401) return link(false, trouble.message);
    }
    link(false);
    await new Promise((go) => setTimeout(go, pause));
    pause = Math.min(10000, pause * 2);
    hear('resync', {});
  }
};
