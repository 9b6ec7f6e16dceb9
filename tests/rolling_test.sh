#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock whose daemons are restarted one by one from protocol 1 to 5 and back while jobs arrive and run:
#   tests/rolling_test.sh PATH/TO/starling [PATH/TO/OLDER/starling]
# With a second program that one is the first state, instead of this one with --protocol 1, and there is no way back:
# it does not know the records of this one's journals.
set -u
starling=$(realpath "$1")
older=$(realpath "${2:-$1}")
work=$(mktemp -d)
declare -A pids
stop_all() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  wait 2>/dev/null
}
trap 'stop_all; rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $*" >&2
  for log in *.log; do echo "== $log"; tail -8 "$log"; done >&2
  exit 1
}
cd "$work" || exit 1
export TMPDIR=$work STARLING_FLOCK=$work/flock
"$starling" topology generate flat --servers 3 --gpus 4 -o three.yaml 2>/dev/null || fail "no topology"
"$older" up --topology three.yaml --agents 3 --servers-per-executor 1 >up.log 2>&1 &
up=$!
for _ in $(seq 200); do grep -q '^ready: ' up.log && break; sleep 0.1; done
grep -q '^ready: ' up.log || fail "the flock is not ready"
kill -INT $up
wait $up

# start NODE PROTOCOL
start() {
  local program=$starling options=(--protocol "$2")
  [ "$2" -eq 1 ] && program=$older && [ "$older" != "$starling" ] && options=()
  "$program" "${1%-*}" --config "flock/nodes/$1/config.json" "${options[@]}" 2>>"$1.log" &
  pids[$1]=$!
}
# ready: every agent answers and no GPU waits for its executor
ready() {
  for _ in $(seq 200); do
    "$starling" top --json 2>/dev/null | tr -d ' \n' >top.json
    [ "$(grep -o '"quarantined":0,' top.json | wc -l)" -eq 3 ] && return 0
    sleep 0.1
  done
  fail "not ready again: $(cat top.json)"
}
# job NAME SECONDS GPUS WORKERS: every start and every end of a worker is a line of `runs`, with its attempt
job() {
  local id
  id=$(timeout 30 "$starling" submit --gpus "$3" --workers "$4" -- \
    sh -c "echo start $1 \$STARLING_ATTEMPT >>$work/runs; sleep $2; echo end $1 \$STARLING_ATTEMPT >>$work/runs") || return 1
  echo "$1 $id $4" >>jobs
}
nodes="agent-0 agent-1 agent-2 executor-0 executor-1 executor-2"
for node in $nodes; do start "$node" 1; done
ready
touch jobs runs

echo "-- jobs arrive while all are restarted, to protocol 5 and (with one program) back"
(
  n=0
  while [ ! -e enough ]; do
    n=$((n + 1))
    if [ $((n % 5)) -eq 0 ]; then job "gang$n" 1 3 2; else job "single$n" $((n % 4)) 1 1; fi
    sleep 0.2
  done
) &
pids[jobs]=$!
sleep 2
for protocol in 5 4 3 2 1; do
  [ $protocol -lt 5 ] && [ "$older" != "$starling" ] && break
  for node in $nodes; do
    kill "${pids[$node]}"
    wait "${pids[$node]}" || fail "$node did not stop cleanly"
    start "$node" $protocol
    ready
  done
  grep -o '"protocol":[0-9]*' top.json | sort | uniq -c | sed 's/^/   /'
  [ "$(grep -o "\"protocol\":$protocol" top.json | wc -l)" -eq 3 ] || fail "not all agents speak protocol $protocol"
  # On the way back an agent refuses what was said to its life before, and is told again.
  refused=$(grep -o '"refused_frames":[0-9]*' top.json | grep -vc ':0$')
  [ $protocol -lt 5 ] || [ "$refused" -eq 0 ] || fail "frames were refused: $("$starling" top)"
done
touch enough
wait "${pids[jobs]}"
unset 'pids[jobs]'

echo "-- every job ended, and no worker ended twice"
accepted=$(wc -l <jobs)
[ "$accepted" -ge 10 ] || fail "only $accepted jobs were accepted"
for _ in $(seq 240); do
  "$starling" jobs >list 2>/dev/null
  [ "$(grep -c ' finished ' list)" -ge "$accepted" ] && break
  sleep 0.25
done
while read -r name id workers; do
  grep -q "^$id *finished" list || fail "job $name is lost: $(grep "$id" list)"
  # An executor that stops ends what it has, and the whole gang runs again, although a worker elsewhere may have been done. So it is
  # attempts that count: one and no more has all workers' ends, and no worker of any ended twice.
  ends=$(grep "^end $name " runs | sort | uniq -c)
  [ "$(echo "$ends" | awk -v n="$workers" '$1 == n' | wc -l)" -eq 1 ] || fail "$name ended so: $ends; not once with $workers workers"
  [ "$(echo "$ends" | awk -v n="$workers" '$1 > n' | wc -l)" -eq 0 ] || fail "$name ended so: $ends"
done <jobs
echo "all right: $accepted jobs, $(grep -c ^start runs) starts of workers, $(grep -c ^end runs) ends"
