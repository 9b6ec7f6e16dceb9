#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock whose agents keep their journals in etcd, three members of it on loopback:
#   tests/etcd_test.sh PATH/TO/starling
# Ends with 77, which ctest calls skipped, where no etcd is installed.
set -u
command -v etcd >/dev/null || { echo "skipped: no etcd is installed; 'launch/setup --tests' installs it"; exit 77; }
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs=()
begin "$1"

port=$(free_ports 13)
cluster=m0=http://127.0.0.1:$((port + 10)),m1=http://127.0.0.1:$((port + 11)),m2=http://127.0.0.1:$((port + 12))
state=etcd://127.0.0.1:$port,127.0.0.1:$((port + 1)),127.0.0.1:$((port + 2))
members=()
for i in 0 1 2; do
  etcd --name m$i --data-dir m$i --initial-cluster "$cluster" --log-level error \
    --listen-client-urls http://127.0.0.1:$((port + i)) --advertise-client-urls http://127.0.0.1:$((port + i)) \
    --listen-peer-urls http://127.0.0.1:$((port + 10 + i)) \
    --initial-advertise-peer-urls http://127.0.0.1:$((port + 10 + i)) >m$i.log 2>&1 &
  members+=($!)
  started+=($!)
done
"$starling" topology generate flat --servers 1 --gpus 4 -o one.yaml 2>/dev/null || fail "no topology"

echo "-- a wrong address, and no server there"
"$starling" up --flock none --topology one.yaml --state etcd://127.0.0.1 2>err.txt
[ $? -eq 2 ] && grep -q 'HOST:PORT' err.txt || fail "a wrong address: $(cat err.txt)"
"$starling" up --flock none --topology one.yaml --state etcd://127.0.0.1:1 2>err.txt
[ $? -eq 1 ] && grep -q '127.0.0.1:1: cannot connect' err.txt || fail "no server there: $(cat err.txt)"
[ ! -e none/deployment.json ] || fail "a flock was made for an etcd that is not there"

echo "-- up, and an agent that is killed where it is"
up_ready --topology one.yaml --state "$state"
first_up=$up
job=$("$starling" submit --gpus 4 -- sh -c "echo first >>$work/runs; sleep 2") || fail "submit"
next=$("$starling" submit --gpus 4 -- sh -c "echo second >>$work/runs") || fail "submit"
kill -9 "$(pgrep -f -- "--config $work/flock/nodes/agent-0/")"
wait_for 10 "starting agent-0 again" up.log
wait_finished 20 "$job"
wait_finished 20 "$next"
[ "$(cat runs)" = $'first\nsecond' ] || fail "the jobs ran not once each: $(cat runs)"
[ ! -e flock/nodes/agent-0/state/journal.db ] || fail "the agent has a journal on its disk"

echo "-- another flock of that name is refused: it would take this one's partitions"
named=$(sed -n 's/.*"state": *"\(etcd[^"]*\)".*/\1/p' flock/deployment.json)
"$starling" up --flock another --topology one.yaml --state "$named" 2>err.txt
[ $? -ne 0 ] && grep -q "has the state of another flock" err.txt || fail "another flock of the name: $(cat err.txt)"
[ ! -e another/deployment.json ] || fail "another flock was made of that name"

echo "-- two that found a flock of one name at the same instant: one has it"
pids=()
for f in one_of other_of; do "$starling" up --flock $f --topology one.yaml --state "$state/both" >$f.log 2>&1 & pids+=($!); done
started+=("${pids[@]}")
for _ in $(seq $((60 * patience))); do
  grep -q '^ready' one_of.log other_of.log && ! { kill -0 "${pids[0]}" && kill -0 "${pids[1]}"; } 2>/dev/null && break
  sleep 0.5
done
[ "$(cat one_of.log other_of.log | grep -c '^ready')" -eq 1 ] || fail "not one of two is up: $(cat one_of.log other_of.log)"
cat one_of.log other_of.log | grep -q 'both .*another flock (.*/\(one\|other\)_of on ' || fail "the other is not told whose it is: $(cat one_of.log other_of.log)"
won=one_of
upper=${pids[0]}
grep -q '^ready' one_of.log || { won=other_of; upper=${pids[1]}; }
[ "$(ls -d one_of other_of)" = $won ] || fail "the other left a directory"

echo "-- its directory is lost: the name is refused, and its jobs go on where that is wanted"
runs=$("$starling" submit --flock $won --gpus 4 -- sh -c "echo a >>$work/adopted; sleep 600") || fail "submit"
waits=$("$starling" submit --flock $won --gpus 4 -- sh -c "echo b >>$work/adopted") || fail "submit"
wait_for 20 a adopted
"$starling" up --flock new --topology one.yaml --state "$state/both" --adopt 2>err.txt && fail "a flock that is served is adopted"
grep -q "partition 0 .* is still served" err.txt || fail "adopted while it is served: $(cat err.txt)"
kill -9 $upper
kill -9 $(pgrep -f -- "--config $work/$won/nodes/") $(pgrep -f "starling-guardian $work/$won/nodes/")
rm -r $won
"$starling" up --flock new --topology one.yaml --state "$state/both" 2>err.txt && fail "the name of a lost flock is taken"
grep -q "has the state of another flock (.*/$won on .*its directory is lost .*starling up --adopt" err.txt || fail "a lost flock: $(cat err.txt)"
"$starling" up --flock new --topology one.yaml --agents 2 --state "$state/both" --adopt 2>err.txt && fail "adopted with another number of agents"
grep -q "fewer than 2 partitions" err.txt || fail "another number of agents: $(cat err.txt)"
[ ! -e new ] || fail "a flock was made of it"
STARLING_FLOCK=$work/new up_ready --topology one.yaml --state "$state/both" --adopt
adopted=$up
export STARLING_FLOCK=$work/new
"$starling" cancel "$runs" || fail "cancel of an adopted job"
wait_finished 60 "$waits"
grep -q b adopted || fail "what waited has not run"
kill -INT $adopted
wait $adopted || fail "up of what was adopted does not end well"
"$starling" down --remove || fail "down --remove of what was adopted"
export STARLING_FLOCK=$work/flock

