// SPDX-License-Identifier: Apache-2.0
// The page itself: who looks, what is loaded, what is heard.
const showTrouble = (trouble) => {
  $('trouble').hidden = trouble === null;
  $('trouble').textContent = trouble === null ? '' : trouble.message;
};
const showLink = (on, why) => { $('link').textContent = on ? 'live' : why || 'not connected, trying again'; $('link').className = on ? '' : 'wrong'; };
const loadAll = async () => {
  try { await loadTopology(); await Promise.all([loadAgents(), loadJobs(false)]); showTrouble(null); } catch (trouble) { showTrouble(trouble); }
};
const hear = (kind, what) => {
  if (kind === 'job') takeJob(what);
  else if (kind === 'gone') { list.stale = true; list.jobs.delete(what.job); $('job-' + what.job)?.remove(); }
  else if (kind === 'jobs') { list.stale = true; refreshJob(); }
  else if (kind === 'servers') takeServers(what.servers);
  else if (kind === 'agents') takeAgents(what);
  else if (kind === 'topology' || kind === 'resync') loadAll();
  else if (kind === 'failure') showTrouble(what);
};
const enter = async () => {
  try { session.me = await ask('GET', '/v1/me'); } catch (trouble) {
    $('door').hidden = false;
    $('link').textContent = '';
    $('door-trouble').textContent = session.token === '' ? '' : trouble.message;
    $('token').focus();
    return;
  }
  sessionStorage.setItem('token', session.token);
  $('door').hidden = true;
  $('inside').hidden = false;
  $('who').textContent = `as ${session.me.user}, ${session.me.role}`;
  $('leave').hidden = session.token === '';
  $('new-job').hidden = session.me.role === 'viewer';
  await loadAll();
  document.body.dataset.ready = 'yes';
  watch(hear, showLink);
};
$('door').onsubmit = (event) => { event.preventDefault(); session.token = $('token').value.trim(); enter(); };
$('leave').onclick = () => { sessionStorage.removeItem('token'); location.reload(); };
$('filter').onsubmit = (event) => { event.preventDefault(); list.jobs.clear(); loadJobs(false); };
$('more').onclick = () => loadJobs(true);
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector('dialog[open]') || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
  if (event.key === '/') { event.preventDefault(); $('f-state').focus(); }
  if (event.key !== 'j' && event.key !== 'k') return;
  const rows = [...document.querySelectorAll('#jobs button.open')], at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + (event.key === 'j' ? 1 : -1)))]?.focus();
});
enter();
