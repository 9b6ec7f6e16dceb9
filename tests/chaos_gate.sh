#!/usr/bin/env bash
# The gate of every test run: seeds 1 to 1000 of `starling chaos sim`, all kinds of faults. Seeds that are known to fail
# and not mended yet are left out by number, and named here with what they break; docs/reliability.md says what is known.
#   tests/chaos_gate.sh PROGRAM
set -uo pipefail
starling=$1
last=1000
open=(133   # L7
      661   # S16
      685   # L1: a machine that never comes back
      808)  # L1: the same
outcome=0
first=1
for seed in "${open[@]}" $((last + 1)); do
  if [ "$seed" -gt "$first" ]; then
    echo "-- seeds $first to $((seed - 1))"
    "$starling" chaos sim --first-seed "$first" --seeds $((seed - first)) --jobs 2 --shrink 20 --quiet || outcome=1
  fi
  first=$((seed + 1))
done
echo "-- open: seeds ${open[*]}"
exit $outcome
