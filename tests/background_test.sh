#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hanging up ends nothing: neither a flock in the background, nor one whose terminal is closed; and what a service manager is told.
#   tests/background_test.sh PROGRAM
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
begin "$1"
logs=(up.log flock/up.log 'flock/nodes/*/log')
"$starling" topology generate flat --servers 2 --gpus 2 -o cluster.yaml 2>/dev/null
# in_flock: processes of the flock, but for those of jobs
in_flock() { pgrep -f -- "$work/flock/nodes/" || true; }
# until_gone SECONDS
until_gone() {
  for _ in $(seq $(($1 * 10 * patience))); do [ -n "$(in_flock)" ] || return 0; sleep 0.1; done
  fail "still there: $(ps -o pid,args -p "$(in_flock | paste -sd,)")"
}

echo "-- in the background once it is ready"
trap 'stop_all; "$starling" down --flock "$work/flock" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
"$starling" up --topology cluster.yaml --agents 2 --servers-per-executor 1 --detach >up.txt 2>up.log || fail "up --detach: $(cat up.log)"
grep -q '^ready: 2 agents, 2 executors' up.txt || fail "not ready when it ends: $(cat up.txt)"
"$starling" submit --wait --json -- true >/dev/null || fail "no job runs"
pid=$(head -1 flock/supervisor/in-use)
[ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$pid" ] || fail "it has no session of its own"
"$starling" up --detach >again.txt 2>&1 && fail "up twice"
grep -q "is up already, since .* (process $pid); 'starling top'" again.txt || fail "the second up says: $(cat again.txt)"

echo "-- a copy of its directory is no flock of its own while it is up"
cp -r flock copied
code=0
"$starling" up --flock copied >copied.txt 2>&1 || code=$?
[ $code -eq 2 ] || fail "a copy beside it comes up: exit code $code: $(cat copied.txt)"
grep -q 'is that directory a copy of another, whose flock is up' copied.txt || fail "the copy says: $(cat copied.txt)"
rm -rf copied
"$starling" submit --wait --json -- true >/dev/null || fail "the copy took its place"

echo "-- what it says is in its log"
kill -KILL "$(agent_pid 1)"
wait_for 10 "agent-1 was killed by signal 9 (Killed); starting agent-1 again" flock/up.log
grep -q '^20..-..-.. ' flock/up.log || fail "a log has no times: $(cat flock/up.log)"

echo "-- who keeps it is killed: its daemons end, its job goes on and is taken up by the next one"
job=$("$starling" submit -- sleep 300 | head -1)
for _ in $(seq $((100 * patience))); do "$starling" jobs | grep -q "^$job *running" && break; sleep 0.1; done
kill -KILL "$(head -1 flock/supervisor/in-use)"
for _ in $(seq $((100 * patience))); do pgrep -f -- "--config $work/flock/nodes/" >/dev/null || break; sleep 0.1; done
pgrep -f -- "--config $work/flock/nodes/" >/dev/null && fail "daemons outlive who keeps them"
"$starling" up --detach >up.txt 2>&1 || fail "up after a kill: $(cat up.txt)"
for _ in $(seq $((100 * patience))); do "$starling" jobs | grep -q "^$job *running" && break; sleep 0.1; done
"$starling" jobs --json "$job" | grep -q '"attempts": *1' || fail "the job was begun anew: $("$starling" explain "$job")"
"$starling" down >down.txt 2>&1 || fail "down: $(cat down.txt)"
grep -q stopping flock/up.log || fail "no word of its end: $(cat flock/up.log)"
until_gone 10

echo "-- what goes wrong before is told at once"
code=0
"$starling" up --flock flock2 --topology nowhere.yaml --detach >up.txt 2>&1 || code=$?
[ $code -eq 2 ] || fail "exit code $code: $(cat up.txt)"
[ ! -e flock2 ] || fail "left: $(ls flock2)"
code=0
"$starling" up --detach --json >up.txt 2>&1 || code=$?
[ $code -eq 2 ] || fail "--json --detach: exit code $code: $(cat up.txt)"

echo "-- Ctrl-C before it is ready ends it all"
"$starling" up --detach >up.txt 2>&1 &
waits=$!
sleep 0.1
kill -TERM $waits
wait $waits || true
for _ in $(seq 100); do [ -n "$(in_flock)" ] || break; sleep 0.1; done
# It may have been ready before the signal came.
if [ -n "$(in_flock)" ]; then "$starling" down || fail "down"; fi
until_gone 10

echo "-- a service manager is told when it is ready, and when it ends; its terminal is closed meanwhile"
python3 - notify >notified.txt <<'PY' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(120)
for _ in range(2):
    print(s.recv(100).decode(), flush=True)
PY
started+=($!)
for _ in $(seq 100); do [ ! -S notify ] || break; sleep 0.1; done
NOTIFY_SOCKET=$work/notify "$starling" up >up.log 2>&1 &
up=$!
started+=($up)
wait_for 20 READY=1 notified.txt
job=$("$starling" submit -- sh -c 'echo begun >>begun; sleep 2; echo done >>ended' | head -1)
# Until a worker has become its command it looks like its guardian, and would be meant.
wait_for 20 begun begun
for pid in $up $(in_flock); do kill -HUP "$pid"; done
sleep 0.5
for pid in $(in_flock); do kill -HUP "$pid" 2>/dev/null || true; done
wait_finished 20 "$job"
[ "$(find flock ended -name ended -exec cat {} + 2>/dev/null | wc -l)" -le 1 ] || fail "the job ran twice"
"$starling" jobs --json "$job" >job.json || fail "jobs: $(cat job.json)"
python3 -c 'import json; j, = json.load(open("job.json"))["jobs"]; assert j["attempts"] == 1' || fail "the job was started again: $(cat job.json)"
kill -0 $up || fail "up ended"
"$starling" down
wait_for 5 STOPPING=1 notified.txt
wait $up || fail "up must end well: $(cat up.log)"
echo "all right"
