#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock whose one disk, with state, logs and temporary files of all daemons, is full to its last byte: jobs are seen,
# explained and cancelled, daemons start again, nothing new is accepted; with room all goes on, nothing lost or twice:
#   tests/full_disk_test.sh PATH/TO/starling
# Only root can mount a small disk; without, it is left out and says so.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
begin "$1"
mkdir small
if [ "$(id -u)" -ne 0 ] || ! mount -t tmpfs -o size=48m,mode=700 tmpfs small 2>/dev/null; then
  echo "left out: only root can mount a small disk"
  exit 77
fi
trap 'stop_all; umount -l "$work/small"; rm -rf "$work"' EXIT
export STARLING_FLOCK=$work/small/flock TMPDIR=$work/small
logs=('small/flock/nodes/agent-*/log' 'small/flock/nodes/executor-*/log' up.log)
fill() { dd if=/dev/zero of=small/filler bs=4096 oflag=append conv=notrunc >/dev/null 2>&1; }
daemon() { pgrep -f -- "--config $STARLING_FLOCK/nodes/$1/"; }
# within SECONDS WHAT COMMAND...: it succeeds in that time, or in `patience` times that on a busy machine
within() {
  local begun seconds=$1 what=$2
  shift 2
  begun=$(now)
  while ! "$@" >within.txt 2>&1; do
    [ "$(since "$begun")" -lt $((seconds * 1000 * patience)) ] || fail "$what: $(cat within.txt)"
    fill  # others write there all the time
    sleep 0.1
  done
  echo "$what: $(since "$begun") ms"
}
phase() { "$starling" jobs 2>/dev/null | grep -q "^$1 *$2"; }
gone() { ! kill -0 "$(cat "$1")" 2>/dev/null; }

cat >small/job.sh <<'JOB'
echo x >>"$1.attempts"
echo $$ >"$1.pid"
while [ ! -e "$1.go" ]; do echo "a line of output"; sleep 0.2; done
JOB
"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
"$starling" up --topology four.yaml --agents 2 --servers-per-executor 2 >up.log 2>&1 &
up=$!
started+=($up)
wait_for 60 '^ready' up.log
submit() { "$starling" submit --gpus 2 -- sh "$work/small/job.sh" "$work/$1"; }
# Their marks are on another disk, for this test to see them.
stays=$(submit stays) && ends=$(submit ends) && dies=$(submit dies) && full=$(submit full) || fail "submit"
waits=$("$starling" submit --workers 4 --gpus 2 -- sh -c "[ \$RANK -ne 0 ] || echo x >>$work/waits.attempts") || fail "submit"  # all servers
also=$("$starling" submit --workers 4 --gpus 2 -- true) || fail "submit"
for job in stays ends dies full; do
  for _ in $(seq $((100 * patience))); do [ -s $job.pid ] && break; sleep 0.1; done
  [ -s $job.pid ] || fail "$job does not run"
done
fill

echo "-- the disk is full"
within 3 "jobs" phase "$ends" running
within 3 "explain" "$starling" explain "$waits"
within 3 "top" sh -c '"$1" top | grep -q "^the disk with .*flock is full: no job is accepted"' - "$starling"
within 3 "jobs says so" sh -c '"$1" jobs 2>&1 | grep -q "^starling: the disk with .*flock is full: no job is accepted"' - "$starling"
refused() { ! "$starling" submit --gpus 2 -- true >no.txt 2>&1; }
within 5 "a job is refused" refused
within 5 "cancel of a running job" "$starling" cancel "$ends"
within 15 "its end" phase "$ends" cancelled
gone ends.pid || fail "its process lives"
within 5 "cancel of a waiting job" "$starling" cancel "$also"
within 5 "its end" phase "$also" cancelled
refused || fail "a job is accepted: $(cat no.txt)"
grep -q "takes no job now: .* its disk is full" no.txt || fail "submit does not say why: $(cat no.txt)"

echo "-- daemons that are killed come back"
killed="$(daemon agent-0) $(daemon agent-1) $(daemon executor-0) $(daemon executor-1)"
kill -9 $killed
within 30 "jobs" phase "$stays" running
within 30 "cancel" "$starling" cancel "$dies"
within 30 "its end" phase "$dies" cancelled
gone dies.pid || fail "its process lives"
touch full.go
within 30 "an end by itself" phase "$full" finished
grep -q 'exit code 74' up.log && fail "a daemon could not write: $(cat up.log)"

echo "-- there is room"
rm small/filler
fill() { :; }
within 60 "a job" "$starling" submit --wait -- true
touch stays.go
wait_finished 60 "$stays" "$waits"
for job in stays ends dies full waits; do
  [ "$(wc -l <$job.attempts)" -eq 1 ] || fail "$job ran $(wc -l <$job.attempts) times"
done
"$starling" jobs >jobs.txt || fail "jobs"
[ "$(grep -c " cancelled " jobs.txt)" -eq 3 ] || fail "$(cat jobs.txt)"
kill -INT $up
wait $up || fail "up does not end well"
echo "all right"
