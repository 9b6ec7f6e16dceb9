#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a job runs on must be gone before it runs elsewhere, whoever can no longer do anything about it: an executor that
# stands still, a rack that is cut off with its agent, a machine that never comes back. With short timers
# (docs/chaos.md, orphan); tests/nightly has the real ones.
#   tests/chaos_cut_test.sh PATH/TO/starling [SCENARIO...]
set -u
starling=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- frozen-executor lost-machine rack-cut
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
for scenario in "$@"; do
  if [ "$scenario" = rack-cut ] && ! command -v etcd >/dev/null; then
    echo "skipped: rack-cut: no etcd is installed; 'launch/setup --tests' installs it"
    continue
  fi
  echo "-- $scenario"
  if ! "$starling" chaos live "$scenario" --keep-dir "$work/$scenario" -q >"$work/$scenario.txt" 2>&1; then
    cat "$work/$scenario.txt" >&2
    for log in "$work/$scenario"/flock/nodes/*/log; do echo "== $log"; tail -8 "$log"; done >&2
    echo "FAILED: $scenario" >&2
    exit 1
  fi
  grep -E "^(scenario|finished|attempts|[0-9]+ violations)" "$work/$scenario.txt"
done
echo "all right"
