#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# State in etcd that is set back, damaged or made anew from a backup is recognised, and nothing runs twice:
#   tests/etcd_old_state_test.sh PATH/TO/starling
set -u
for program in etcd etcdctl; do
  command -v $program >/dev/null || { echo "skipped: no $program is installed; 'launch/setup --tests' installs it"; exit 77; }
done
. "$(dirname "$(realpath "$0")")/flock.sh"
begin "$1"
mkdir runs
export ETCDCTL_API=3
start_etcd
ctl() { etcdctl --endpoints "http://127.0.0.1:$port" "$@"; }
"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
up_ready --flock flock --topology four.yaml --agents 2 --servers-per-executor 2 --state "etcd://127.0.0.1:$port/blue"
submit() { "$starling" submit --gpus $1 -- sh -c "echo run >>$work/runs/\$STARLING_JOB; sleep $2"; }
stop() { kill -INT $up; wait $up; }
once() { for job in runs/*; do [ "$(wc -l <$job)" -eq 1 ] || fail "$job has run $(wc -l <$job) times"; done; }

echo "-- a copy under load, of one moment; a damaged one is told"
for i in $(seq 20); do submit $((1 + i % 2)) 0.2 || true; done >ids.txt &
load=$!
sleep 1
long=$(submit 2 100) || fail "no long job"
"$starling" backup busy >backup.txt || fail "no backup"
cat backup.txt
wait $load
[ "$(stat -c %a busy/etcd.copy)" = 600 ] || fail "others may read the copy"
cp -a busy bad
printf 'x' | dd of=bad/etcd.copy bs=1 seek=500 conv=notrunc 2>/dev/null
"$starling" backup --verify bad 2>err.txt && fail "it is damaged, and backup does not say so"
grep -q "etcd.copy" err.txt || fail "what is damaged? $(cat err.txt)"
sleep 1
stop

echo "-- where the flock's state is, none is put; else it is an old copy until the loss is accepted"
"$starling" restore busy --flock flock 2>err.txt && fail "it was put over the state of a flock"
grep -q "has the state of a flock already .*down --remove" err.txt || fail "why not: $(cat err.txt)"
cp -a flock before
ctl get --prefix /starling/blue/ --keys-only | grep -q . || fail "no keys"
"$starling" down --remove || fail "down --remove"
"$starling" restore busy --flock flock >restored.txt || fail "not restored"
grep -q "^old copies: agent-0 agent-1;" restored.txt || fail "it does not say what it is: $(cat restored.txt)"
[ ! -e flock/etcd.copy ] || fail "the copy lies in the flock"
"$starling" agent --config flock/nodes/agent-0/config.json 2>err.txt
[ $? -eq 2 ] || fail "an old copy must end with 2: $(cat err.txt)"
grep -q "the state of agent-0 (.*) is an old copy: it is the backup of .*, and it is not known what happened since" err.txt || fail "$(cat err.txt)"
"$starling" accept-loss --all >accepted.txt || fail "not accepted"
cat accepted.txt
"$starling" accept-loss agent-1 2>err.txt && fail "a loss was accepted twice"
grep -q "there is no loss to accept" err.txt || fail "why not: $(cat err.txt)"
up_ready --flock flock
next=$(submit 2 0.1) || fail "no next"
wait_finished 30 "$next"
wait_ended
grep -q "^$long *failed" jobs.txt || fail "the job that ran: $(grep "$long" jobs.txt)"
once

echo "-- etcd is set back behind everybody's back: executors know better, and its agent says so and ends"
"$starling" backup early >/dev/null || fail "no backup"
for _ in 1 2 3; do last=$(submit 1 0.1) || fail "no job"; done
wait_finished 30 "$last"
stop
ctl del --prefix /starling/blue/ >/dev/null || fail "no del"
cp -a early again
"$starling" restore again --flock other >/dev/null || fail "not restored"
ctl del /starling/blue/partition-0/told >/dev/null
ctl del /starling/blue/partition-1/told >/dev/null
"$starling" up --flock flock >up.log 2>&1 &
up=$!
started+=($up)
# whichever agent ran the last jobs: it alone has executors that know better
wait_for 60 "agent-[01] ended with exit code 2: .* is an old copy: executor-[0-9] knows its life" up.log
old=$(sed -n 's/.*agent-\([01]\) ended with exit code 2: .* is an old copy.*/\1/p' up.log | head -1)
[ "$(ctl get /starling/blue/partition-$old/told --print-value-only | head -c 4)" = life ] || fail "nothing is written down"
stop
"$starling" accept-loss --all >accepted.txt || fail "not accepted"
up_ready --flock flock
next=$(submit 2 0.1) || fail "no next"
wait_finished 60 "$next"
once
stop

echo "-- the last entry has gone, and one in the middle"
for which in tail head; do
  key=$(ctl get --prefix /starling/blue/partition-0/journal/ --keys-only | grep . | $which -1)
  ctl del "$key" >/dev/null || fail "no del"
  "$starling" agent --config flock/nodes/agent-0/config.json 2>err.txt
  [ $? -eq 2 ] && grep -q "missing.*starling accept-loss" err.txt || fail "it goes on: $(cat err.txt)"
  "$starling" accept-loss agent-0 >accepted.txt || fail "not accepted"
done
ls flock/nodes/agent-0/state/before-loss-1.etcd >/dev/null || fail "no copy is kept"
up_ready --flock flock
next=$(submit 2 0.1) || fail "no next"
wait_finished 60 "$next"
once
echo "all right: $(ls runs | wc -l) jobs have run, each once"
