#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many commands at once, and commands while an agent is silent, on real processes:
#   tests/clients_test.sh PATH/TO/starling [SUBMITS WAITERS]
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs=('flock/nodes/agent-*/log' up.log)
begin "$1"
submits=${2:-60} waiters=${3:-20}
"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
up_ready --topology four.yaml --agents 2

echo "-- $submits submits and $waiters waiters at once are all accepted"
begun=$(now)
pids=() watchers=()
for i in $(seq 3); do "$starling" top --watch >top$i.out 2>&1 & watchers+=($!); done
started+=("${watchers[@]}")
for i in $(seq "$waiters"); do "$starling" submit --wait -- true >wait$i.out 2>wait$i.err & pids+=($!); done
for i in $(seq "$submits"); do "$starling" submit -- true >one$i.out 2>one$i.err & pids+=($!); done
refused=0
for pid in "${pids[@]}"; do wait "$pid" || refused=$((refused + 1)); done
[ $refused -eq 0 ] || fail "$refused commands failed: $(grep -h starling: one*.err wait*.err | sort | uniq -c | head -5)"
[ "$(cat one*.out wait*.out | sort -u | wc -l)" -eq $((submits + waiters)) ] || fail "some jobs have no id of their own"
# shellcheck disable=SC2046
wait_finished 60 $(cat one*.out)
for i in 1 2 3; do grep -q '^agent-1' top$i.out || fail "top --watch saw nothing: $(cat top$i.out)"; done
echo "   $(since "$begun") ms"

echo "-- a question does not wait for the second try because the first came before the connection"
quickest=100000
for _ in $(seq 20); do
  begun=$(now)
  "$starling" jobs >/dev/null || fail "jobs"
  took=$(since "$begun")
  [ "$took" -ge "$quickest" ] || quickest=$took
done
[ "$quickest" -lt 240 ] || fail "no answer comes within $quickest ms"
echo "   $quickest ms"

echo "-- where the number of a session cannot be written down, as on a full disk, commands work all the same"
mkdir -p flock/nodes/client-{0,1,2,3}/state/incarnation.new/in-the-way
"$starling" jobs >jobs.txt || fail "jobs"
job=$("$starling" submit -- sleep 300) || fail "submit"
"$starling" cancel "$job" >/dev/null || fail "cancel"
rm -r flock/nodes/client-*/state/incarnation.new

echo "-- clients that wait keep no other from cancel, drain and jobs"
for i in $(seq "$waiters"); do "$starling" submit --gpus 2 --wait -- sleep 300 >long$i.out 2>/dev/null & pids+=($!); started+=($!); done
for i in $(seq "$waiters"); do wait_for 60 . long$i.out; done
"$starling" drain 0 | grep -q 'is drained' || fail "drain"
"$starling" drain 0 --undo | grep -q 'in use again' || fail "drain --undo"
for i in $(seq "$waiters"); do "$starling" cancel "$(cat long$i.out)" >/dev/null || fail "cancel: $("$starling" explain "$(cat long$i.out)")"; done
kill "${watchers[@]}"

echo "-- what a job prints never reaches the terminal as a control"
job=$("$starling" submit --wait -- printf 'a\033[2Jb\302\2332Jc\302\205d\342\200\256e\342\201\246f\357\273\277g\177h' 2>/dev/null) || fail "submit"
"$starling" explain "$job" >explain.out || fail "explain"
grep -q '^a?\[2Jb?2Jc?d?e?f?g?h$' explain.out || fail "explain: $(od -c explain.out | tail -5)"
"$starling" jobs --json | LC_ALL=C grep -q "$(printf '[\200-\377\033]')" && fail "jobs --json"
"$starling" submit --name "$(printf 'x\302\233y')" -- true 2>err.txt && fail "a name with controls is taken"
grep -q "control characters" err.txt || fail "a name with controls: $(cat err.txt)"

