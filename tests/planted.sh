#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plants one known mistake after the other (base/planted.h) and sees which layer of tests finds it.
#   tests/planted.sh                builds the preset plant, tries every bug, prints the table of docs/reliability.md
#   tests/planted.sh --known        each bug only against the test that the table names: a minute in all
#   tests/planted.sh --all          every layer for every bug, not only up to the first that finds it
#   tests/planted.sh NAME...        those alone
# Ends with 1 if a bug is found by nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
all= known=
if [ "${1:-}" = --known ]; then known=1; shift; fi
if [ "${1:-}" = --all ]; then all=1; shift; fi
layers=${STARLING_LAYERS:-tests search chaos store}
if [ -z "${STARLING_PLANT_BUILT:-}" ]; then
  cmake --preset plant >/dev/null
  cmake --build --preset plant --target starling_search agents_test wire_test sim_test store_test
fi
build=build/plant
export STARLING_SOURCE=$PWD
if [ $# -eq 0 ]; then
  mapfile -t bugs < <(sed -n '/kBugNames = {/,/};/p' base/planted.h | grep -o '"[a-z_]*"' | tr -d '"')
else
  bugs=("$@")
fi

# Each prints what found it, or ends with 0: nothing was wrong.
tests() { timeout 300 "$build/agents/agents_test" --abort-after=1 && timeout 120 "$build/bus/wire/wire_test" --abort-after=1; }
search() { timeout 300 "$build/tests/search/starling_search" --depth 3; }
chaos() { timeout 300 "$build/sim/sim_test" --abort-after=1; }
store() { timeout 300 "$build/store/store_test" --abort-after=1; }

what() {  # the first line that says what was wrong
  grep -m1 -E "is violated|TEST CASE:|CHECK|stopped|check failed|S[0-9]+ |L[0-9]+ " "$1" | sed 's/^ *//; s/|/,/g' | cut -c1-110 || true
}

program() {
  case $1 in
    agents_test) echo "$build/agents/$1" ;;
    wire_test) echo "$build/bus/wire/$1" ;;
    store_test) echo "$build/store/$1" ;;
    sim_test) echo "$build/sim/$1" ;;
  esac
}
if [ -n "$known" ]; then
  missed=0
  for bug in "${bugs[@]}"; do
    row=$(grep -m1 -E "^\\| \`$bug\` \\| \`[a-z]+_test\` \"" docs/reliability.md || true)
    test=$(sed -E 's/^[^"]*"([^"]*)".*/\1/' <<<"$row") binary=$(sed -E 's/^[^|]*\|[^|]*\| `([a-z_]+)`.*/\1/' <<<"$row")
    began=$(date +%s%N)
    ended=0
    # A comma would end the name for doctest.
    [ -z "$row" ] || STARLING_BUG=$bug timeout 200 "$(program "$binary")" --abort-after=1 -tc="${test//,/?}" >/dev/null 2>&1 || ended=$?
    if [ "$ended" -eq 124 ]; then
      echo "$bug: \"$test\" has not ended after 200 s"
      missed=1
    elif [ "$ended" -ne 0 ]; then
      printf '%s: found by "%s" in %.1f s\n' "$bug" "$test" "$((($(date +%s%N) - began) / 100000000))e-1"
    else
      echo "$bug: not found by \"$test\""
      missed=1
    fi
  done
  exit "$missed"
fi

echo "| bug | found by | seconds | what it says |"
echo "| --- | --- | --- | --- |"
missed=0
for bug in "${bugs[@]}"; do
  found=
  for layer in $layers; do
    began=$(date +%s%N)
    log=$(mktemp)
    if ! STARLING_BUG=$bug "$layer" >"$log" 2>&1; then
      found=1
      echo "| \`$bug\` | $layer | $(((($(date +%s%N) - began) / 10000000))) | $(what "$log") |" |
        awk -F' [|] ' -v OFS=' | ' '{ $3 = sprintf("%.2f", $3 / 100); print }'
      rm "$log"
      if [ -z "$all" ]; then break; fi
    else
      rm "$log"
    fi
  done
  if [ -z "$found" ]; then echo "| \`$bug\` | nothing | | |"; missed=1; fi
done
exit "$missed"
