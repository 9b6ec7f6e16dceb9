#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `starling profile` from outside: real workloads for fractions of a second, wrong input, a stop in the middle.
#   launch/profile/profile_test.sh PROGRAM
set -uo pipefail
starling=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
# A workload that is not even scheduled within its window says something about the machine, not about the program.
fail() {
  case $1 in *"did no step within its window"*)
    echo "skipped: this machine is too busy: $1" >&2
    exit 77 ;;
  esac
  echo "FAILED: $1" >&2
  failures=$((failures + 1))
}

# expect CODE TEXT OPTIONS...: exit status, and one message that contains TEXT.
expect() {
  local code=$1 text=$2
  shift 2
  "$starling" profile --quiet "$@" >out.txt 2>err.txt </dev/null
  local got=$?
  [ $got -eq "$code" ] || fail "profile $*: exit $got, expected $code: $(cat err.txt)"
  grep -qF -- "$text" err.txt || fail "profile $*: '$text' is not in: $(cat err.txt)"
  [ ! -s out.txt ] || fail "profile $*: wrote to stdout"
}

first=$(awk '/^Cpus_allowed_list/ {split($2, c, /[-,]/); print c[1]}' /proc/self/status)

echo "-- wrong input"
expect 2 "'desne' is no workload; the workloads are dense" --workloads desne
expect 2 "'dense:0': the batch size '0' is wrong" --workloads dense:0
expect 2 "there is no core 1000" --cores "$first,1000"
expect 2 "'x' is no core" --cores x
expect 2 "there is no folder nowhere" --out nowhere/p.csv
expect 2 "--device: 'tpu' is wrong" --device tpu
expect 2 "'0' is wrong" --repeats 0
expect 2 "--seconds" --seconds 0
expect 2 "there is no profile.csv.partial to go on with" --resume
if "$(dirname "$starling")/starling-profile" --probe | grep -q gpu=0; then
  expect 2 "sees no GPU" --device gpu
fi

# Where the test may take precedence over what else runs here, its bounds hold on a busy machine too.
hold=--hold
echo | "$(dirname "$starling")/starling-profile" --first --workload dense --batch 1 | grep -q ready || hold=
common=(--workloads dense:64,stream:1 --cores "$first" --seconds 0.4 --again 0 --noisy --patience 0 --quiet $hold)

echo "-- pairs on one core"
"$starling" profile "${common[@]}" --repeats 3 --hardware box --campaign test --json --out p.csv >p.json 2>err.txt ||
  fail "profile: $(cat err.txt)"
grep -q '"hardware": "box"' p.json || fail "no hardware in the JSON: $(cat p.json)"
grep -q '"norm_a_95": null' p.json || fail "an interval from 3 repeats: $(cat p.json)"
[ "$(wc -l <p.csv)" -eq 4 ] || fail "not 3 pairs: $(cat p.csv)"
[ -e p.csv.partial ] && fail "the samples are still there"
head -1 p.csv | grep -q '^campaign,gpu,model_a,batch_a,model_b,batch_b,steps_per_s_a,steps_per_s_b,iso_a,iso_b,norm_a,norm_b,flag,relation,' ||
  fail "another header: $(head -1 p.csv)"
grep -q "^test,box/same-core,dense,64,stream,1,.*,same-core,$first,$first,3," p.csv || fail "no row of dense and stream: $(cat p.csv)"
awk -F, -v held="$hold" '
  NR > 1 && NF != 25 { print "a row of " NF " fields: " $0; bad = 1 }
  NR > 1 && ($9 <= 0 || $7 <= 0 || $11 <= 0) { print "no speed: " $0; bad = 1 }
  $3 == "dense" && $5 == "dense" {
    low = held == "" ? 0.1 : 0.3; high = held == "" ? 1.2 : 0.8
    if ($11 < low || $11 > high || $12 < low || $12 > high) { print "not about half the speed each: " $0; bad = 1 }
  }
  END { exit bad }' p.csv || fail "the table is wrong"

echo "-- stopped in the middle"
stop() {
  "$starling" profile "${common[@]}" --repeats 40 --out s.csv >out.txt 2>err.txt &
  local pid=$!
  for _ in $(seq 300); do
    [ "$(cat s.csv.partial 2>/dev/null | wc -l)" -ge "$2" ] && break
    sleep 0.1
  done
  kill "-$1" $pid
  wait $pid 2>/dev/null
}
stop INT 4
[ $? -eq 1 ] || fail "exit status after Ctrl-C"
grep -q "the same command with --resume goes on with it" err.txt || fail "Ctrl-C: $(cat err.txt)"
[ -e s.csv ] && fail "a table of half a campaign"
before=$(wc -l <s.csv.partial)
[ "$before" -ge 4 ] || fail "only $before lines were kept"
expect 2 "an interrupted run left this" "${common[@]}" --repeats 2 --out s.csv
expect 2 "was measured with other options" --workloads dense:64 --noisy --repeats 2 --out s.csv --resume
"$starling" profile "${common[@]}" --repeats 2 --out s.csv --resume >out.txt 2>err.txt || fail "--resume: $(cat err.txt)"
grep -q "3 pairs in s.csv" out.txt || fail "--resume: $(cat out.txt)"
[ -e s.csv.partial ] && fail "the samples are still there after --resume"

stop KILL 3
sleep 0.5
[ -s s.csv.partial ] || fail "nothing was kept when it was killed"
for p in $(pgrep -x starling-profil); do
  [ "$(readlink "/proc/$p/cwd")" = "$work" ] && fail "a workload outlived its parent"
done

[ $failures -eq 0 ] && echo "profile: every check passed"
exit $((failures > 0))
