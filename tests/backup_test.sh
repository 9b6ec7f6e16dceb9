#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock is copied at work, and made anew from the copy: every job is accounted for and none runs twice:
#   tests/backup_test.sh PATH/TO/starling
set -u
. "$(dirname "$(realpath "$0")")/flock.sh"
begin "$1"
mkdir runs

"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
up_ready --flock flock --topology four.yaml --agents 2 --servers-per-executor 2

# submit GPUS SECONDS: a job that leaves a line each time that it runs, on how many servers ever
submit() { "$starling" submit --gpus $1 -- sh -c "[ \$RANK != 0 ] || echo run >>$work/runs/\$STARLING_JOB; sleep $2"; }
echo "-- a copy under load"
for i in $(seq 30); do submit $((1 + i % 2)) 0.2 || true; done >ids.txt &
load=$!
sleep 1
submit 2 100 >>long.txt || fail "no long job"
"$starling" backup busy >backup.txt || fail "no backup"
cat backup.txt
wait $load
"$starling" backup --verify busy >/dev/null || fail "the backup is not whole"
[ "$(stat -c %a busy)" = 700 ] || fail "others may read the backup"
[ "$(stat -c %a busy/nodes/agent-0/keys.json)" = 600 ] || fail "others may read the keys"
"$starling" backup busy 2>/dev/null && fail "a backup was written over"
sleep 1

echo "-- a damaged copy is told"
for file in deployment.json nodes/agent-0/state/journal.db nodes/executor-1/state/journal.db; do
  cp -a busy bad
  printf 'x' | dd of=bad/$file bs=1 seek=1000 conv=notrunc 2>/dev/null
  "$starling" backup --verify bad 2>err.txt && fail "$file is damaged, and backup does not say so"
  grep -q "$file" err.txt || fail "what is damaged? $(cat err.txt)"
  rm -rf bad
done
"$starling" restore busy --flock flock 2>err.txt && fail "a flock at work was put aside"
grep -q "runs; 'starling down' first" err.txt || fail "why not: $(cat err.txt)"

echo "-- restored after more has happened"
kill -INT $up
wait $up
"$starling" restore busy --flock flock >restored.txt || fail "not restored"
grep -q "^old copies: agent-0 agent-1;" restored.txt || fail "it does not say what it is: $(cat restored.txt)"
"$starling" agent --config flock/nodes/agent-0/config.json 2>err.txt
[ $? -eq 2 ] || fail "an old copy must end with 2: $(cat err.txt)"
grep -q "is an old copy: it is the backup of .*, and it is not known what happened since" err.txt || fail "$(cat err.txt)"
echo "-- restored once more before it has gone on: as old as it was"
"$starling" restore busy --flock flock >restored.txt || fail "not restored"
grep -q "^old copies: agent-0 agent-1;" restored.txt || fail "it forgot what it is: $(cat restored.txt)"
"$starling" agent --config flock/nodes/agent-1/config.json 2>err.txt
[ $? -eq 2 ] || fail "an old copy must end with 2: $(cat err.txt)"
"$starling" accept-loss --all >accepted.txt || fail "not accepted"
cat accepted.txt
up_ready --flock flock
next=$(submit 2 0.1) || fail "no next"
wait_finished 30 $next
wait_ended
long=$(cat long.txt)
grep -q "^$long *failed" jobs.txt || fail "the job that ran: $(grep "$long" jobs.txt)"
for job in runs/*; do
  [ "$(wc -l <$job)" -eq 1 ] || fail "$job has run $(wc -l <$job) times"
done
echo "-- restored when nothing has happened since"
kill -INT $up
wait $up
"$starling" backup quiet >/dev/null || fail "no backup of a stopped flock"
cp jobs.txt before.txt
"$starling" restore quiet --flock flock >restored.txt || fail "not restored"
grep -q "nothing has happened since" restored.txt || fail "it does not say so: $(cat restored.txt)"
up_ready --flock flock
"$starling" jobs >after.txt
[ "$(awk '{print $1, $2}' before.txt | sort)" = "$(awk '{print $1, $2}' after.txt | sort)" ] ||
  fail "jobs have changed: $(diff before.txt after.txt)"
echo "all right: $(ls runs | wc -l) jobs have run, each once"
