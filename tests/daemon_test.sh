#!/usr/bin/env bash
# What a daemon does when the disk is full or somebody else has its state:
#   tests/daemon_test.sh PATH/TO/starling
set -u
starling=$(realpath "$1")
work=$(mktemp -d)
daemons=()
stop_all() {
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null; done
  wait 2>/dev/null
}
trap 'stop_all; rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
cd "$work" || exit 1

"$starling" topology generate flat --servers 1 --gpus 4 -o one.yaml 2>/dev/null || fail "no topology"
export STARLING_FLOCK=$work/flock
"$starling" up --flock flock --topology one.yaml --agents 1 >up.log 2>&1 &
up=$!
daemons+=($up)
for _ in $(seq 100); do grep -q '^ready: ' up.log && break; sleep 0.1; done
grep -q '^ready: ' up.log || fail "the flock is not ready: $(cat up.log)"

echo "-- a second agent on one state directory"
"$starling" agent --config flock/nodes/agent-0/config.json 2>err.txt
[ $? -eq 2 ] || fail "a second agent must be refused with 2"
grep -q 'is locked by process' err.txt || fail "the refusal does not say why: $(cat err.txt)"
[ "$(wc -l <err.txt)" -eq 1 ] || fail "more than one message: $(cat err.txt)"
kill -INT $up
wait $up
daemons=()

echo "-- what its earlier life leaves has the state for a moment still"
touch late.log
flock flock/nodes/agent-0/state/in-use sleep 1.5 &
daemons+=($!)
sleep 0.3
"$starling" agent --config flock/nodes/agent-0/config.json 2>late.log &
late=$!
daemons+=($late)
for _ in $(seq 100); do grep -q "serving with policy" late.log && break; sleep 0.1; done
grep -q "serving with policy" late.log || fail "it does not wait for its state: $(cat late.log)"
kill $late
wait $late || fail "it must stop cleanly"
daemons=()

echo "-- a full disk"
# RLIMIT_FSIZE stands for the disk: with SIGXFSZ ignored a write beyond it fails as one on a full disk does.
(trap '' XFSZ; ulimit -f 96; exec "$starling" agent --config flock/nodes/agent-0/config.json) 2>agent.log &
agent=$!
"$starling" executor --config flock/nodes/executor-0/config.json 2>executor.log &
daemons+=($!)
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
daemons+=($!)
for _ in $(seq 100); do
  "$starling" jobs >jobs.txt 2>/dev/null
  [ "$(grep -c finished jobs.txt)" -ge ${#acknowledged[@]} ] && break
  sleep 0.2
done
for id in "${acknowledged[@]}"; do
  grep -q "^$id *finished" jobs.txt || fail "acknowledged job $id is lost: $(cat jobs.txt)"
done
echo "all right: ${#acknowledged[@]} acknowledged jobs finished"
