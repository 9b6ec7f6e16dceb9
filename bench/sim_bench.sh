#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How many jobs a CPU second simulates, agents, executors, codec and driver included:
#   bench/sim_bench.sh PATH/TO/starling TRACE.csv[.gz]
# The median of five runs each of one and of eight agents on 48 servers of 8 GPUs, whole process, with what
# starting, reading the trace and printing take.
# Goals of a release build: 50,000 jobs a CPU second with one agent, 20,000 with eight.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 PATH/TO/starling TRACE" >&2; exit 2; }
starling=$1 trace=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$starling" topology generate leaf-spine --servers 48 --gpus 8 -o "$folder/topology.yaml" >/dev/null
TIMEFORMAT='%U %S'
for agents in 1 8; do
  for policy in fifo sjf consolidate; do
    all=
    for _ in 1 2 3 4 5; do
      used=$( { time "$starling" sim --topology "$folder/topology.yaml" --trace "$trace" --policy "$policy" \
        --agents "$agents" --json >"$folder/run.json"; } 2>&1 | tail -1 | awk '{print $1 + $2}')
      all="$all $used"
    done
    jobs=$(sed -n 's/.*"jobs_finished": *\([0-9]*\).*/\1/p' "$folder/run.json")
    median=$(tr ' ' '\n' <<<"$all" | awk 'NF' | sort -g | sed -n 3p)
    awk -v j="$jobs" -v s="$median" -v a="$agents" -v p="$policy" \
      'BEGIN { printf "%d agents, %-24s %6d jobs in %.3f CPU s: %.0f jobs/s\n", a, p, j, s, j / s }'
  done
done
