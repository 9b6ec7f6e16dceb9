#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# When jobs start, how often and for how long, on real processes: hold, begin, after, retries, time limits, arrays.
#   tests/job_terms_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs=('flock/nodes/*/log' up.log)
begin "$1"
"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
up_ready --topology four.yaml --agents 2
submit() { "$starling" submit "$@" 2>err.txt || fail "submit $*: $(cat err.txt)"; }
# field JOB NAME: of `jobs --json`
field() { "$starling" jobs --json "$1" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["jobs"][0].get(sys.argv[1]))' "$2"; }
# becomes JOB STATE
becomes() {
  for _ in $(seq $((100 * patience))); do
    [ "$(field "$1" state)" = "$2" ] && return 0
    sleep 0.1
  done
  fail "$1 is $(field "$1" state), not $2: $("$starling" explain "$1")"
}

echo "-- wrong input is one message"
for words in "--after soon:1" "--time-limit x" "--signal USR9@1 --time-limit 9" "--array 3-1" "--retries x" "--begin never" "--signal USR1@5"; do
  status 2 "$starling" submit $words -- true
  [ "$(wc -l <err.txt)" -eq 1 ] || fail "$words: $(cat err.txt)"
done
status 2 "$starling" submit --after ok:deadbeef -- true
says "no agent that answers knows job deadbeef"
status 2 "$starling" submit --follow --array 0-3 -- true
printf 'command: "true"\nretries: 2\nrequeue: no\n' >wrong.yaml
status 2 "$starling" submit wrong.yaml
says "wrong.yaml:1:1: retries"

echo "-- hold, release, requeue, also over a restart of its agents"
held=$(submit --hold -- sh -c 'echo ran >held.ran; sleep 60')
becomes "$held" held
status 0 "$starling" explain "$held"
says "it is held; 'starling release $held'" out.txt
kill -9 "$(agent_pid 0)" "$(agent_pid 1)"
sleep 2
becomes "$held" held
[ ! -e held.ran ] || fail "a held job ran"
status 0 "$starling" release "$held"
becomes "$held" running
status 1 "$starling" hold "$held"
says "'requeue --hold' stops it"
status 0 "$starling" requeue "$held"
becomes "$held" running
[ "$(field "$held" attempts)" -ge 2 ] || fail "it was not requeued"
status 0 "$starling" requeue --hold "$held"
becomes "$held" held
status 0 "$starling" cancel "$held"
# A job that has itself requeued: its command is stopped with it, and says all the same what became of it.
own=$(submit -- sh -c "trap : TERM; [ -e own.status ] && exit; $starling requeue \$STARLING_JOB 2>own.err; echo \$? >own.status")
becomes "$own" finished
[ "$(cat own.status)" = 0 ] || fail "its requeue ended with status $(cat own.status): $(cat own.err)"
status 1 "$starling" release "$held"
says "has ended"

echo "-- a beginning, and failures that are followed by another try"
later=$(submit --begin +4 -- true)
[ "$(field "$later" reason)" = begin ] || fail "it does not wait for its time: $("$starling" explain "$later")"
again=$(submit --retries 2 --retry-after 1 -- sh -c 'echo x >>tries; [ $(wc -l <tries) -ge 3 ]')
status 0 "$starling" submit --wait --after "ok:$again,ok:$later" -- sh -c '[ $(wc -l <tries) -eq 3 ]'
[ "$(field "$again" failures)" = 2 ] || fail "failures: $("$starling" jobs --json "$again")"
worse=$(submit --retries 1 --retry-after 1 -- sh -c 'exit 7')
becomes "$worse" failed
[ "$(field "$worse" exit_code)" = 7 ] || fail "its exit code is lost"

echo "-- dependencies over both agents: met, never met, in a chain"
first=$(submit -- sleep 3)
next=$first
for n in 1 2 3 4; do next=$(submit --after "ok:$next" -- sh -c "date +%s%N >after.$n"); done
[ "$(field "$next" reason)" = dependency ] || fail "it waits for nothing"
becomes "$next" finished
[ "$(cat after.[1-4])" = "$(sort -n after.[1-4])" ] || fail "out of order: $(cat after.[1-4])"
bad=$(submit -- sh -c 'sleep 2; exit 1')
never=$(submit --after "ok:$bad" -- true)
instead=$(submit --after "notok:$bad" -- true)
any=$(submit --after "any:$bad" -- true)
becomes "$never" failed
status 0 "$starling" explain "$never"
says "DependencyNeverSatisfied" out.txt
becomes "$instead" finished
becomes "$any" finished
status 2 "$starling" submit --after "ok:$bad" -- true
says "it could never start"

echo "-- a warning, a limit, and what ignores it"
status 10 "$starling" submit --wait --time-limit 20 --signal USR1@18 -- sh -c 'trap "exit 10" USR1; for i in $(seq 200); do sleep 0.1; done'
slow=$(submit --time-limit 2 -- sleep 100)
deaf=$(submit --time-limit 2 -- sh -c 'trap "" TERM; while :; do sleep 0.1; done')
becomes "$slow" timeout
becomes "$deaf" timeout
status 0 "$starling" jobs --state timeout
says "$slow" out.txt
status 0 "$starling" explain "$slow"
says "stopped at its time limit" out.txt

echo "-- an array: tasks, how many at once, one line, all of them by one id"
array=$(submit --array 0-9%2 -- sh -c 'echo $STARLING_ARRAY_TASK_ID of $STARLING_ARRAY_TASK_COUNT >task.$STARLING_ARRAY_TASK_ID; sleep 0.3')
most=0
for _ in $(seq $((60 * patience))); do
  "$starling" jobs --json 2>/dev/null >list.json
  read -r running open < <(python3 -c '
import json, sys
tasks = [j for j in json.load(open("list.json"))["jobs"] if j.get("terms", {}).get("array", {}).get("id") == sys.argv[1]]
print(sum(j["state"] in ("starting", "running") for j in tasks), sum(j["state"] != "finished" for j in tasks))' "$array")
  [ "$running" -le "$most" ] || most=$running
  [ "$open" -eq 0 ] && break
done
[ "$most" -ge 1 ] && [ "$most" -le 2 ] || fail "$most tasks ran at once"
[ "$(cat task.? | sort -n | head -1)" = "0 of 10" ] && [ "$(ls task.? | wc -l)" -eq 10 ] || fail "tasks: $(ls task.?)"
status 0 "$starling" jobs "$array"
[ "$(grep -c "${array}_\[0-9\]" out.txt)" -eq 1 ] || fail "it is not one line: $(cat out.txt)"
status 0 "$starling" jobs --tasks "${array}_7"
says "^${array}_7 *finished" out.txt
array=$(submit --hold --array 1,5,9 -- sleep 60)
becomes "${array}_5" held
status 0 "$starling" release "${array}_5"
becomes "${array}_5" running
becomes "${array}_9" held
status 0 "$starling" cancel "$array"
[ "$(grep -c cancelled out.txt)" -eq 3 ] || fail "cancel: $(cat out.txt)"
echo "done"
