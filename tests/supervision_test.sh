#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nothing sick ends what is well: a flock on one machine with executors that die, whose disk is full, whose journal
# is refused:
#   tests/supervision_test.sh PATH/TO/starling
# The full disk needs root, for a small tmpfs; without, that part is left out and says so.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
begin "$1"
logs=(up.log 'flock/nodes/*/log')
mounted=
trap 'stop_all; [ -z "$mounted" ] || umount -l "$mounted"; rm -rf "$work"' EXIT
executor_pid() { pgrep -f -- "--config $work/flock/nodes/executor-$1/"; }
# running JOB: it runs, in its first attempt
running() {
  "$starling" jobs --json 2>/dev/null >jobs.json
  tr -d '\n' <jobs.json | grep -o "{[^{}]*\"$1\"[^{}]*}" | grep -q '"running"' || fail "job $1 does not run: $(cat jobs.json)"
}
# start_up: `up` in the background, at most 60 s until it is ready
start_up() {
  rm -f up.out  # of an earlier one
  "$starling" up "$@" >up.out 2>up.log &
  up=$!
  started+=($up)
  for _ in $(seq 600); do
    grep -q '^ready' up.out && return
    kill -0 $up 2>/dev/null || fail "up has ended"
    sleep 0.1
  done
  fail "the flock is not ready"
}
end_up() {
  kill -INT $up
  wait $up || fail "up does not stop cleanly: $?"
}
# down_says N WHY: top tells that executor N is down, and why
down_says() {
  for _ in $(seq $((60 * patience))); do
    "$starling" top >top.txt 2>/dev/null
    grep -q "^executor-$1 is down: .*$2" top.txt && return
    sleep 0.25
  done
  fail "top does not say that executor-$1 is down ($2): $(cat top.txt)"
}
back() {
  for _ in $(seq $(($2 * 4 * patience))); do
    "$starling" top --json 2>/dev/null | grep -q '"quarantined": 0' && return
    sleep 0.25
  done
  fail "executor-$1 does not come back: $("$starling" top)"
}
# wait_for_others SECONDS SERVER JOB...: all have finished but at most one, which is on that server
wait_for_others() {
  local server=$2 left=$(($1 * 4 * patience)) open job
  shift 2
  for _ in $(seq $left); do
    "$starling" jobs >jobs.txt 2>/dev/null
    open=$(for job in "$@"; do grep "^$job " jobs.txt | grep -v "^$job *finished"; done)
    [ -z "$open" ] && return
    [ "$(echo "$open" | wc -l)" -eq 1 ] && [[ $open == *" $server "* ]] && return
    sleep 0.25
  done
  fail "others wait for $server, too: $open"
}

"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
start_up --topology four.yaml --servers-per-executor 1
grep -q '^ready: 1 agent, 4 executors' up.out || fail "ready: $(cat up.out)"

