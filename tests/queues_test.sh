#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Queues and quotas on real processes, with emulated jobs:
#   tests/queues_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
begin "$1"
"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
cat >queues.yaml <<'Y'
default: research/misc
queues:
  - name: research
    most: 4
    queues: [{name: vision, most_per_user: 2}, {name: misc}]
  - {name: classes, most: 2, users: [ada, bob]}
Y
up_ready --topology four.yaml --agents 2 --launcher emulated --queues queues.yaml

# in_use.py LIMIT...: what jobs hold by queue, and by queue and user; an error where that is more than it may be
cat >in_use.py <<'P'
import collections, json, sys
most = dict((name, int(gpus)) for name, gpus in (word.split("=") for word in sys.argv[1:]))
used = collections.Counter()
for j in json.load(open("jobs.json"))["jobs"]:
    if j["state"] not in ("starting", "running", "draining"): continue
    gpus = j["workers"] * j["gpus_per_worker"]
    used[j["queue"]] += gpus
    used[j["queue"] + ":" + j["user"]] += gpus
    if "/" in j["queue"]: used[j["queue"].split("/")[0]] += gpus
over = {name: used[name] for name, limit in most.items() if used[name] > limit}
assert not over, f"more than there may be: {over} of {dict(used)}"
for name, gpus in sorted(used.items()): print(name, gpus)
P
limits=(research=4 classes=2 research/vision:ada=2 research/vision:bob=2)
# holds: no queue and no user has more than it may, as far as agents tell
holds() {
  "$starling" jobs --json >jobs.json 2>/dev/null
  [ -s jobs.json ] || return 0  # no agent answers at the moment
  python3 in_use.py "${limits[@]}" >used.txt 2>used.err || fail "$(tail -n 1 used.err)"
}
# reaches LINE...: all of them within half a minute, and the limits hold meanwhile
reaches() {
  local line missing
  for _ in $(seq $((60 * patience))); do
    holds
    missing=
    for line in "$@"; do grep -qx "$line" used.txt || missing=$line; done
    [ -z "$missing" ] && return 0
    sleep 0.5
  done
  fail "'$missing' is not reached: $(cat used.txt) $("$starling" queues)"
}
# stays SECONDS: the limits hold for so long
stays() {
  local until=$(($(date +%s) + $1))
  while [ "$(date +%s)" -lt $until ]; do holds; sleep 0.2; done
}
# submit QUEUE USER AGENT SECONDS: a job of one GPU, homed there; without a queue where QUEUE is empty
submit() {
  local id
  id=$(printf '%016x%016x' $$ $((2 * $(date +%s%N) + $3)))
  "$starling" submit --id "$id" ${1:+--queue "$1"} --user "$2" --duration "$4" || fail "submit to '$1'"
}
# known: every agent goes by the queues in force
known() {
  for _ in $(seq $((60 * patience))); do
    "$starling" queues --json >queues.json 2>/dev/null &&
      python3 -c 'import json, sys; sys.exit(len(json.load(open("queues.json"))["unaware"]))' && return 0
    sleep 0.5
  done
  fail "not all agents go by the queues: $("$starling" queues)"
}

echo "-- up has set them, and says what they are"
known
"$starling" queues >out.txt || fail "queues"
says '^research ' out.txt; says '^  vision ' out.txt; says '^classes ' out.txt
says 'jobs that name no queue are in research/misc' out.txt
"$starling" queues show --yaml >again.yaml || fail "show --yaml"
status 0 "$starling" queues set again.yaml
says 'in force already' out.txt

echo "-- what makes no sense is never sent"
echo 'queues: [{name: a, most: 1, guaranteed: 2}]' >wrong.yaml
status 2 "$starling" queues set wrong.yaml
says "wrong.yaml:1:.*'a'"
[ "$(wc -l <err.txt)" -eq 1 ] || fail "one message: $(cat err.txt)"

echo "-- jobs of no such queue, of another's and of more than there can be are refused, with the text"
status 2 "$starling" submit --queue nowhere --duration 1
says "nowhere"
status 2 "$starling" submit --queue classes --user eve --duration 1
says "classes"
status 2 "$starling" submit --queue classes --user ada --workers 3 --duration 1
says "classes"

echo "-- most holds over both homes, of queues and of users; what is beyond it says why it waits"
vision=()
for n in 0 1 2; do for user in ada bob; do for agent in 0 1; do vision+=("$(submit research/vision $user $agent 600)"); done; done; done
for n in 0 1; do submit classes ada 0 600 >/dev/null; submit classes bob 1 600 >/dev/null; done
reaches 'classes 2' 'research 4' 'research/vision:ada 2' 'research/vision:bob 2'
stays 5
misc=$(submit "" bob 0 600)
for _ in $(seq $((40 * patience))); do
  "$starling" jobs --json "$misc" >one.json && grep -q '"reason": *"quota"' one.json && break
  sleep 0.25
done
grep -q '"reason": *"quota"' one.json || fail "why does it wait: $(cat one.json)"
"$starling" explain "$misc" >out.txt || fail "explain"
says 'research' out.txt; says 'may have' out.txt
"$starling" slurm squeue -p research/misc -h -o '%T %r' >out.txt || fail "squeue"
says '^PENDING .*Gr.*GRES' out.txt

echo "-- agents are killed, and the limits hold"
kill -9 "$(agent_pid 1)"
stays 6
kill -9 "$(agent_pid 0)"
stays 6
known
reaches 'classes 2' 'research 4'

echo "-- as jobs end, those that were kept back start"
"$starling" cancel --queue research/vision --user ada >/dev/null || fail "cancel"
reaches 'research/misc 1' 'research/vision:bob 2'

echo "-- other limits, without a restart"
cat >more.yaml <<'Y'
default: research/misc
queues:
  - name: research
    most: 4
    queues: [{name: vision, most_per_user: 3}, {name: misc}]
  - {name: classes, most: 4, users: [ada, bob]}
  - {name: night}
Y
status 0 "$starling" queues set more.yaml --dry-run
says '^classes: most 2 -> 4$' out.txt; says '^night: added, no limits$' out.txt; says 'nothing was changed' out.txt
status 2 "$starling" submit --queue night --duration 1
status 0 "$starling" queues set more.yaml
says '^research/vision: most_per_user 2 -> 3$' out.txt
limits=(research=4 classes=4 research/vision:bob=3)
known
reaches 'classes 4' 'research/vision:bob 3'
submit night eve 1 600 >/dev/null

echo "-- the flock stopped and started again has the same queues, and their limits hold"
kill -INT $up
wait $up || fail "up must stop cleanly"
up_ready
known
"$starling" queues show --yaml >after.yaml || fail "show --yaml"
status 0 "$starling" queues set more.yaml
says 'in force already' out.txt
reaches 'classes 4'
stays 5

echo "-- no queues again: nothing is limited"
echo 'queues: []' >none.yaml
status 0 "$starling" queues set none.yaml
says '^research: removed$' out.txt
known
"$starling" queues | grep -q 'there are no queues, and nothing is limited' || fail "queues: $("$starling" queues)"
limits=()
for n in 0 1; do submit anything eve $n 600 >/dev/null; done
"$starling" cancel --queue 'research/*' >/dev/null || fail "cancel"
reaches 'anything 2'
kill -INT $up
wait $up || fail "up must stop cleanly"
echo "all right"
