#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Old and damaged state of nodes is recognised, told in one sentence, and nothing runs twice:
#   tests/old_state_test.sh PATH/TO/starling
set -u
. "$(dirname "$(realpath "$0")")/flock.sh"
begin "$1"
logs=('agent-0.log' 'executor-*.log')
state=flock/nodes/agent-0/state

"$starling" topology generate flat --servers 2 --gpus 2 -o two.yaml 2>/dev/null || fail "no topology"
up_ready --flock flock --topology two.yaml --agents 1 --servers-per-executor 1
kill -INT $up
wait $up

# start NODE: in the background, as `node`
start() {
  "$starling" "${1%-*}" --config flock/nodes/$1/config.json >>$1.log 2>&1 &
  node=$!
  started+=($node)
}
# ends NODE SECONDS: its exit status, of `node`
ends() {
  for _ in $(seq $(($2 * 20))); do kill -0 $node 2>/dev/null || break; sleep 0.05; done
  kill -0 $node 2>/dev/null && fail "$1 goes on: $(tail -3 $1.log)"
  wait $node
}
phase() { "$starling" jobs 2>/dev/null | grep "^$1 " | awk '{print $2}'; }
wait_phase() {
  for _ in $(seq 200); do [ "$(phase $1)" = $2 ] && return; sleep 0.1; done
  fail "job $1 is not $2: $("$starling" jobs)"
}
start_executors() {
  start executor-0; first=$node
  start executor-1; second=$node
}
start_agent() {
  : >agent-0.log
  start agent-0; agent=$node
}
start_executors
start_agent
wait_for 10 serving agent-0.log

echo "-- a copy of the state, taken while two jobs run and one waits"
mid=$("$starling" submit --gpus 2 -- sh -c 'echo run >>mid.runs; while [ ! -e finish ]; do sleep 0.1; done') || fail "no mid"
two=$("$starling" submit --gpus 2 -- sh -c 'echo run >>two.runs; while [ ! -e finish ]; do sleep 0.1; done') || fail "no two"
waits=$("$starling" submit --gpus 2 -- sh -c 'echo run >>waits.runs') || fail "no waits"
wait_phase $mid running
wait_phase $two running
cp -a $state early
touch finish
wait_finished 20 $mid $two $waits
sleep 0.3
kill -9 $agent; wait $agent 2>/dev/null
start_agent
late=$("$starling" submit --gpus 1 -- sh -c 'echo run >>late.runs') || fail "no late"
wait_finished 20 $late
kill $agent; wait $agent 2>/dev/null
mv $state newest

# old_copy LIFE: the copy begins as that life or the next, and is refused
old_copy() {
  rm -rf $state
  cp -a early $state
  [ -n "$1" ] && printf '%s\njournal\n' "$1" >$state/incarnation
  start_agent
  ends agent-0 10
  code=$?
  [ $code -eq 2 ] || fail "an old copy must end with 2, not $code: $(cat agent-0.log)"
  [ "$(grep -c 'is an old copy' agent-0.log)" -eq 1 ] || fail "not one sentence: $(cat agent-0.log)"
  grep -q "agent-0 (life .*) is an old copy: executor-[01] knows its life .*would be lost.*starling accept-loss agent-0" agent-0.log ||
    fail "the sentence lacks something: $(cat agent-0.log)"
}
echo "-- put back, it is told so: of an earlier life, of a later one that knows less, of one with the same number"
old_copy ''
sed -n 's/.*the state of/the state of/p' agent-0.log
old_copy 40
old_copy 2
echo "-- and again, when executors have forgotten what they only heard"
kill -9 $first $second; wait $first $second 2>/dev/null
start_executors
old_copy 40
echo "-- and at once, when it has been told before"
kill -9 $first $second; wait $first $second 2>/dev/null
start_agent
ends agent-0 5
[ $? -eq 2 ] || fail "it forgot what it was told"
[ "$(grep -c 'is an old copy' agent-0.log)" -eq 1 ] || fail "not one sentence: $(cat agent-0.log)"

echo "-- the newest state goes on as if nothing had been"
start_executors
rm -rf $state
cp -a newest $state
start_agent
wait_finished 20 $mid $two $waits $late
kill $agent; wait $agent 2>/dev/null

echo "-- a copy that lacks no more than its new life writes by itself, and again when it has"
rm -rf newest
cp -a $state newest
start_agent
wait_for 10 serving agent-0.log
"$starling" jobs >/dev/null || fail "the newest state does not answer"
kill -9 $agent; wait $agent 2>/dev/null
mv $state newest.1
cp -a newest $state
printf '40\njournal\n' >$state/incarnation
for again in '' ' again'; do
  start_agent
  ends agent-0 10
  code=$?
  [ $code -eq 2 ] || fail "a copy that lacks little must end with 2$again, not $code: $(cat agent-0.log)"
  grep -q "is an old copy: executor-[01] knows its life" agent-0.log || fail "not told$again: $(cat agent-0.log)"
