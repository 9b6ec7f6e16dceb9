#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How long a partition is without an agent when its own is killed, and when that comes back: a flock of three
# agents with its state in a one-member etcd, agent 1 killed and started again and again.
#   bench/takeover.sh STARLING [REPEATS]     STARLING: the program; REPEATS: 10 by default
set -euo pipefail
[ $# -ge 1 ] || { echo "bench/takeover.sh: give the path of the program starling" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/../tests/flock.sh"
repeats=${2:-10}
begin "$1"
start_etcd
"$starling" topology generate flat --servers 3 --gpus 4 -o three.yaml 2>/dev/null
up_ready --topology three.yaml --agents 3 --launcher emulated --no-restart --state "etcd://127.0.0.1:$port"

submit() {  # to agent 1, whose number is what is left of the id by 3
  "$starling" submit --id "$(printf '%016x%016x' $$ $((3 * (RANDOM * 32768 + RANDOM) + 1)))" -- true >/dev/null 2>&1
}
# all_served_by HOST: agent 1 lives there and has heard all its GPUs
all_served_by() {
  "$starling" top --json 2>/dev/null | tr -d ' \n' | grep -q "\"agent\":1,[^}]*\"host\":\"$1\"[^}]*\"quarantined\":0,"
}
echo "killed: a job accepted after, all GPUs reconciled after; started again: served by its own agent, reconciled after (ms)"
for _ in $(seq "$repeats"); do
  sleep 7
  kill -9 "$(pgrep -f -- "--config $work/flock/nodes/agent-1/")"
  begin=$(date +%s%N)
  until submit; do :; done
  accepted=$(since "$begin")
  until all_served_by agent-2; do :; done
  reconciled=$(since "$begin")
  "$starling" agent --config "$work/flock/nodes/agent-1/config.json" >>again.log 2>&1 &
  started+=($!)
  begin=$(date +%s%N)
  until all_served_by agent-1; do :; done
  echo "$accepted $reconciled $(since "$begin")" | tee -a figures
done
for column in 1 2 3; do
  cut -d ' ' -f $column figures | sort -n | awk -v c=$column '
    { x[NR] = $1 }
    END { print "column " c ": median " x[int((NR + 1) / 2)] " ms, least " x[1] " ms, most " x[NR] " ms" }'
done
