#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What faults cost on real processes, and a long run of all of them:
#   bench/chaos_live.sh STARLING [MINUTES [OUT]]    MINUTES of faults in the long run, 30 by default; OUT: where reports go
# One agent of four dead for good under more work than there are GPUs: jobs started a second before and after the
# takeover, three times. A hundred times the normal rate of submits for ten seconds. All kinds of faults at random.
set -euo pipefail
[ $# -ge 1 ] || { echo "bench/chaos_live.sh: give the path of the program starling" >&2; exit 2; }
starling=$(realpath "$1")
minutes=${2:-30}
out=$(mkdir -p "${3:-chaos.out}" && realpath "${3:-chaos.out}")
status=0
run() {  # NAME ARGUMENTS...
  local name=$1
  shift
  echo "== $name: starling chaos live $*"
  "$starling" chaos live "$@" --page "$out/$name.html" >"$out/$name.txt" 2>"$out/$name.log" || status=$?
  cat "$out/$name.txt"
}
for seed in 1 2 3; do run "dead-agent-$seed" dead-agent --seed $seed; done
run submit-storm submit-storm
run everything everything --minutes "$minutes"
exit $status