done
rm -rf $state newest
mv newest.1 $state
cp -a $state newest

echo "-- without it: accepted on purpose"
"$starling" accept-loss agent-0 2>err.txt && fail "a loss was accepted where there is none"
grep -q "there is no loss to accept" err.txt || fail "why not: $(cat err.txt)"
old_copy 40
"$starling" accept-loss agent-0 >accepted.txt || fail "the loss is not accepted"
grep -q ": 3 fail with an unknown outcome" accepted.txt || fail "what was done: $(cat accepted.txt)"
[ -e $state/before-loss-1/journal.db ] || fail "no copy is kept"
start_agent
wait_phase $mid failed
wait_phase $waits failed
"$starling" explain $waits 2>&1 | grep -q "outcome is unknown" || fail "explain: $("$starling" explain $waits)"
next=$("$starling" submit --gpus 2 -- sh -c 'echo run >>next.runs') || fail "no next"
wait_finished 20 $next
for job in mid two waits late next; do
  [ "$(wc -l <$job.runs)" -eq 1 ] || fail "$job has run $(wc -l <$job.runs) times"
done
kill -9 $agent; wait $agent 2>/dev/null
start_agent
wait_finished 20 $next
kill -9 $agent; wait $agent 2>/dev/null

echo "-- with the daemon's own option"
old_copy ''
"$starling" agent --config flock/nodes/agent-0/config.json --accept-loss >>agent-0.log 2>&1 &
agent=$!
started+=($agent)
wait_phase $mid failed
kill -9 $agent; wait $agent 2>/dev/null
kill -9 $first $second; wait $first $second 2>/dev/null

echo "-- lost logs, emptied and missing journals, of an agent and of an executor"
# refused NODE TEXT
refused() {
  : >$1.log
  start $1
  ends $1 10
  code=$?
  [ $code -eq 2 ] || fail "$1 must refuse with 2, not $code: $(cat $1.log)"
  grep -q -- "$2" $1.log || fail "'$2' is not in $(cat $1.log)"
  [ "$(wc -l <$1.log)" -le 2 ] || fail "more than one sentence: $(cat $1.log)"
}
for name in agent-0 executor-0; do
  dir=flock/nodes/$name/state
  cp -a $dir good
  renew() { rm -rf $dir; cp -a good $dir; }
  rm $dir/journal.db-wal || fail "$name has no log"
  refused $name 'records are missing: it ends with record'
  renew; truncate -s $(($(stat -c %s $dir/journal.db-wal) - 100)) $dir/journal.db-wal
  refused $name 'records are missing: it ends with record'
  renew; rm $dir/journal.db $dir/journal.db-wal; : >$dir/journal.db
  refused $name 'an earlier life of this node wrote to it'
  renew; rm $dir/journal.db*
  refused $name 'an earlier life of this node wrote to it'
  "$starling" accept-loss $name >accepted.txt || fail "$name cannot go on"
  start $name
  wait_for 10 serving $name.log
  kill $node; wait $node 2>/dev/null
  rm -rf good
done
for job in mid two waits late next; do
  [ "$(wc -l <$job.runs)" -eq 1 ] || fail "$job has run $(wc -l <$job.runs) times"
done

echo "-- another node's state in its place"
mv flock/nodes/executor-0/state good
cp -a flock/nodes/executor-1/state flock/nodes/executor-0/state
refused executor-0 "it is of node [0-9]*, not of node [0-9]*: put each node's state back"
rm -rf flock/nodes/executor-0/state
mv good flock/nodes/executor-0/state

echo "-- what stands in the place of flock.json holds no command up"
start_executors
start_agent
wait_for 10 serving agent-0.log
alive=$("$starling" submit --gpus 2 --workers 2 --wait -- true 2>err.txt) || fail "not all is up: $(cat err.txt)"
mv flock/flock.json flock.json
mkfifo flock/flock.json
sleep 2
rm flock/flock.json
mv flock.json flock/flock.json
alive=$("$starling" submit --gpus 1 -- true) || fail "a FIFO holds the agent up"
wait_finished 20 $alive

echo "-- a state that is removed while its agent runs: nothing more is acknowledged"
rm -rf $state
lost=$("$starling" submit --gpus 1 -- true 2>err.txt) && fail "job $lost was accepted into a journal that is gone"
grep -q 'was removed or replaced while it was open' agent-0.log || fail "not told: $(cat agent-0.log)"
echo "all right"