echo "-- a member dies; the flock goes on"
kill -9 "${members[0]}"
wait "${members[0]}" 2>/dev/null
job=$("$starling" submit --gpus 1 -- true) || fail "submit without a member"
wait_finished 20 "$job"
kill -INT $first_up
wait $first_up || fail "up must stop cleanly: $(cat up.log)"

echo "-- an agent is killed, and starts elsewhere with an empty directory"
cp -r flock elsewhere
rm -r elsewhere/nodes/agent-0/state
"$starling" agent --config flock/nodes/agent-0/config.json 2>here.log &
here=$!
"$starling" executor --config flock/nodes/executor-0/config.json 2>executor.log &
started+=($here $!)
wait_for 10 "serving with policy" here.log
job=$("$starling" submit --gpus 4 -- sh -c "echo third >>$work/runs; sleep 1") || fail "submit"
next=$("$starling" submit --gpus 4 -- sh -c "echo fourth >>$work/runs") || fail "submit"
wait_for 10 third runs
kill -9 $here
wait $here 2>/dev/null
"$starling" agent --config elsewhere/nodes/agent-0/config.json 2>there.log &
there=$!
started+=($there)
wait_for 15 "serving with policy" there.log
grep -q "waiting: partition 0 belongs to agent 0 .* whose lease runs" there.log || fail "it did not wait for the lease: $(cat there.log)"
wait_finished 20 "$job"
wait_finished 20 "$next"
[ "$(cat runs)" = $'first\nsecond\nthird\nfourth' ] || fail "the jobs ran not once each: $(cat runs)"

echo "-- no majority: the agent stops serving rather than forget, and waits for etcd"
kill -STOP "${members[1]}"
"$starling" submit --gpus 1 -- true >unanswered.txt 2>&1 &
asked=$!
started+=($asked)
wait_for 10 "no longer served at epoch .*the journal cannot be written" there.log
wait_for 10 "waiting: etcd has not answered" there.log
kill $asked 2>/dev/null || fail "submit has ended without a majority: $(cat unanswered.txt)"
kill -0 $there 2>/dev/null || fail "the agent has ended: $(tail -3 there.log)"
lives=$(grep -c "serving with policy" there.log)
kill -CONT "${members[1]}"
wait_for 20 "serving with policy" there.log $((lives + 1))
job=$("$starling" submit --gpus 1 -- true) || fail "submit"
wait_finished 20 "$job"

echo "-- a run leaves nothing there"
"$starling" workload generate --jobs 20 --gpus 4 --load 1 --max-duration 60 -o w.csv 2>/dev/null || fail "no trace"
"$starling" run --topology one.yaml --trace w.csv --target-seconds 1 --state "$state" --quiet >run.txt 2>&1 || fail "run: $(cat run.txt)"
! grep -q "left behind" run.txt || fail "run: $(cat run.txt)"

echo "-- down --remove leaves nothing there either, and removes nothing while an agent serves elsewhere"
# How many keys of flocks there are, from the member that is left.
keys() {
  local ask count
  ask='{"key":"'$(printf /starling/ | base64)'","range_end":"'$(printf /starling0 | base64)'","count_only":true}'
  exec 9<>"/dev/tcp/127.0.0.1/$((port + 1))"
  printf 'POST /v3/kv/range HTTP/1.0\r\nContent-Length: %s\r\n\r\n%s' ${#ask} "$ask" >&9
  count=$(cat <&9)
  exec 9>&-
  grep -q '"revision"' <<<"$count" || fail "etcd does not answer: $count"
  sed -n 's/.*"count":"\([0-9]*\)".*/\1/p' <<<"$count" | grep . || echo 0
}
[ "$(keys)" -gt 0 ] || fail "no key of the flock is in etcd"
"$starling" down --remove 2>err.txt && fail "the state of a flock that serves was removed"
grep -q "partition 0 in etcd://.* is still served" err.txt || fail "down --remove, an agent serves: $(cat err.txt)"
[ -e flock/deployment.json ] || fail "the directory was removed"
kill -9 $there
wait $there 2>/dev/null
"$starling" down --remove || fail "down --remove"
[ "$(keys)" -eq 0 ] || fail "down --remove leaves $(keys) keys in etcd"
[ ! -e flock ] || fail "down --remove leaves its directory"
echo "all right"
