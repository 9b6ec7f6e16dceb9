#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs from outside: simulated, in an experiment, live, and cut short, with nothing that stays behind.
#   launch/command_line/cli_runs_test.sh PROGRAM
# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/from_outside.sh"

"$starling" topology generate leaf-spine --servers 4 --gpus 8 --rack 2 -o t.yaml 2>/dev/null || fail "no topology"
"$starling" workload generate --jobs 100 --gpus 32 --load 1.2 --max-duration 3600 -o w.csv 2>/dev/null || fail "no trace"

echo "-- simulated"
expect 0 "JCT mean" sim --topology t.yaml --trace w.csv --policy consolidate --agents 2 --out sim.out --quiet
for file in summary.json jobs.csv report.html; do [ -s "sim.out/$file" ] || fail "sim.out/$file is missing"; done
cp sim.out/report.html report.before
expect 0 "wrote sim.out/report.html" report sim.out
cmp -s report.before sim.out/report.html || fail "report: the page of a run is another one made anew"
mkdir trained
echo '{"stage": 0, "name": "imitate", "validation": 0.01, "kept": true, "seconds": 4}' >trained/train.jsonl
expect 0 "+1.0 %" report trained
[ -s trained/report.html ] || fail "report: no page of a training"
echo '{"stage": 0, "iteration"' >>trained/train.jsonl
expect 2 "trained/train.jsonl: line 2 is no record of training" report trained
[ "$(wc -l <sim.out/jobs.csv)" -eq 101 ] || fail "jobs.csv does not have 100 jobs"
"$starling" sim --topology t.yaml --trace w.csv --agents 2 --json >a.json 2>a.err || fail "sim --json: $(cat a.err)"
"$starling" sim --topology t.yaml --trace w.csv --agents 2 --json >b.json 2>/dev/null
same() { grep -o '"trace_hash": *"[0-9a-f]*"' "$1"; }
[ -n "$(same a.json)" ] && [ "$(same a.json)" = "$(same b.json)" ] || fail "same seed, other run"
head -c1 a.json | grep -q '{' || fail "sim --json: stdout is not only JSON"
expect 0 "0 failures" chaos sim --seeds 2 --minutes 1 --quiet
expect 0 '"simulated_hours"' chaos sim --seeds 1 --minutes 1 --json --quiet
expect 2 "--policy: " chaos sim --seeds 1 --policy fofi
expect 2 "--without: " chaos sim --seeds 1 --without F99
expect 2 "--only: " chaos sim --seeds 1 --only F99
expect 0 "F13-full" chaos sim --seeds 3 --only F13-full --quiet
expect 1 "were wanted" chaos sim --demo --only F1-executor --seeds 2 --minutes 2 --shrink 0 --quiet --junit verdicts.xml
grep -q '<testsuite .*tests="2" failures="2"' verdicts.xml || fail "--junit: $(cat verdicts.xml)"
expect 1 "  and 2 more, of seeds 11, 12; " chaos sim --demo --only F1-executor --seeds 12 --minutes 2 --shrink 0 --quiet
began=$(date +%s)
expect 0 "0 failures" chaos sim --seeds 2 --minutes 10 --quiet --junit verdicts.xml
python3 - "$(($(date +%s) - began + 1))" <<'P' || fail "--junit: times are not those of the wall: $(cat verdicts.xml)"
import sys, xml.etree.ElementTree as xml
suite = xml.parse("verdicts.xml").getroot()
assert 0 < float(suite.get("time")) <= float(sys.argv[1]), suite.get("time")
simulated = [float(p.get("value")) for p in suite.iter("property") if p.get("name") == "simulated_s"]
assert len(simulated) == 2 and min(simulated) >= 600, simulated
P
STARLING_BUG=hidden_input expect 2 "built without planted mistakes" chaos sim --seeds 1
expect 0 "F15-flip" chaos sim --list
expect 0 "0 failures" chaos etcd --seeds 2 --minutes 1 --quiet
expect 0 '"takeovers"' chaos etcd --seeds 1 --minutes 1 --json --quiet
expect 2 "--seeds" chaos etcd --seeds 0
"$starling" chaos sim --seeds 6 --minutes 1 --jobs 1 --json -q >one.json; "$starling" chaos sim --seeds 6 --minutes 1 --jobs 3 --json -q >three.json
cmp -s one.json three.json || fail "chaos sim: the report depends on --jobs"

