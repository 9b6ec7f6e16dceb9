#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Drained servers and bad GPUs on real processes:
#   tests/drain_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs=('flock/nodes/*/log' up.log)
begin "$1"
"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
name() { "$starling" topology partition four.yaml --agents 4 | awk -v n=$((${1} + 2)) 'NR == n {print $4}'; }
up_ready --topology four.yaml --agents 2 --servers-per-executor 1
# job NAME SECONDS GPUS AGENT
job() {
  local id
  id=$(printf '%016x%016x' $$ $((2 * (RANDOM * 32768 + RANDOM) + $4)))
  "$starling" submit --id "$id" --gpus "$3" -- sh -c "echo $1 >>$work/runs; sleep $2; echo end $1 >>$work/runs" || fail "submit $1"
}
wait_job() { # JOB STATE
  for _ in $(seq $((80 * patience))); do "$starling" jobs 2>/dev/null | grep -q "^$1 *$2" && return 0; sleep 0.25; done
  fail "job $1 is not $2: $("$starling" jobs)"
}
gpus_of() { "$starling" jobs --json | python3 -c 'import json,sys; print(*[j["placement"] for j in json.load(sys.stdin)["jobs"] if j["job"] == sys.argv[1]])' "$1"; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

echo "-- a server is drained: what runs there goes on, nothing new comes"
first=$(job first 5 2 0)
wait_job "$first" running
at=$(gpus_of "$first")
server=$((${at%%-*} / 2))
"$starling" drain "$server" | grep -q 'is drained, 1 attempt runs on there' || fail "drain $server"
second=$(job second 1 2 0)
wait_job "$second" finished
wait_job "$first" finished
third=$(job third 1 2 0)
wait_job "$third" finished
[ "$(gpus_of "$third")" != "$at" ] || fail "a job was placed on a drained server"
"$starling" top --json | tr -d ' \n' | grep -q "\"drained\":2,\"drained_servers\":\[$server\]" || fail "top does not show it: $("$starling" top)"
"$starling" topology state | grep -q "^$server .* yes " || fail "topology state: $("$starling" topology state)"

echo "-- it stays drained when its agent is killed, and is in use again after --undo"
kill -9 "$(agent_pid 0)"
for _ in $(seq 100); do "$starling" topology state 2>/dev/null | grep -q "^$server .* yes " && break; sleep 0.2; done
"$starling" topology state | grep -q "^$server .* yes " || fail "the drain is forgotten"
"$starling" drain "$server" --undo | grep -q 'in use again' || fail "undo"
"$starling" drain nowhere 2>err.txt
[ $? -eq 2 ] && grep -q "'nowhere' is no server" err.txt || fail "a wrong server: $(cat err.txt)"

echo "-- eviction requeues"
for _ in $(seq 100); do "$starling" top --json 2>/dev/null | tr -d ' \n' | grep -q '"free":4.*"free":4' && break; sleep 0.2; done
fourth=$(job fourth 4 2 0)
wait_job "$fourth" running
at=$(gpus_of "$fourth")
server=$((${at%%-*} / 2))
"$starling" drain "$server" --evict | grep -q 'requeued' || fail "evict"
wait_job "$fourth" finished
# What it waited before its first start stays what it was, wherever it has gone; later waiting is no part of it.
"$starling" jobs --json "$fourth" | python3 -c '
import json, sys
j, = json.load(sys.stdin)["jobs"]
assert j["attempts"] == 2 and j["queued_s"] < 2 < j["elapsed_s"] and j["submitted"] <= j["started"] < j["ended"], j
assert j["queued_s"] + j["service_s"] <= j["elapsed_s"], j' || fail "the waiting of a job that was evicted: $("$starling" jobs --json "$fourth")"
[ "$(gpus_of "$fourth")" != "$at" ] || fail "the evicted job ended where it was"
[ "$(grep -c '^fourth' runs)" -eq 2 ] && [ "$(grep -c '^end fourth' runs)" -eq 1 ] || fail "fourth: $(cat runs)"
"$starling" drain "$server" --undo >/dev/null || fail "undo"

echo "-- a job that asked for it is not started again"
once=$("$starling" submit --requeue no --gpus 2 -- sh -c "echo once >>$work/runs; sleep 60") || fail "submit --requeue no"
wait_job "$once" running
for _ in $(seq 100); do grep -q '^once' runs && break; sleep 0.1; done
at=$(gpus_of "$once")
server=$((${at%%-*} / 2))
"$starling" drain "$server" --evict >/dev/null || fail "evict"
wait_job "$once" failed
"$starling" explain "$once" | grep -q 'not started again, as it asked (requeue: no): .*evicted' || fail "why: $("$starling" explain "$once")"
[ "$(grep -c '^once' runs)" -eq 1 ] || fail "once: $(cat runs)"
"$starling" submit --requeue maybe -- true 2>err.txt && fail "--requeue maybe"
grep -q "'maybe' is wrong, give yes or no" err.txt || fail "$(cat err.txt)"
"$starling" drain "$server" --undo >/dev/null || fail "undo"

echo "-- a GPU goes bad under a job"
fifth=$(job fifth 6 2 0)
wait_job "$fifth" running
at=$(gpus_of "$fifth")
server=$((${at%%-*} / 2))
echo "$((2 * server)) # ecc" >flock/nodes/executor-$server/health
for _ in $(seq $((60 * patience))); do
  now=$(gpus_of "$fifth")
  [ -n "$now" ] && [ "$now" != "$at" ] && break
  sleep 0.25
done
[ -n "$now" ] && [ "$now" != "$at" ] || fail "the job stays on a bad GPU: $now"
"$starling" topology state | grep -q "^$server .* no *$((2 * server))\$" || fail "topology state: $("$starling" topology state)"
"$starling" top --json | tr -d ' \n' | grep -q "\"bad_gpus\":\[$((2 * server))\]" || fail "top does not show it"
wait_job "$fifth" finished
[ "$(grep -c '^end fifth' runs)" -eq 1 ] || fail "fifth: $(cat runs)"
rm flock/nodes/executor-$server/health
sleep 2
"$starling" top --json | tr -d ' \n' | grep -q "\"bad_gpus\":\[$((2 * server))\]" || fail "the GPU came back without a quiet minute"
kill -INT $up
wait $up || fail "up must stop cleanly"
echo "all right"
