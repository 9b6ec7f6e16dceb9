#!/usr/bin/env bash
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

for agents in 1 4 8; do
  for place in lingjun openb; do
    echo "== simulated: all of Philly on $place, $agents agents"
    /usr/bin/env time -f "%U s user, %M KiB" "$starling" sim --topology "${!place}" --trace "$trace" --policy consolidate \
      --agents "$agents" --quiet --out "$out/sim-$place-$agents"
  done
  echo "== live: one week of Philly on lingjun, $agents agents"
  "$starling" run --topology "$lingjun" --trace "$trace" "${week[@]}" --policy consolidate --agents "$agents" \
    --target-seconds 120 --with-sim --out "$out/live-lingjun-$agents"
done

echo "== one simulated week with FIFO, five times"
for agents in 1 8; do
  for _ in 1 2 3 4 5; do
    /usr/bin/env time -f "$agents agents: %U s user" "$starling" sim --topology "$lingjun" --trace "$trace" "${week[@]}" \
      --policy fifo --agents "$agents" --quiet >/dev/null
  done
done

echo "== live throughput"
"$starling" bench live --rate 1200 --seconds 10 --agents 4 --quiet
"$starling" bench live --rate 500 --seconds 10 --agents 4 --quiet
