#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Faults on real processes: a minute with journals in SQLite, three quarters with three members of etcd where
# that is installed; and that the audit and the clean-up would notice and act.
#   tests/chaos_live_test.sh PATH/TO/starling [SECONDS of faults, 60]
set -u
starling=$(realpath "$1")
seconds=${2:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
fail() { echo "FAILED: $*" >&2; exit 1; }
minutes() { awk "BEGIN { print $1 / 60 }"; }

echo "-- scenarios are checked"
printf 'name: x\nfaults:\n  - {fault: kil, who: any agent, every: 5s}\n' >"$work/bad.yaml"
"$starling" chaos live "$work/bad.yaml" --check >"$work/out" 2>&1
[ $? -eq 2 ] || fail "a wrong scenario must end with 2: $(cat "$work/out")"
grep -q "bad.yaml:3:13: there is no fault 'kil'; did you mean 'kill'?" "$work/out" || fail "$(cat "$work/out")"
"$starling" chaos live --list | grep -q '^everything ' || fail "--list lacks everything"

echo "-- what cannot be done here is said before the run, not after it"
mkdir "$work/alone" && cp "$starling" "$work/alone/starling" # without the libraries of the faults
printf 'name: full\nflock: {agents: 1, executors: 1}\nlength: 60s\nfaults:\n  - {fault: disk-full, who: any agent, every: 1s, for: 1s}\n' >"$work/full.yaml"
"$work/alone/starling" chaos live "$work/full.yaml" -q >/dev/null 2>"$work/err" &
driver=$!
for _ in $(seq 300); do grep -q 'left out: disk-full: libstarling_disk_faults.so is not beside the program' "$work/err" && break; kill -0 $driver || break; sleep 0.1; done
kill -0 $driver 2>/dev/null || fail "it is said at the end only: $(cat "$work/err")"
kill -INT $driver
wait $driver 2>/dev/null
grep -q 'left out: disk-full' "$work/err" || fail "$(cat "$work/err")"

echo "-- two jobs on one GPU, and two attempts of one job, are caught"
mkdir -p "$work/job/gpus" "$work/job/ranks"
job() {  # JOB ATTEMPT GPU SECONDS
  STARLING_JOB=$1 STARLING_ATTEMPT=$1/1/1.$2 STARLING_RUN=x:y:0 RANK=0 WORLD_SIZE=1 CUDA_VISIBLE_DEVICES=$3 \
    STARLING_WORKER_GPUS=0 "$starling" chaos job --dir "$work/job" --seconds "$4"
}
job a 1 5 20 2>/dev/null &
for _ in $(seq 200); do grep -qs '^start' "$work/job/records" && break; sleep 0.05; done
first=$(awk '/^start/ { print $9 }' "$work/job/records")
job b 1 5 0
[ $? -eq 3 ] || fail "a GPU that is taken must be refused"
grep -q "^taken .* b b/1/1.1 .* a a/1/1.1 $first\$" "$work/job/records" || fail "$(cat "$work/job/records")"
job a 2 6 0
[ $? -eq 3 ] || fail "a second attempt must be refused"
grep -q "^twice .* a a/1/1.2 .* a a/1/1.1 $first\$" "$work/job/records" || fail "$(cat "$work/job/records")"
kill -9 "$first"
wait
job b 2 5 0 || fail "a lock outlived its process"

echo "-- nothing outlives a driver that is killed, not even what is frozen"
printf 'name: frozen\nflock: {agents: 2, executors: 2}\nlength: 60s\nfaults:\n  - {fault: stop, who: all nodes, at: 1s, for: 50s}\n' >"$work/frozen.yaml"
"$starling" chaos live "$work/frozen.yaml" --keep-dir "$work/killed" -q >/dev/null 2>&1 &
driver=$!
left() { grep -lzs -- "--config" /proc/[0-9]*/cmdline 2>/dev/null | while read -r f; do grep -qzs "$work/killed" "$f" && echo "$f"; done; }
state() { grep -h '^State:' $(left | sed 's/cmdline/status/') /dev/null 2>/dev/null | grep -c 'T (stopped)'; }
for _ in $(seq 600); do [ "$(state)" -eq 4 ] && break; sleep 0.1; done
[ "$(state)" -eq 4 ] || fail "the daemons were not frozen"
kill -9 $driver
wait $driver 2>/dev/null
for _ in $(seq 200); do [ -z "$(left)" ] && break; sleep 0.1; done
[ -z "$(left)" ] || fail "left behind: $(left)"

echo "-- what failed is told in order, and how to have it again"
printf 'name: short\nflock: {agents: 1, executors: 1}\nlength: 4s\nfaults:\n  - {fault: kill, who: any executor, at: 1s}\nexpect: {kills: 1000}\n' >"$work/short.yaml"
"$starling" chaos live "$work/short.yaml" --keep-dir "$work/short" -q >"$work/out" 2>"$work/err"
[ $? -eq 1 ] || fail "what was expected did not happen, and that is no failure: $(cat "$work/out" "$work/err")"
grep -q "^all that happened, in order: $work/short/timeline.txt\$" "$work/out" || fail "no timeline: $(cat "$work/out")"
grep -q '^ *[0-9.]* + kill executor-0' "$work/short/timeline.txt" && grep -q '^ *[0-9.]* ! ' "$work/short/timeline.txt" || fail "$(head -50 "$work/short/timeline.txt")"
again=$(sed -n 's/^the same faults again: starling //p' "$work/out")
[ -n "$again" ] || fail "no command to have it again: $(cat "$work/out")"
# shellcheck disable=SC2086
"$starling" $again -q >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "^the same faults again: starling $again\$" "$work/out" || fail "$again: $(cat "$work/out" "$work/err")"

run() {  # STATE SECONDS
  echo "-- $2 s of faults, state in $1"
  "$starling" chaos live gate --state "$1" --minutes "$(minutes "$2")" --keep-dir "$work/$1" >"$work/$1.txt" 2>"$work/$1.err"
  local status=$?
  cat "$work/$1.txt"
  if [ $status -ne 0 ]; then
    tail -5 "$work/$1.err" >&2
    for log in "$work/$1"/flock/nodes/*/log; do echo "== $log"; tail -5 "$log"; done >&2
    fail "chaos live ended with $status"
  fi
}
run sqlite "$seconds"
if command -v etcd >/dev/null; then
  run etcd $((seconds * 3 / 4))
else
  echo "skipped: takeovers: no etcd is installed; 'launch/setup --tests' installs it"
fi
echo "all right"
