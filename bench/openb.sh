#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The measurements of docs/results/openb.md: Alibaba's openb pods (2023) on its nodes with every packing policy.
#   bench/openb.sh DATA [OUT]     DATA: the published data folder; OUT: openb.out by default
# $STARLING names the program (default build/release/launch/starling, built first).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -ge 1 ] || { echo "bench/openb.sh: give the published data folder; it holds alibaba_openb2023/" >&2; exit 2; }
openb=$1/alibaba_openb2023
out=${2:-openb.out}
nodes=$openb/openb_node_list_all_node.csv
[ -f "$nodes" ] || { echo "bench/openb.sh: $nodes is missing" >&2; exit 2; }
if [ -z "${STARLING:-}" ]; then
  cmake --preset release >/dev/null
  cmake --build --preset release --target starling
  STARLING=build/release/launch/starling
fi
mkdir -p "$out"
policies="fgd best-fit dot-product gpu-packing gpu-clustering random worst-fit"
list() { echo "$openb/openb_pod_list_$1.csv.gz"; }

# Median, least and most of the numbers on stdin.
spread() { sort -g | awk '{v[NR] = $1} END {printf "%.0f (%.0f to %.0f)\n", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[1], v[NR]}'; }
field() { grep -o "\"$1\": [-0-9.e]*" | grep -o '[-0-9.e]*$'; }

for jobs in 3255 8152; do
  echo "== the first $jobs pods of the default list, in its order: pods/s of placing, and of the whole process with its CSV; 5 runs"
  for policy in $policies; do
    place='' whole=''
    for run in 1 2 3 4 5; do
      began=$(date +%s%N)
      "$STARLING" pack --nodes "$nodes" --pods "$(list default)" --jobs $jobs --policy $policy --seed $run --json --quiet \
        --out "$out/$policy-$jobs.csv" >"$out/$policy-$jobs.json"
      ended=$(date +%s%N)
      place+="$(field pods_per_s <"$out/$policy-$jobs.json")"$'\n'
      whole+="$((jobs * 1000000000 / (ended - began)))"$'\n'
    done
    printf '%-15s %-32s %s\n' $policy "$(printf %s "$place" | spread)" "$(printf %s "$whole" | spread)"
  done
  "$STARLING" pack --nodes "$nodes" --pods "$(list default)" --jobs $jobs --policy all --quiet
done

for name in default gpuspec33 multigpu20; do
  echo "== $name, shuffled, inflated to 130 % of all GPUs: mean, least and most of 10 seeds of the GPUs left, fragmented, and pods/s"
  for seed in $(seq 42 51); do
    "$STARLING" pack --nodes "$nodes" --pods "$(list $name)" --order shuffle --inflate 1.3 --policy all --seed "$seed" --json --quiet
  done >"$out/$name-inflated.json"
  for policy in $policies; do
    printf '%-15s' $policy
    for key in unallocated_gpus fragmented_gpus pods_per_s; do
      grep -A 12 "\"policy\": \"$policy\"" "$out/$name-inflated.json" | field $key |
        awk '{s += $1; if (NR == 1 || $1 < a) a = $1; if ($1 > b) b = $1} END {printf "  %8.1f (%.1f to %.1f)", s / NR, a, b}'
    done
    echo
  done
done
"$STARLING" pack --nodes "$nodes" --pods "$(list default)" --order shuffle --inflate 1.3 --policy all --seed 42 --quiet \
  --out "$out/events.csv.gz" --plot "$out/openb.svg" >/dev/null