echo "-- one of two agents is silent: the others' answers come within 4 s, and say who is missing"
id_at() { printf '%016x%016x' $$ $((2 * (RANDOM * 32768 + RANDOM) + $1)); }
here=$("$starling" submit --id "$(id_at 0)" --gpus 2 -- sleep 300) || fail "submit at agent-0"
there=$("$starling" submit --id "$(id_at 1)" --gpus 2 -- sleep 300) || fail "submit at agent-1"
for _ in $(seq $((40 * patience))); do [ "$("$starling" jobs | grep -c "^\($here\|$there\) *running")" -eq 2 ] && break; sleep 0.1; done
kill -STOP "$(agent_pid 1)"
started+=("$(agent_pid 1)")
within() { # MS COMMAND...: its status
  local begun status
  begun=$(now)
  "${@:2}"
  status=$?
  [ "$(since "$begun")" -le "$1" ] || fail "${*:2} takes $(since "$begun") ms"
  return $status
}
within 4000 "$starling" jobs >jobs.txt 2>err.txt && fail "jobs says that all is well"
grep -q "^$here *running" jobs.txt || fail "jobs does not show what is known: $(cat jobs.txt err.txt)"
grep -q "agent-1 does not answer" err.txt || fail "jobs does not say who is missing: $(cat err.txt)"
within 4000 "$starling" jobs --json 2>/dev/null | tr -d ' \n' | grep -q '"silent":\[1\]' || fail "jobs --json"
within 4000 "$starling" top >top.txt 2>err.txt && fail "top says that all is well"
grep -q "^agent-0 " top.txt && grep -q "agent-1 does not answer" err.txt || fail "top: $(cat top.txt err.txt)"
within 4000 "$starling" top --json 2>/dev/null | tr -d ' \n' | grep -q '"silent":\[1\]' || fail "top --json"
within 4000 "$starling" explain "$here" | grep -q "runs on GPUs" || fail "explain"
within 8000 "$starling" explain "$there" 2>err.txt && fail "explain of what no agent knows"
grep -q "agent-1 does not answer" err.txt || fail "explain: $(cat err.txt)"
for i in $(seq 6); do within 3000 "$starling" submit -- true >ok$i.out || fail "submit $i"; done
echo "-- 20 submits at once while one of two agents is frozen"
# What is promised is 3 s; only a machine that has other work to do gets more.
most=3000
awk -v cores="$(nproc)" '{ exit !($1 >= cores) }' /proc/loadavg && most=$((3000 * patience))
begun=$(now)
pids=()
for i in $(seq 7 26); do { "$starling" submit -- true >ok$i.out && since "$begun" >took$i.out; } & pids+=($!); done
for pid in "${pids[@]}"; do wait "$pid" || fail "a submit beside a frozen agent"; done
sort -n took*.out >took.txt
echo "   accepted after $(sed -n 10p took.txt) ms (median), $(tail -1 took.txt) ms (last)"
[ "$(tail -1 took.txt)" -le $most ] || fail "a submit takes $(tail -1 took.txt) ms"
"$starling" submit --id "$(id_at 1)" -- true >/dev/null 2>err.txt && fail "an id goes to another home than its own"
grep -q "agent-1 does not answer" err.txt || fail "submit --id: $(cat err.txt)"
within 4000 "$starling" cancel "$here" >/dev/null || fail "cancel"
kill -CONT "$(agent_pid 1)"
# shellcheck disable=SC2046
wait_finished 60 $(cat ok*.out)
"$starling" cancel "$there" >/dev/null || fail "cancel at agent-1"

echo "-- an executor is silent: explain says since when, cancel what it waits for"
stuck=$("$starling" submit --id "$(id_at 0)" --gpus 2 -- sleep 300) || fail "submit"
for _ in $(seq $((40 * patience))); do "$starling" jobs | grep -q "^$stuck *running" && break; sleep 0.1; done
frozen=$(pgrep -f -- "--config $work/flock/nodes/executor-")
# shellcheck disable=SC2086
kill -STOP $frozen
for pid in $frozen; do started+=("$pid"); done
silent="executor-[0-9]*, which has GPUs [0-9,-]* of it, was last heard of [0-9]* s ago by agent [01] and does not answer"
for _ in $(seq $((20 * patience))); do "$starling" explain "$stuck" >explained.txt 2>&1 && grep -q "$silent" explained.txt && break; sleep 0.5; done
grep -q "$silent" explained.txt || fail "explain: $(cat explained.txt)"
"$starling" cancel "$stuck" >/dev/null 2>err.txt && fail "it cannot have ended"
grep -q "has not ended yet" err.txt && grep -q "$silent" err.txt || fail "cancel: $(cat err.txt)"
# shellcheck disable=SC2086
kill -CONT $frozen
for _ in $(seq $((40 * patience))); do "$starling" jobs --state cancelled | grep -q "^$stuck " && break; sleep 0.5; done
"$starling" jobs --state cancelled | grep -q "^$stuck " || fail "it is not cancelled: $("$starling" jobs)"
echo "all right"