echo "-- an idle executor dies twice in 4 s: the others and a job go on"
job=$("$starling" submit --gpus 2 -- sh -c 'echo $$ >>attempts; sleep 600') || fail "submit"
for _ in $(seq 100); do [ -s attempts ] && break; sleep 0.1; done
busy=$(ls -d flock/nodes/executor-*/jobs/* | sed 's/.*executor-\([0-9]\).*/\1/' | head -1)
idle=$(((busy + 1) % 4))
others=$(for i in 0 1 2 3; do [ $i -eq $idle ] || executor_pid $i; done; agent_pid 0)
killed=
for _ in 1 2; do
  for _ in $(seq $((30 * patience))); do pid=$(executor_pid $idle) && [ "$pid" != "$killed" ] && break; sleep 0.1; done
  kill -9 "$pid" || fail "executor-$idle does not run"
  killed=$pid
  sleep 1.5
done
back $idle 10
kill -0 $up || fail "up has ended"
grep -q "executor-$idle was killed by signal 9.*starting executor-$idle again" up.log || fail "up says nothing"
[ "$others" = "$(for i in 0 1 2 3; do [ $i -eq $idle ] || executor_pid $i; done; agent_pid 0)" ] || fail "others were started anew"
running "$job"
[ "$(wc -l <attempts)" -eq 1 ] || fail "the job was started again"
end_up

echo "-- a journal that is refused: the rest starts, and it comes back when the file is mended"
cp flock/nodes/executor-1/state/journal.db journal.good
for f in flock/nodes/executor-1/state/journal.db-*; do rm -f "$f"; done
head -c 20000 /dev/urandom >flock/nodes/executor-1/state/journal.db
start_up
grep -q '^ready: 1 agent, 3 of 4 executors' up.out || fail "ready: $(cat up.out)"
grep -q "executor-1 is down: ended with exit code 2" up.log || fail "up does not say which is down"
down_says 1 "ended with exit code 2: .*journal.db"
"$starling" jobs 2>&1 >/dev/null | grep -q "executor-1 is down" || fail "jobs does not say it"
"$starling" submit --wait --gpus 2 -- true || fail "a job on the others"
for _ in $(seq 100); do grep -q "executor-1.*it is refused" up.log && break; sleep 0.1; done
grep -q "executor-1.*it is refused" up.log || fail "it is not said that it is refused"
cp journal.good flock/nodes/executor-1/state/journal.db
back 1 10
end_up

echo "-- agents that can never serve end up, with 2"
cp flock/nodes/agent-0/state/journal.db journal.good
head -c 20000 /dev/urandom >flock/nodes/agent-0/state/journal.db
timeout 60 "$starling" up >up.out 2>up.log
[ $? -eq 2 ] || fail "up must end with 2"
grep -q "agent-0 is down: ended with exit code 2" up.log || fail "up does not say why"
grep -q "no agent can start with what it reads" up.log || fail "up does not say that it ends"
cp journal.good flock/nodes/agent-0/state/journal.db

if [ "$(id -u)" -ne 0 ]; then
  echo "left out: a full disk; only root can mount a small one"
elif ! mount -t tmpfs -o size=4m tmpfs flock/nodes/executor-2/jobs 2>/dev/null || ! umount flock/nodes/executor-2/jobs; then
  echo "left out: a full disk; tmpfs cannot be mounted here"
else
  echo "-- an executor whose disk is full: the rest goes on, and it comes back when there is room"
  state=flock/nodes/executor-2/state
  cp -a $state saved
  mount -t tmpfs -o size=2m,mode=700 tmpfs $state || fail "mount"
  mounted=$work/$state
  cp -a saved/. $state/
  rm -f $state/reserve  # what a daemon has put by for this (tests/full_disk_test.sh)
  dd if=/dev/zero of=$state/filler bs=4096 >/dev/null 2>&1
  start_up
  grep -q '^ready: 1 agent, 3 of 4 executors' up.out || fail "ready: $(cat up.out)"
  down_says 2 "exit code 74"
  "$starling" submit --wait --gpus 2 -- true || fail "a job on the others"
  rm $state/filler
  back 2 35
  echo "-- and one whose disk fills while it runs, its reserve too"
  rm -f $state/reserve
  dd if=/dev/zero of=$state/filler bs=4096 >/dev/null 2>&1
  # Each is there long enough for the next to go elsewhere, also where commands are slow.
  ids=$(for _ in 1 2 3 4 5 6 7 8; do "$starling" submit --gpus 2 -- sleep 3; done)
  down_says 2 "exit code 74"
  wait_for_others 60 p0-r0-s2 $ids
  kill -0 $up || fail "up has ended"
  rm $state/filler
  back 2 35
  wait_finished 60 $ids  # also the job that it was to start when its disk was full
  end_up
  umount $state
  mounted=
fi
echo "-- with --no-restart: what a killed executor and a killed guardian leave does not run on"
export STARLING_FLOCK=$work/second
start_up --topology four.yaml --agents 1 --servers-per-executor 1 --no-restart
"$starling" submit -- sh -c "setsid sleep 1000 & echo \$! >$work/child; wait" >/dev/null
for _ in $(seq 200); do [ -s child ] && break; sleep 0.1; done
child=$(cat child)
guardian=$(pgrep -f "starling-guardian $work/second/nodes/") || fail "no guardian"
executor=$(pgrep -f -- "--config $work/second/nodes/$(ps -o args= -p "$guardian" | grep -o 'executor-[0-9]*' | head -1)/")
kill -KILL "$executor" "$guardian"
for _ in $(seq 200); do kill -0 "$child" 2>/dev/null || break; sleep 0.1; done
kill -0 "$child" 2>/dev/null && fail "process $child of the job runs on"
end_up

echo "all right"
