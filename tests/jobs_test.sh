#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs as users know them, on real processes: folder, environment, exit codes, output, scripts, lists, cancelling many.
#   tests/jobs_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs=('flock/nodes/*/log' up.log)
begin "$1"
"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
SECRET_OF_UP=token up_ready --topology four.yaml --agents 2

echo "-- a job runs where it was submitted, with that environment, and nothing of the daemons'"
mkdir -p proj/sub && cd proj
echo 'print("of the project")' >train.py
status 0 "$starling" submit --follow -- sh -c 'pwd; ls train.py'
says "^$work/proj\$" out.txt; says '^train.py$' out.txt
OF_MINE=here STARLING_JOB=outer status 0 "$starling" submit -f -- sh -c 'echo "<$OF_MINE> <$SECRET_OF_UP> <$STARLING_JOB>"'
says '^<here> <> <[0-9a-f]*>$' out.txt
OF_MINE=here OTHER=1 status 0 "$starling" submit -f --environment OTHER,X=2 -- /bin/sh -c 'echo "<$OF_MINE> <$OTHER> <$X> <${HOME:+home}>"'
says '^<> <1> <2> <home>$' out.txt
OF_MINE=here status 0 "$starling" submit -f --environment none --directory sub -- sh -c 'echo "<$OF_MINE> $PWD"; pwd'
says "^<> $work/proj/sub\$" out.txt
status 126 "$starling" submit -f --directory /no/such -- true
says "no such folder on this host" out.txt
BIG=$(head -c 70000 /dev/zero | tr '\0' x) status 2 "$starling" submit -- true
says "BIG (70,004)"; says "--environment"
status 2 "$starling" submit --environment NOT_SET_HERE -- true
says "NOT_SET_HERE is not set here"
printf 'command: echo "$A $B $(pwd)"\nenvironment: {A: file}\ndirectory: sub\n' >dir.yaml
A=shell B=shell status 0 "$starling" submit dir.yaml -f
says "^file shell $work/proj/sub\$" out.txt
mkdir bin && printf '#!/bin/sh\necho mine\n' >bin/only-mine && chmod +x bin/only-mine
PATH=$PWD/bin:$PATH status 0 "$starling" submit -f only-mine
says '^mine$' out.txt

echo "-- exit codes are passed on; the id comes first"
status 3 "$starling" submit --wait -- sh -c 'exit 3'
says 'failed, exit code 3'
status 137 "$starling" submit --wait -- sh -c 'kill -9 $$'
says 'failed, signal 9'
status 127 "$starling" submit --wait -- no-such-program
status 4 "$starling" submit --wait --json -- sh -c 'exit 4'
python3 - <<'P' || fail "--wait --json: $(cat out.txt)"
import json
first, last = map(json.loads, open('out.txt'))
assert first['job'] == last['job'] and last['exit_code'] == 4 and last['state'] == 'failed', last
P

echo "-- an id that another job has is not this one's, and that is said"
status 0 "$starling" submit --id c0ffee --name first -- sleep 300
status 0 "$starling" submit --id c0ffee --name first -- sleep 300
[ ! -s err.txt ] || fail "a repeat: $(cat err.txt)"
status 0 "$starling" submit --id c0ffee -- sleep 400
says "c0ffee is there already ([a-z]*: sleep 300); nothing new is submitted: give another --id, or none"
[ "$("$starling" jobs --state open | grep -c c0ffee)" -eq 1 ] || fail "one job has that id: $("$starling" jobs)"
status 0 "$starling" cancel c0ffee
status 0 "$starling" submit --id c0ffee -- sleep 400
says "c0ffee is there already (cancelled: sleep 300); nothing new is submitted"
status 0 "$starling" submit --id c0ffe1 --wait -- true
[ "$(wc -l <err.txt)" -eq 1 ] || fail "an id that no job has: $(cat err.txt)"

echo "-- what was not printed in full is no success"
for words in jobs 'jobs --json' top 'explain c0ffee' "topology show $work/four.yaml" policies --help 'completion bash'; do
  # shellcheck disable=SC2086
  "$starling" $words >/dev/full 2>err.txt && fail "$words onto a full disk is a success"
  [ "$(wc -l <err.txt)" -eq 1 ] || fail "$words onto a full disk: $(cat err.txt)"
  says "standard output has not taken all that was printed"
  # shellcheck disable=SC2086
  "$starling" $words >&- 2>err.txt && fail "$words is a success where stdout is closed"
