#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Agents that run out of file descriptors and get them back, with state in a one-member etcd:
#   tests/files_test.sh PATH/TO/starling
# Ends with 77, which ctest calls skipped, where no etcd is installed.
set -u
command -v prlimit >/dev/null || { echo "skipped: no prlimit (util-linux), which lowers limits"; exit 77; }
command -v etcd >/dev/null || { echo "skipped: no etcd is installed; 'launch/setup --tests' installs it"; exit 77; }
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
begin "$1"
start_etcd
"$starling" topology generate flat --servers 2 --gpus 2 -o two.yaml 2>/dev/null || fail "no topology"
up_ready --topology two.yaml --agents 2 --servers-per-executor 1 --no-restart --state "etcd://127.0.0.1:$port"
for a in 0 1; do host_of $a $a; done
first=$(agent_pid 0) second=$(agent_pid 1)
# files PID N: it may have so many open
files() { prlimit --pid "$1" --nofile="$2:" || fail "prlimit"; }
many=$(prlimit --pid "$second" --nofile --noheadings --output SOFT | tr -d ' ')

echo "-- a partition is taken over by who has descriptors for it, and taken back with them"
sleep 6  # until then agents leave free partitions to their owners
kill -STOP "$second"
wait_for 12 "partition 1: taken over from agent 1" flock/nodes/agent-0/log
files "$second" 30
kill -CONT "$second"
wait_for 10 "waiting: to serve partition 1 needs 40 file descriptors" flock/nodes/agent-1/log
sleep 4
kill -0 "$second" 2>/dev/null || fail "agent-1 has ended"
host_of 1 0
[ "$(grep -c "waiting: to serve" flock/nodes/agent-1/log)" -eq 1 ] || fail "said more than once"
files "$second" "$many"
wait_for 10 "partition 1: given back to agent 1" flock/nodes/agent-0/log
host_of 1 1

echo "-- no agent takes over without, and then one does"
files "$second" $(($(ls "/proc/$second/fd" | wc -l) + 3))
id=$("$starling" submit --id "$(printf '%032x' 2)" --gpus 1 -- sleep 8) || fail "submit"
kill -9 "$first"
wait_for 12 "waiting: to serve partition 0 needs" flock/nodes/agent-1/log
sleep 2
kill -0 "$second" 2>/dev/null || fail "agent-1 has ended"
grep -q "partition 0: taken over" flock/nodes/agent-1/log && fail "taken over without descriptors"
files "$second" "$many"
wait_for 10 "partition 0: taken over from agent 0" flock/nodes/agent-1/log
wait_finished 30 "$id"
kill -INT $up
wait $up || fail "up must stop cleanly"
echo "all right"
