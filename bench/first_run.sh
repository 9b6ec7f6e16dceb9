#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The measurements of docs/results/first-run.md: Philly's jobs on published data centres with 1, 4 and 8 agents,
# simulated and (one week) live, and the speed of both.
#   bench/first_run.sh DATA [OUT]     DATA: the published data folder; OUT: first-run.out by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -ge 1 ] || { echo "bench/first_run.sh: give the published data folder; it holds philly/jobs.csv.gz" >&2; exit 2; }
data=$1
out=${2:-first-run.out}
starling=build/release/launch/starling
trace=$data/philly/jobs.csv.gz
lingjun=$data/alibaba_lingjun2023/topo.csv
openb=$data/alibaba_openb2023/openb_node_list_all_node.csv
week=(--from 35d --length 7d)
for file in "$trace" "$lingjun" "$openb"; do
  [ -f "$file" ] || { echo "bench/first_run.sh: $file is missing" >&2; exit 2; }
done
cmake --preset release >/dev/null
cmake --build --preset release --target starling
mkdir -p "$out"

simulate() {  # TITLE TOPOLOGY AGENTS NAME OPTION...
  echo "== $1"
  /usr/bin/env time -f "%U s user, %S s system, %M KiB at most" "$starling" sim --topology "$2" --trace "$trace" \
    --policy consolidate --agents "$3" --quiet --out "$out/$4" "${@:5}"
}

"$starling" topology generate leaf-spine --servers 48 --gpus 8 -o "$out/leaf-spine-48x8.yaml"
for agents in 1 4 8; do
  for place in lingjun openb; do
    simulate "all of Philly on $place, $agents agents, simulated" "${!place}" "$agents" "sim-$place-$agents"
    simulate "all of Philly, 24 times as fast, on $place, $agents agents, simulated" "${!place}" "$agents" \
      "sim-$place-x24-$agents" --arrival-speed 24
  done
  for place in "$lingjun" "$out/leaf-spine-48x8.yaml"; do
    echo "== one week of Philly on $(basename "$place"), $agents agents, live and simulated"
    "$starling" run --topology "$place" --trace "$trace" "${week[@]}" --policy consolidate --agents "$agents" \
      --target-seconds 60 --with-sim --out "$out/live-$(basename "$place" | cut -d. -f1)-$agents"
  done
done

echo "== live throughput"
for rate in 1200 500; do "$starling" bench live --rate "$rate" --seconds 10 --agents 4 --quiet; done