done
(trap '' PIPE; "$starling" policies 2>err.txt; echo $? >code.txt) | true
[ "$(cat code.txt)" -ne 0 ] && [ ! -s err.txt ] || fail "a pipe that its reader has closed: $(cat code.txt err.txt)"
(trap '' PIPE; timeout 30 "$starling" top --watch 2>err.txt; echo $? >code.txt) | head -1 >/dev/null
[ "$(cat code.txt)" -eq 1 ] || fail "top --watch goes on without a reader: $(cat code.txt err.txt)"
status 0 "$starling" sim --help

echo "-- output, of what runs and of what has ended, page by page"
job=$("$starling" submit -- sh -c 'echo begun; seq 60000; sleep 60')
for _ in $(seq $((100 * patience))); do "$starling" logs "$job" 2>/dev/null | grep -q '^60000$' && break; sleep 0.1; done
"$starling" logs "$job" >out.txt || fail "logs"
[ "$(head -1 out.txt) $(tail -1 out.txt) $(wc -l <out.txt)" = "begun 60000 60001" ] || fail "logs: $(head -2 out.txt; tail -2 out.txt)"
"$starling" logs "${job:0:12}" --tail 12 >out.txt && [ "$(cat out.txt)" = "$(printf '59999\n60000')" ] || fail "--tail: $(cat out.txt)"
"$starling" logs "$job" -f >follow.txt 2>follow.err &
follower=$!
started+=($follower)
wait_for 20 '^60000$' follow.txt
status 0 "$starling" cancel "$job"
wait $follower || fail "logs -f of a job that was cancelled: $(cat follow.err)"
says "cancelled" follow.err
status 0 "$starling" logs "$job"
says '^60000$' out.txt
status 1 "$starling" logs "$("$starling" submit --gpus 2 --workers 4 --name blocker -- sleep 300 >/dev/null; "$starling" submit --name late -- echo late)"
says "has not started yet"
status 0 "$starling" cancel --name blocker
says cancelled out.txt

echo "-- of a log that was rotated it is said what is gone"
job=$("$starling" submit --wait -- sh -c 'yes 0123456789abcde | head -c 80000000' 2>/dev/null) || fail "a job that prints much"
status 0 "$starling" logs "$job"
gone=$(sed -n 's/^starling: \([0-9]*\) bytes that it printed at p0-r0-s[0-9] before are gone: .*/\1/p' err.txt)
[ "$((gone + $(stat -c %s out.txt)))" -eq 80000000 ] && [ "$gone" -gt 0 ] || fail "$gone bytes are gone and $(stat -c %s out.txt) there: $(cat err.txt)"
status 0 "$starling" logs "$job" --tail 100
[ ! -s err.txt ] || fail "--tail asks for no more: $(cat err.txt)"
"$starling" logs "$job" --json 2>err.txt | head -2 >out.txt
python3 - "$job" "$gone" <<'P' || fail "logs --json: $(cat out.txt)"
import json, sys
first, second = [json.loads(line) for line in open('out.txt')]
assert (first['job'], first['gone_bytes'], first['attempt']) == (sys.argv[1], int(sys.argv[2]), 1) and first['server'], first
assert 'line' not in first and second['line'].endswith('abcde'), second
P