echo "-- an experiment"
cat >e.yaml <<'YAML'
name: small
topologies: [{name: a, generate: flat, servers: 2}]
workloads: [{name: w, generate: philly-like, jobs: 40, gang_max: 8}]
loads: [0.8]
faults: [none, {name: lossy, loss: 0.05}]
policies: [fifo, {policy: fifo, parameters: {queue: skip}, label: skipping}]
seeds: 2
YAML
expect 0 "faults lossy" experiment e.yaml --out e.out --quiet
for file in summary.json jobs.csv table.md table.csv report.html; do [ -s "e.out/$file" ] || fail "e.out/$file is missing"; done
[ "$(wc -l <e.out/jobs.csv)" -eq 321 ] || fail "jobs.csv does not have 8 runs of 40 jobs: $(wc -l <e.out/jobs.csv)"
rm "e.out/runs/$(ls e.out/runs | head -1)"
touch file.out
mkdir -p mine; echo "name,salary" >mine/jobs.csv
expect 2 "mine/jobs.csv is not Starling's" sim --topology t.yaml --trace w.csv --out mine
expect 2 "file.out is a file; name a folder" experiment e.yaml --out file.out --quiet
expect 2 "give --resume" experiment e.yaml --out e.out --quiet
expect 0 '"missing": 0' experiment e.yaml --out e.out --quiet --resume --json
expect 0 "skipping" report e.out

{ cat w.csv; sed -n 2p w.csv; sed -n 3p w.csv | awk -F, -v OFS=, '{ $3 = "0"; print }'; } >gaps.csv
sed "s/^workloads: .*/workloads: [{name: w, file: gaps.csv}]/; s/^loads: .*//; s/^faults: .*//" e.yaml >gaps.yaml
expect 0 "w: 1 row dropped (no GPU or 0 s), 1 job of a name used before." experiment gaps.yaml --out gaps.out --quiet
head -1 gaps.out/table.csv | grep -q ',rows_dropped,duplicate_names$' || fail "table.csv does not say what was dropped: $(cat gaps.out/table.csv)"

echo "-- an experiment in parts"
same_results() {
  # But for the times that the machine took.
  diff <(sed -E '/"(wall_s|decision_p50_us|decision_p99_us)"/d' "$1/summary.json") <(sed -E '/"(wall_s|decision_p50_us|decision_p99_us)"/d' "$2/summary.json") >/dev/null &&
    cmp -s "$1/jobs.csv" "$2/jobs.csv" && cmp -s "$1/table.md" "$2/table.md" && cmp -s "$1/experiment.json" "$2/experiment.json"
}
for part in 1 2 3; do expect 0 "part $part/3: " experiment e.yaml --part $part/3 --out part.$part --quiet; done
expect 0 '"skipped": 3' experiment e.yaml --part 1/3 --out part.1 --quiet --json
expect 2 "runs are in none of the folders" experiment --merge part.1 part.3 --out merged --quiet
[ ! -e merged ] || fail "a refused merge left a folder"
expect 2 "give each part once" experiment --merge part.1 part.1 part.2 part.3 --out merged --quiet
expect 0 "skipping" experiment --merge part.1 part.2 part.3 --out merged --quiet
same_results e.out merged || fail "merged parts are not the undivided run"
expect 2 "write 1/4 to 4/4" experiment e.yaml --part 5/4 --quiet
expect 2 "give one" experiment e.yaml --part 1/2 --share shared --quiet
expect 2 "say by --out" experiment --merge part.1 --quiet
sed 's/seeds: 2/seeds: 3/' e.yaml >other.yaml
expect 2 "has runs of another experiment" experiment other.yaml --part 1/3 --out part.1 --quiet
expect 2 "FILE is missing" experiment --out nothing
"$starling" experiment e.yaml --share shared --threads 1 --quiet >share.1 2>&1 & one=$!
"$starling" experiment e.yaml --share shared --threads 1 --quiet >share.2 2>&1 & two=$!
wait "$one" || fail "--share: $(cat share.1)"
wait "$two" || fail "--share: $(cat share.2)"
same_results e.out shared || fail "a shared folder is not the undivided run"
[ -z "$(find shared -name '*.lock*')" ] || fail "--share: locks stay behind"

echo "-- a leaderboard"
expect 0 "entry 1: " leaderboard add board.yaml e.out --experiment e.yaml --quiet
expect 2 "is entry 1 of board.yaml already" leaderboard add board.yaml e.out --experiment e.yaml --quiet
mkdir boards
expect 0 '"entry": 1' leaderboard add boards/one.yaml e.yaml --policy skipping --json --quiet
grep -qF 'experiment: "../e.yaml"' boards/one.yaml || fail "leaderboard: a file beside it is named otherwise: $(head -5 boards/one.yaml)"
expect 0 "x best" leaderboard show board.yaml
expect 0 '"times_the_best": 1.0' leaderboard show board.yaml --json
expect 0 "again the same, by " leaderboard check board.yaml --quiet
expect 0 "3 of 3 runs again the same" leaderboard check board.yaml --sample 3 --seed 7 --quiet
expect 0 '"differing": []' leaderboard check boards/one.yaml --entry 1 --json --quiet
cp e.yaml e.kept
sed -i 's/jobs: 40/jobs: 41/' e.yaml
expect 1 "the experiment has no run" leaderboard check board.yaml --sample 1 --quiet
mv e.kept e.yaml
expect 2 "board.yaml has 2 entries" leaderboard check board.yaml --entry 9
echo "entries: []" >no.board
expect 2 "write leaderboard: 1" leaderboard show no.board
expect 2 "no.board" leaderboard add no.board e.out --experiment e.yaml
expect 2 "nosuch.board" leaderboard check nosuch.board
expect 2 "say by --experiment FILE" leaderboard add board.yaml e.out
expect 2 "the experiment has no policy 'lifo'" leaderboard add other.board e.out --experiment e.yaml --policy lifo
[ ! -e other.board ] || fail "leaderboard: a refused add left a file"
[ -z "$(find "$work" -maxdepth 1 -name 'starling-leaderboard-*')" ] || fail "leaderboard: a folder of runs stays behind"

