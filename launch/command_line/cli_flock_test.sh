#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock from outside: jobs, their ends, restarts, and nothing that stays behind.
#   launch/command_line/cli_flock_test.sh PROGRAM
# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/from_outside.sh"

echo "-- a flock that stays"
printf 'name: jw\ncommand: echo one\n' >jw.yaml
"$starling" topology generate flat --servers 1 --gpus 4 -o one.yaml 2>/dev/null
export STARLING_FLOCK=$work/flock
"$starling" up --topology one.yaml --agents 1 >up.txt 2>up.err &
up=$!
for _ in $(seq 200); do grep -q '^ready' up.txt && break; sleep 0.05; done
grep -q '^ready' up.txt || fail "up is not ready: $(cat up.err)"
expect 2 "99" up --flock "$work/none" --topology one.yaml --agents 99
[ ! -e "$work/none" ] || fail "a refused up leaves $(ls -A "$work/none")"
expect 0 "agent-0" top
grep -q '^left out: 0 everywhere: ' out.txt || fail "top does not say what it left out: $(cat out.txt)"
awk 'length > 100 { exit 1 }' out.txt || fail "top is wider than 100 characters: $(cat out.txt)"
expect 0 "learned from" top --wide
expect 0 "finished, exit code 0" submit --wait --gpus 2 -- sh -c 'echo $CUDA_VISIBLE_DEVICES > seen.txt'
expect 0 "finished, exit code 0" submit jw.yaml --wait
expect 0 "finished, exit code 0" submit --wait jw.yaml
expect 0 "finished, exit code 0" submit --wait -- test --wait = --wait
expect 0 "finished, exit code 0" submit --wait --name '[a,b]' -- sh -c '[ -e seen.txt ]'
expect 3 "failed, exit code 3" submit --wait -- sh -c 'echo why; exit 3'
expect 2 "the data centre has 4" submit --gpus 5 -- true
expect 2 "it asks for GPUs of type A100 or K80, the data centre has V100" submit --gpu-type A100,K80 -- true
expect 0 "it asks for GPUs of type A100, too, of which the data centre has none; it has V100" submit --wait --gpu-type A100,v100 -- true
expect 0 "finished" jobs
"$starling" submit -- true >/dev/full 2>err.txt
[ $? -eq 1 ] || fail "submit: an id that no job got is no success"
lost=$(sed -n "s/.*does not take the job's id: //p" err.txt)
expect 0 "$lost" jobs "${lost:-none}"
job=$("$starling" submit --gpus 4 -- sleep 600) || fail "submit"
waiting=$("$starling" submit --gpus 4 -- true) || fail "submit"
for _ in $(seq 200); do "$starling" jobs 2>/dev/null | grep -q "^$job *running" && break; sleep 0.05; done
expect 0 "running" jobs
expect 0 "waiting" explain "$waiting"
expect 0 "cancelled" cancel "$job"
expect 2 "no agent that answers knows job 12345;" cancel 12345
expect 0 "cancelled after" explain "${job:0:16}"
grep -q "exit code" out.txt && fail "explain: a cancelled job has no exit code: $(cat out.txt)"
expect 2 "is locked by process" agent --config "$work/flock/nodes/agent-0/config.json"
expect 0 "executor-0: ready again" restart executor-0
expect 0 "finished" jobs
grep -q "is down" err.txt && fail "who is up again after a restart is said to be down: $(cat err.txt)"
kill -TERM $up
wait $up
[ $? -eq 0 ] || fail "up must stop cleanly: $(cat up.err)"
expect 1 "no agent answers" top
grep -q "GPUs" out.txt && fail "top: a table without agents: $(cat out.txt)"
gone || fail "up left processes behind"
rm up.txt  # of the earlier one
"$starling" up >up.txt 2>up.err &
up=$!
for _ in $(seq 200); do grep -qs '^ready' up.txt && break; sleep 0.05; done
expect 0 "$waiting" jobs
grep -Eq "$waiting +finished" out.txt || fail "a restarted flock forgot a finished job: $(cat out.txt)"
kill -INT $up
wait $up
gone || fail "the second up left processes behind"

over
