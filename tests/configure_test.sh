#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock that is there changes by commands that say so: daemons begin anew one by one, another policy, a new program; a second `up` that
# says something else is refused.
#   tests/configure_test.sh PROGRAM
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
begin "$1"
logs=(up.log 'flock/nodes/*/log')
cp "$starling" here
"$starling" topology generate flat --servers 2 --gpus 2 -o cluster.yaml 2>/dev/null
"$starling" topology generate flat --servers 3 --gpus 2 -o larger.yaml 2>/dev/null
starling=$work/here
up_ready --topology cluster.yaml --agents 2 --servers-per-executor 1
served() { for a in 0 1; do grep -q "serving with policy $1" "flock/nodes/agent-$a/log" || fail "agent-$a does not go by $1: $(tail -3 "flock/nodes/agent-$a/log")"; done; }

echo "-- a second up that says something else"
refused() { # TEXT OPTION...
  local text=$1 code=0
  shift
  "$starling" up "$@" >again.txt 2>&1 || code=$?
  [ $code -eq 2 ] || fail "up $*: exit code $code: $(cat again.txt)"
  grep -qF -- "$text" again.txt || fail "up $*: no '$text' in $(cat again.txt)"
}
refused "is up already, since 20"
refused "(process $(head -1 flock/supervisor/in-use)); 'starling top' shows it, 'starling restart' takes a new program to it, 'starling down' ends it"
refused "what was asked for is what it has" --policy starling --agents 2 --topology cluster.yaml
refused "is not changed by this command: it was asked for --policy tetris, which is starling; --agents 3, which is 2" --policy tetris --agents 3
refused "'starling configure' changes policy, speed model and servers" --topology larger.yaml
kill -INT $up || fail "up is gone, exit code $(wait $up; echo $?)"
wait $up || fail "up must end well"
refused "--policy tetris, which is starling" --policy tetris
refused "--agents 3, which is 2" --agents 3
refused "another data centre" --topology larger.yaml
up_ready --topology cluster.yaml --agents 2

echo "-- all daemons begin anew, jobs go on"
job=$("$starling" submit --name long -- sh -c "echo x >>$work/starts; while [ ! -e $work/enough ]; do sleep 0.1; done" | head -1)
wait_for 10 x starts
"$starling" restart >restart.txt 2>err.txt || fail "restart: $(cat err.txt)"
[ "$(grep -c "ready again after" restart.txt)" -eq 4 ] || fail "restart says: $(cat restart.txt)"
grep -q "executor-1: ready again" restart.txt || fail "restart says: $(cat restart.txt)"
for n in agent-0 agent-1 executor-0 executor-1; do grep -q " life 3, [0-9]* records recovered" "flock/nodes/$n/log" || fail "$n is in its old life"; done

echo "-- another policy"
served starling
"$starling" configure | grep -q "policy starling" || fail "configure says: $("$starling" configure)"
code=0
"$starling" configure --policy tetri >out.txt 2>&1 || code=$?
[ $code -eq 2 ] || fail "a policy that there is not: exit code $code"
"$starling" configure --policy tetris >out.txt 2>&1 || fail "configure: $(cat out.txt)"
served tetris
[ "$(wc -l <starts)" -eq 1 ] || fail "the job was started $(wc -l <starts) times"

echo "-- a new program, put where the old one is"
cp here new && mv new here
kill -KILL "$(agent_pid 0)"
wait_for 10 "starting agent-0 again" up.log
for _ in $(seq 100); do pid=$(agent_pid 0) && break; sleep 0.1; done
[ "$(readlink "/proc/$pid/exe")" = "$work/here" ] || fail "agent-0 runs $(readlink "/proc/$pid/exe")"
touch enough
wait_finished 20 "$job"
[ "$(wc -l <starts)" -eq 1 ] || fail "the job was started $(wc -l <starts) times"

echo "-- of a flock that is down"
kill -INT $up || fail "up is gone, exit code $(wait $up; echo $?)"
wait $up || fail "up must end well"
code=0
"$starling" restart >out.txt 2>&1 || code=$?
[ $code -eq 1 ] || fail "restart of what is down: $code: $(cat out.txt)"
grep -q "is not up" out.txt || fail "restart says: $(cat out.txt)"
"$starling" configure --policy fifo || fail "configure of what is down"
up_ready
served fifo
echo "all right"
