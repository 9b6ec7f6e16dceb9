#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What agents are told of speeds on a real flock: they learn from what runs, keep it over a restart, and with weights
# that cannot be used fall back to the analytic model, count it and say so:
#   tests/speed_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
weights=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../interference/weights/interference.weights")
begin "$1"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
"$starling" topology generate flat --servers 2 --gpus 4 --gpu-type V100 -o v100.yaml 2>/dev/null || fail "no topology"
# bring_up SPEED [OPTION...]
bring_up() {
  local speed=$1
  shift
  rm -rf flock up.log
  "$starling" up --topology v100.yaml --launcher emulated --physics full --speedup 600 --policy lif:threshold=0.1 \
    --speed "$speed" "$@" >up.log 2>&1 &
  up=$!
  started+=($up)
  wait_for 60 '^ready: ' up.log
}
take_down() {
  kill "$up"
  wait "$up" 2>/dev/null
}
# of_top FIELD: of the first agent's speed model
of_top() { "$starling" top --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["agents"][0]["speed"][sys.argv[1]])' "$1"; }
# load N: jobs of three models for ever, more than there are GPUs
load() {
  for i in $(seq "$1"); do
    case $((i % 3)) in 0) model=resnet18 ;; 1) model=vgg16 ;; *) model=bert-base ;; esac
    printf -- '- {name: j%d, model: %s, duration_s: 400000}\n' "$i" $model
  done >jobs.yaml
  "$starling" submit jobs.yaml >/dev/null || fail "submit"
}
# observed AT_LEAST
observed() {
  for _ in $(seq 240); do [ "$(of_top observed 2>/dev/null || echo 0)" -ge "$1" ] && return 0; sleep 0.25; done
  fail "$(of_top observed) speeds were learned from, not $1: $("$starling" top)"
}

echo "-- an agent learns from measured speeds, and goes on from there after a kill"
bring_up learned
load 12
observed 100
[ "$(of_top model)" = learned ] && [ "$(of_top fallbacks)" = 0 ] && [ "$(of_top refused)" = 0 ] || fail "health: $("$starling" top --json)"
"$starling" top | grep -q 'learned from' || fail "top: $("$starling" top)"
for _ in $(seq 80); do [ -s flock/nodes/agent-0/state/speed-0 ] && break; sleep 0.25; done
[ -s flock/nodes/agent-0/state/speed-0 ] || fail "nothing is kept"
kill -9 "$(agent_pid 0)"
wait_for 30 'the speed model goes on from' flock/nodes/agent-0/log
observed 101
take_down

echo "-- what is kept and damaged is said and left behind"
head -c 100 flock/nodes/agent-0/state/speed-0 >cut && cp cut flock/nodes/agent-0/state/speed-0
up_ready
wait_for 10 'speed-0: what the speed model had learned: .*cut short; learning anew' flock/nodes/agent-0/log
take_down

# Truncated, foreign, one number that is none: what a flock has used goes bad, and it comes up all the same.
head -c 20000 "$weights" >truncated.weights
echo 'these are no weights' >foreign.weights
python3 - "$weights" <<'PY'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
data[-64:-60] = struct.pack('<f', float('nan'))
open('nan.weights', 'wb').write(data)
PY
cp "$weights" used.weights
bring_up learned:used.weights
load 12
take_down
for bad in truncated foreign nan; do
  echo "-- $bad weights: the analytic model answers, counted and visible"
  cp $bad.weights used.weights
  : >flock/nodes/agent-0/log
  up_ready
  wait_for 10 'speeds are told by the analytic model: .*used.weights' flock/nodes/agent-0/log
  for _ in $(seq 80); do [ "$(of_top fallbacks)" -gt 0 ] && break; sleep 0.25; done
  [ "$(of_top fallbacks)" -gt 0 ] && [ "$(of_top model)" = analytic ] || fail "$bad: $("$starling" top)"
  of_top trouble | grep -q used.weights || fail "$bad: trouble: $(of_top trouble)"
  "$starling" top | grep -q 'agent-0: speed model: .*used.weights' || fail "$bad: $("$starling" top)"
  "$starling" jobs | grep -q running || fail "$bad: nothing runs"
  take_down
done

echo "-- a wrong choice is refused at once"
rm -rf flock
for wrong in guess learned: learned:nowhere.weights learned:truncated.weights learned:foreign.weights learned:nan.weights; do
  "$starling" up --topology v100.yaml --speed $wrong >up.log 2>&1
  [ $? -eq 2 ] && grep -q -- '--speed' up.log || fail "$wrong: $(cat up.log)"
done
"$starling" up --topology v100.yaml --speed physics >up.log 2>&1
[ $? -eq 2 ] && grep -q 'only emulated jobs' up.log || fail "physics: $(cat up.log)"
