#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a daemon does when the disk is full or another process has its state:
#   tests/daemon_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs=('*.log')
begin "$1"
"$starling" topology generate flat --servers 1 --gpus 4 --cpus 100000 -o one.yaml 2>/dev/null || fail "no topology"
up_ready --flock flock --topology one.yaml --agents 1
grep -q 'the topology gives this machine .*100000 CPUs.* can be seen' up.log || fail "nothing about CPUs: $(cat up.log)"

echo "-- a second agent on one state directory"
"$starling" agent --config flock/nodes/agent-0/config.json 2>err.txt
[ $? -eq 2 ] || fail "a second agent must be refused with 2"
grep -q 'is locked by process' err.txt || fail "the refusal does not say why: $(cat err.txt)"
[ "$(wc -l <err.txt)" -eq 1 ] || fail "more than one message: $(cat err.txt)"
kill -INT $up
wait $up

echo "-- what lets chaos live reach into daemons is refused in every other flock"
for word in MEMBERS=other.json STATE=etcd://127.0.0.1:1 TIMERS='orphan 1' FRAME_FAULTS=faults; do
  for command in "agent --config flock/nodes/agent-0/config.json" "executor --config flock/nodes/executor-0/config.json" jobs; do
    # shellcheck disable=SC2086
    env "STARLING_$word" "$starling" $command >out.txt 2>err.txt
    [ $? -eq 2 ] || fail "STARLING_$word $command: not refused with 2"
    [ "$(grep -c "STARLING_${word%%=*} is set in the environment" err.txt)" -eq 1 ] || fail "STARLING_$word $command: $(cat err.txt)"
  done
done

echo "-- what its earlier life leaves has the state for a moment still"
touch late.log
flock flock/nodes/agent-0/state/in-use sleep 1.5 &
holder=$!
started+=($holder)
for _ in $(seq 100); do flock --nonblock flock/nodes/agent-0/state/in-use true || break; sleep 0.05; done
"$starling" agent --config flock/nodes/agent-0/config.json 2>late.log &
late=$!
started+=($late)
wait_for 10 "serving with policy" late.log
kill -0 $holder 2>/dev/null && fail "it serves while another process has its state"
kill $late
wait $late || fail "it must stop cleanly"

echo "-- a full disk"
# RLIMIT_FSIZE stands for the disk: with SIGXFSZ ignored a write beyond it fails as one on a full disk does.
(trap '' XFSZ; ulimit -f 96; exec "$starling" agent --config flock/nodes/agent-0/config.json) 2>agent.log &
agent=$!
"$starling" executor --config flock/nodes/executor-0/config.json 2>executor.log &
started+=($!)
acknowledged=()
for _ in $(seq 200); do
  kill -0 $agent 2>/dev/null || break
  id=$(timeout 10 "$starling" submit --gpus 1 -- true 2>/dev/null) && acknowledged+=("$id")
done
kill -0 $agent 2>/dev/null && fail "the agent survived ${#acknowledged[@]} jobs on a full disk"
wait $agent
code=$?
[ $code -eq 74 ] || fail "a full disk must end the agent with 74, not $code: $(tail -3 agent.log)"
[ ${#acknowledged[@]} -gt 0 ] || fail "no job was acknowledged before the disk was full"

echo "-- and the disk has room again"
"$starling" agent --config flock/nodes/agent-0/config.json 2>>agent.log &
started+=($!)
wait_finished 20 "${acknowledged[@]}"
echo "all right: ${#acknowledged[@]} acknowledged jobs finished"
