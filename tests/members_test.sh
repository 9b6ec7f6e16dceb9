#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Agents that come and go while jobs wait and run, with state in a one-member etcd:
#   tests/members_test.sh PATH/TO/starling
# Ends with 77, which ctest calls skipped, where no etcd is installed.
set -u
command -v etcd >/dev/null || { echo "skipped: no etcd is installed; 'launch/setup --tests' installs it"; exit 77; }
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
begin "$1"
start_etcd
"$starling" topology generate flat --servers 4 --gpus 4 -o four.yaml 2>/dev/null || fail "no topology"

# job NAME SECONDS GPUS AGENT: its number; every start is a line of `runs`
job() {
  local id
  id=$(printf '%016x%016x' $$ $((4 * (RANDOM * 32768 + RANDOM) + $4)))
  "$starling" submit --id "$id" --gpus "$3" -- sh -c "echo $1 >>$work/runs; sleep $2" || fail "submit $1"
}
once() {
  for name in "$@"; do
    [ "$(grep -c "^$name\$" runs)" -eq 1 ] || fail "$name did not start once: $(sort runs | uniq -c)"
  done
}

echo "-- three agents, four partitions"
"$starling" up --topology four.yaml --agents 3 --partitions 4 2>err.txt
[ $? -eq 2 ] && grep -q 'need --state etcd' err.txt || fail "without etcd: $(cat err.txt)"
up_ready --topology four.yaml --agents 3 --partitions 4 --servers-per-executor 1 --state "etcd://127.0.0.1:$port"
host_of 3 0
[ -z "$(agent_pid 3)" ] || fail "agent-3 runs though it is no member"
"$starling" members list >list.txt || fail "members list"
grep -q '^agent-3 *no *- *-' list.txt || fail "members list: $(cat list.txt)"

echo "-- a fourth agent gets its partition, with a running and a waiting job"
running=$(job running 6 3 3)
wait_for 10 running runs
waiting=$(job waiting 1 4 3)
"$starling" members add | tee add.txt
[ "${PIPESTATUS[0]}" -eq 0 ] || fail "members add"
grep -q '^partition 3: agent-0 -> agent-3' add.txt || fail "nothing moved: $(cat add.txt)"
host_of 3 3
for a in 0 1 2; do host_of $a $a; done
wait_for 2 "given back to agent 3" flock/nodes/agent-0/log
"$starling" jobs --csv >jobs.txt
grep "^$running" jobs.txt | grep -q ',agent-3,agent-3,' || fail "jobs does not show the host: $(cat jobs.txt)"
wait_finished 20 "$running" "$waiting"
once running waiting
"$starling" members add 2>err.txt
[ $? -eq 2 ] && grep -q 'all agents are members' err.txt || fail "a fifth agent: $(cat err.txt)"

echo "-- one is removed: its partition moves at once, and it ends"
long=$(job long 6 3 1)
wait_for 10 long runs
later=$(job later 1 4 1)
pid=$(agent_pid 1)
removed=$(now)
"$starling" members remove agent-1 >remove.txt || fail "members remove: $(cat remove.txt)"
moved=$(since "$removed")
cat remove.txt
echo "moved after $moved ms"
[ "$moved" -lt 2000 ] || fail "the partition moved only after $moved ms"
for _ in $(seq 40); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
kill -0 "$pid" 2>/dev/null && fail "agent-1 has not ended"
wait_for 3 "agent-1 is no member any more and has ended" up.log
new=$(job new 1 1 1)
wait_finished 20 "$long" "$later" "$new"
once long later new
[ -z "$(agent_pid 1)" ] || fail "agent-1 was started again"

echo "-- a member that dies is replaced, and it comes back"
host=$("$starling" top | sed -n 's/^agent-1 *agent-\([0-9]\) .*/\1/p')
still=$(job still 12 3 1)
wait_for 10 still runs
kill -9 "$(agent_pid "$host")"
for _ in $(seq 200); do
  kill -0 $up 2>/dev/null || fail "up has ended"
  "$starling" members list 2>/dev/null | grep -q "^agent-$host *yes *$host 1 *$host 1\|^agent-$host *yes *1 $host *1 $host" && break
  sleep 0.25
done
"$starling" members list
"$starling" members list | grep "^agent-$host " | awk '{exit !($3 == $5 && $4 == $6)}' || fail "agent-$host has not got its partitions back"
wait_finished 30 "$still"
once still
"$starling" members remove 2 >/dev/null || fail "remove 2"
"$starling" members remove 3 >/dev/null || fail "remove 3"
"$starling" members remove 0 2>err.txt
[ $? -eq 2 ] && grep -q 'last member' err.txt || fail "the last member was removed: $(cat err.txt)"
final=$(job final 1 4 2)
wait_finished 20 "$final"
once final
kill -INT $up
wait $up || fail "up must stop cleanly"
echo "all right"