echo "-- ranks of a gang, on one server and over several"
status 0 "$starling" submit -f --workers 4 -- sh -c 'for i in 1 2 3; do echo "rank $RANK line $i"; done'
for rank in 0 1 2 3; do [ "$(grep -c "^\[$rank\] rank $rank line" out.txt)" -eq 3 ] || fail "rank $rank: $(cat out.txt)"; done
gang=$(head -1 err.txt)
status 0 "$starling" logs "$gang" --rank 2
[ "$(cat out.txt)" = "$(printf 'rank 2 line 1\nrank 2 line 2\nrank 2 line 3')" ] || fail "--rank 2: $(cat out.txt)"
status 0 "$starling" logs "$gang" --json
python3 - "$gang" <<'P' || fail "logs --json: $(cat out.txt)"
import collections, json, sys
lines = [json.loads(line) for line in open('out.txt')]
assert all(l['job'] == sys.argv[1] and l['attempt'] == 1 and l['server'] for l in lines), lines
ranks = collections.defaultdict(list)
for l in lines: ranks[l['rank']].append(l['line'])
assert ranks == {r: [f'rank {r} line {i}' for i in (1, 2, 3)] for r in range(4)}, ranks
P
status 0 "$starling" logs "$gang" --json --rank 1
[ "$(wc -l <out.txt)" -eq 3 ] || fail "--json --rank 1: $(cat out.txt)"
status 2 "$starling" logs "$gang" --json --raw
says "exclude each other"
odd=$("$starling" submit --wait -- sh -c 'printf "\377\033[1m\"\n"; printf "no end"' 2>/dev/null)
status 0 "$starling" logs "$odd" --json -f
python3 - <<'P' || fail "logs --json of odd bytes: $(cat out.txt)"
import json
first, last = [json.loads(line) for line in open('out.txt')]
assert first['line'] == '\ufffd\x1b[1m"' and 'cut' not in first, first
assert last['line'] == 'no end' and last['cut'] is True and last['rank'] == 0, last
P
status 2 "$starling" logs "$gang" --rank 4
says "ranks 0 to 3"

echo "-- Ctrl-C of --follow cancels the job"
# A shell ignores it for what runs in the background, so a program of its own says it.
python3 - "$starling" <<'P' || fail "Ctrl-C: $(cat ctrl.out ctrl.err)"
import signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "submit", "-f", "--name", "interrupted", "--", "sh", "-c", "echo begun; sleep 300"],
                     stdout=open("ctrl.out", "w"), stderr=open("ctrl.err", "w"))
for _ in range(400):
    if "begun" in open("ctrl.out").read(): break
    time.sleep(0.05)
p.send_signal(signal.SIGINT)
status = p.wait(timeout=60)
assert status == 143, status
P
"$starling" jobs --name interrupted | grep -q cancelled || fail "it goes on: $("$starling" jobs --name interrupted)"

echo "-- a signal is followed when no agent answers, and when there is nowhere to write to"
python3 - "$starling" "$(agent_pid 0)" "$(agent_pid 1)" <<'P' || fail "SIGTERM: $(cat term.out term.err)"
import os, signal, subprocess, sys, time
starling, agents = sys.argv[1], [int(pid) for pid in sys.argv[2:]]
def follow(out):
    p = subprocess.Popen([starling, "submit", "-f", "--name", "silent", "--", "sh", "-c", "while :; do echo begun; sleep 0.1; done"],
                         stdout=open(out, "w"), stderr=open("term.err", "w"))
    time.sleep(3)
    assert p.poll() is None, p.poll()
    return p
p = follow("term.out")
try:
    for pid in agents: os.kill(pid, signal.SIGSTOP)
    p.send_signal(signal.SIGTERM)
    status = p.wait(timeout=40)
finally:
    for pid in agents: os.kill(pid, signal.SIGCONT)
said = open("term.err").read()
assert status == 1 and "no agent has confirmed that" in said and "'starling cancel " in said, (status, said)
p = follow("/dev/full")
p.send_signal(signal.SIGTERM)
status, said = p.wait(timeout=60), open("term.err").read()
assert status == 143 and said.count("standard output: No space left on device") == 1 and "'starling logs " in said, (status, said)
P
status 0 "$starling" cancel --name silent
job=$("$starling" submit -- sh -c 'while :; do echo begun; sleep 0.1; done')
wait_for 10 "begun" <("$starling" logs "$job" -f 2>/dev/null | head -1)
code=0
"$starling" logs -f "$job" >/dev/full 2>err.txt || code=$?
[ $code -eq 1 ] && says "standard output: No space left on device" || fail "logs -f ends with $code: $(cat err.txt)"
for how in "" --json; do timeout 20 "$starling" logs -f "$job" $how 2>err.txt | head -2 >/dev/null; [ ! -s err.txt ] || fail "a pipe that is closed: $(cat err.txt)"; done
status 0 "$starling" cancel "$job"