echo "-- watched"
expect 0 "JCT mean" sim --topology t.yaml --trace w.csv --policy srtf --agents 2 --record run.json --quiet
expect 0 "wrote run.html: 100 jobs on 32 GPUs" view run.json
grep -q '<script id="data" type="application/json">' run.html || fail "view: no page"
expect 0 "wrote run.svg" view run.json --svg run.svg --at 1h
expect 0 "wrote both.pdf" view run.json --svg both.svg --pdf both.pdf --at 1h
cmp -s run.svg both.svg || fail "view: the picture beside a PDF is another one"
head -c 8 both.pdf | grep -q '%PDF-1.4' || fail "view: no PDF"
expect 2 "must end in .pdf" view run.json --pdf run.svg
expect 0 '"at_s": 3600' view run.json --json --at 1h
expect 2 "the run ended after" view run.json --json --at 900d
expect 2 "is no recording" view t.yaml
expect 2 "--record: run.html: " sim --topology t.yaml --trace w.csv --record run.html --quiet
expect 0 "0 failures" chaos sim --first-seed 3 --seeds 1 --minutes 1 --record seed.json.gz --quiet
expect 0 "wrote seed.html" view seed.json.gz
expect 2 "of one drawn seed" chaos sim --seeds 2 --record seeds.json --quiet
sed 's/^seeds: 2/compare: together/; s/^policies: .*/policies: [fifo, lif, drf]/' e.yaml >together.yaml
expect 0 "| drf | place, order, resize | nothing |" experiment together.yaml --out together.out --quiet
grep -q '"place, order"' together.out/table.csv || fail "table.csv does not say what policies may: $(cat together.out/table.csv)"
sed 's/together/all/' together.yaml >wrong.yaml
expect 2 "compare is 'all'; write families" experiment wrong.yaml --quiet

echo "-- live"
expect 0 "JCT mean" run --topology t.yaml --trace w.csv --policy consolidate --agents 2 --target-seconds 5 --out run.out --quiet
grep -q '"jobs_finished": *100' run.out/summary.json || fail "run: not all jobs finished: $(cat run.out/summary.json)"
[ -z "$(left_over)" ] || fail "run left processes behind"
[ -z "$(find "$work" -maxdepth 1 -name 'starling-*')" ] || fail "run left its directory behind"

echo "-- a folder with a user's files is no place for a run's state"
for file in topology.yaml flock.json thesis.txt; do
  mkdir "of-$file"
  echo mine >"of-$file/$file"
  expect 2 "'$file' is in it" run --topology t.yaml --trace w.csv --speedup 1000 --state "of-$file" --quiet
  [ "$(ls "of-$file")" = "$file" ] && [ "$(cat "of-$file/$file")" = mine ] || fail "run --state changed a folder of the user's: $(ls "of-$file")"
done

wait_for_daemons() {
  for _ in $(seq 200); do
    [ "$(left_over | wc -l)" -ge "$1" ] && [ "$(find "$2" -name journal.db | wc -l)" -ge "$1" ] && return 0
    sleep 0.05
  done
  return 1
}

echo "-- Ctrl-C"
"$starling" run --topology t.yaml --trace w.csv --agents 2 --speedup 1 --quiet --state "$work/interrupted" >out.txt 2>err.txt &
pid=$!
wait_for_daemons 3 "$work/interrupted" || fail "the daemons did not start"
kill -INT $pid
wait $pid
[ $? -eq 1 ] || fail "an interrupted run must exit with 1"
grep -q interrupted err.txt || fail "an interrupted run must say so: $(cat err.txt)"
gone || fail "Ctrl-C left processes behind"

echo "-- a child dies"
"$starling" run --topology t.yaml --trace w.csv --agents 2 --speedup 1 --quiet --state "$work/killed" >out.txt 2>err.txt &
pid=$!
wait_for_daemons 3 "$work/killed" || fail "the daemons did not start"
kill -9 "$(pgrep -f -- "--config $work/killed/nodes/agent-1/")"
wait $pid
[ $? -eq 1 ] || fail "a killed child must end the run with 1"
grep -q 'agent-1 was killed by signal 9' err.txt || fail "the message does not name the child: $(cat err.txt)"
gone || fail "a killed child left others behind"

echo "-- the supervisor dies"
"$starling" run --topology t.yaml --trace w.csv --agents 2 --speedup 1 --quiet --state "$work/orphans" >out.txt 2>err.txt &
pid=$!
wait_for_daemons 3 "$work/orphans" || fail "the daemons did not start"
kill -9 $pid
wait $pid 2>/dev/null
gone || fail "a killed supervisor left its children behind"

over
