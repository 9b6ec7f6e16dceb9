#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an event costs against the size of the cluster, and how long large data centres take to load; docs/results/scale.md
# is made from it.
#   bench/scale.sh [OUT] [FILTER]     OUT: scale.out by default; FILTER: of benchmarks, a regular expression
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-scale.out}
filter=${2:-.}
build=build/bench
cmake --preset bench >/dev/null
cmake --build --preset bench --target starling scale_bench
mkdir -p "$out"
starling=$build/launch/starling

"$starling" topology generate leaf-spine --servers 12500 --gpus 8 --rack 16 -o "$out/leaf-spine-100k.yaml" >/dev/null
TIMEFORMAT='%R s wall, %U s user, %S s system'
for file in "$out/leaf-spine-100k.yaml" examples/topologies/hundred-thousand-gpus.yaml; do
  echo "== $file"
  time "$starling" topology check "$file"
done

"$build/bench/scale_bench" --benchmark_filter="$filter" --benchmark_out="$out/scale.json" --benchmark_out_format=json
python3 bench/scale_plot.py "$out/scale.md" "$out/scale.svg" "$out/scale.json"