echo "-- scripts"
cat >slurm.sbatch <<'S'
#!/bin/bash
#SBATCH --job-name=from-slurm -n 2
#SBATCH --gpus-per-task=1 --time=1:00:00 --mail-type=END
# a comment
#STARLING --priority 5
echo "$RANK of $WORLD_SIZE with $1 in $(basename "$PWD")"
#SBATCH --job-name=too-late
S
for words in "--wait argument" "argument --wait" "--gpus=2" "-f"; do
  status 2 "$starling" submit slurm.sbatch $words
  says "stands behind the script 'slurm.sbatch' and would be its own; .*'slurm.sbatch -- ...'"
done
"$starling" jobs --name from-slurm 2>&1 | grep -q waiting && fail "it was submitted all the same"
status 0 "$starling" submit -- slurm.sbatch --wait argument
"$starling" cancel "$(cat out.txt)" >/dev/null 2>&1
status 0 "$starling" submit --wait slurm.sbatch -- --wait argument
says "--mail-type has no meaning here"
job=$(cat out.txt)
"$starling" logs "$job" | sort >out.txt
[ "$(cat out.txt)" = "$(printf '[0] 0 of 2 with --wait in proj\n[1] 1 of 2 with --wait in proj')" ] || fail "script: $(cat out.txt)"
"$starling" jobs --json "$job" | python3 -c '
import json, sys
j, = json.load(sys.stdin)["jobs"]
assert (j["name"], j["workers"], j["priority"]) == ("from-slurm", 2, 5), j' || fail "script: $("$starling" jobs --json "$job")"
printf '#!/bin/sh\necho from stdin\n' | status 0 "$starling" submit - -f
says '^from stdin$' out.txt
echo '{"name": "json", "command": ["echo", "of json"]}' | status 0 "$starling" submit - -f
says '^of json$' out.txt
printf '#!/bin/sh\n#STARLING --gpu 2\n' >wrong.sh
status 2 "$starling" submit wrong.sh
says "wrong.sh:2: '--gpu' is no option of a job; did you mean '--gpus'"
echo text >aa
status 2 "$starling" submit aa
says "'aa' is a file, and neither"
for word in nosuch.sh no/such ./nosuch data.csv model.pt train.ipynb; do
  status 2 "$starling" submit $word --lr 3
  says "there is no file or program '$word' here; .*write '-- $word' for a program that is on the servers"
done
status 2 "$starling" submit echo --wait
says "'--wait' stands behind the command 'echo'"
status 0 "$starling" submit --wait -- echo --wait

echo "-- lists: who, what, when; filters; JSON and CSV"
status 0 "$starling" submit --name train-7 --queue night --wait -- true
status 0 "$starling" jobs --last 1
says "train-7 *$(id -un) *night *1 *[0-9-]* [0-9:]*" out.txt
[ "$(tail -1 out.txt | grep -c train-7)" -eq 1 ] || fail "the newest is not the last: $(cat out.txt)"
"$starling" jobs --json --name 'train-*' --user me --since 1h --state finished | python3 -c '
import json, sys
j, = json.load(sys.stdin)["jobs"]
assert j["queue"] == "night" and j["submitted"] <= j["started"] <= j["ended"] and j["servers"], j' || fail "--json with filters"
"$starling" jobs --csv --since 1h | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert rows[-1]["name"] == "train-7" and rows[-1]["exit_code"] == "0" and rows[-1]["command"] == "true", rows[-1]' || fail "--csv"
[ "$("$starling" jobs --user nobody-else | wc -l)" -le 2 ] || fail "--user"
status 2 "$starling" jobs --state runing
says "did you mean 'running'"
status 2 "$starling" jobs --since yesterday
says "how long ago"

echo "-- cancelling many"
for i in 1 2 3; do "$starling" submit --name "many-$i" --gpus 2 -- sleep 300 >/dev/null; done
other=$("$starling" submit --name other -- sleep 300)
status 0 "$starling" cancel --name 'many-*'
[ "$(grep -c cancelled out.txt)" -eq 3 ] || fail "cancel --name: $(cat out.txt)"
status 0 "$starling" cancel --json --user me --state open
says "$other" out.txt
status 2 "$starling" cancel
says "give jobs, or which ones"
[ "$("$starling" jobs --state open | wc -l)" -le 2 ] || fail "some are open: $("$starling" jobs --state open)"
echo "all right"
