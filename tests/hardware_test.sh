#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What machines are made of, and how it is, on real processes with a driver that says what a file says:
#   tests/hardware_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs=('flock/nodes/*/log' up.log)
fake=$(dirname "$(realpath "$1")")/guardian/libstarling_fake_nvml.so
[ -e "$fake" ] || { echo "skipped: no $fake"; exit 77; }
begin "$1"
mkdir driver
ln -s "$fake" driver/libnvidia-ml.so.1
export FAKE_NVML_FILE=$work/gpus.json
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
# gpus PYTHON: the driver's file, of four GPUs and what PYTHON does with `gpus` and `all`
gpus() {
  python3 - "$1" <<'EOF' >gpus.next && mv gpus.next gpus.json
import json, os, sys
if os.path.exists("gpus.json"):
    all = json.load(open("gpus.json"))
else:
    all = {"gpus": [{"name": "NVIDIA H100 80GB HBM3", "uuid": f"GPU-{i}", "serial": f"S{i}", "memory_gib": 79.6, "pci": f"0000:1{i}:00.0",
                     "links": [{"switch": True}] * 18, "link_mbytes": 26562, "utilisation": 90, "temperature": 50, "slowdown": 90,
                     "ecc": 0, "throttled": 0, "energy_mj": 1000000} for i in range(4)]}
gpus = all["gpus"]
exec(sys.argv[1])
json.dump(all, sys.stdout)
EOF
}
gpus pass
with_driver() { LD_LIBRARY_PATH=$work/driver "$@"; }

echo "-- this machine becomes a topology, and every guess is a comment"
HWLOC_SYNTHETIC="pack:2 core:4 pu:1" with_driver "$starling" topology discover -o found.yaml 2>err.txt || fail "discover: $(cat err.txt)"
"$starling" topology check found.yaml >/dev/null || fail "what was found is no topology: $(cat found.yaml)"
"$starling" topology show found.yaml --json | tr -d ' \n' | grep -q '"gpu_types":{"H100":4},"gpus":4' || fail "$("$starling" topology show found.yaml --json)"
grep -q 'cpus: 8' found.yaml || fail "CPUs: $(cat found.yaml)"
grep -q '^# guessed: sockets: ' found.yaml && grep -q '^guessed: sockets: ' err.txt || fail "guesses: $(cat found.yaml)"
with_driver "$starling" topology discover --json 2>/dev/null | python3 -c 'import json,sys; m, = json.load(sys.stdin)["machines"]; assert m["gpus"][2]["serial"] == "S2", m' || fail "--json"
with_driver "$starling" topology discover --machine | python3 -c 'import json,sys; assert len(json.load(sys.stdin)["gpus"]) == 4' || fail "--machine"
"$starling" topology discover 2>err.txt | grep -q 'gpus: 0' || fail "without a driver: $(cat err.txt)"
grep -q 'no GPUs: there is no libnvidia-ml.so.1' err.txt || [ -e /dev/nvidiactl ] || fail "the driver that is not there: $(cat err.txt)"

echo "-- the network from what others wrote"
cat >ib.txt <<EOF
Switch	3 "S-0001"		# "MF0;leaf1:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-000a"[1](a) 		# "$(hostname) mlx5_0" lid 10 4xNDR
[2]	"S-0002"[1]		# "MF0;spine1:MQM8700/U1" lid 2 4xNDR
EOF
cat >>ib.txt <<'EOF'

Switch	3 "S-0002"		# "MF0;spine1:MQM8700/U1" enhanced port 0 lid 2 lmc 0
[1]	"S-0001"[2]		# "MF0;leaf1:MQM8700/U1" lid 1 4xNDR
EOF
"$starling" topology discover --ibnetdiscover ib.txt 2>/dev/null | grep -q 'rack-leaf1' || fail "ibnetdiscover"
wrong() { # STATUS TEXT OPTIONS...
  local status=$1 text=$2
  shift 2
  "$starling" topology discover "$@" >out.txt 2>err.txt
  [ $? -eq "$status" ] && grep -q -- "$text" err.txt || fail "discover $*: $(cat err.txt)"
}
echo nonsense >bad.txt
wrong 2 'bad.txt:1: there is no switch' --ibnetdiscover bad.txt
wrong 2 "bad.txt: this is not what 'lldpctl -f json' writes" --lldp bad.txt
wrong 2 'give one of them' --lldp bad.txt --ibnetdiscover bad.txt
wrong 2 'nowhere' --topograph nowhere.yaml
wrong 2 'nowhere.yaml' --hosts nowhere.yaml
wrong 2 'no folder' -o nodir/x.yaml
[ ! -e nodir ] || fail "something was made"

echo "-- an executor marks what is not there"
sed 's/gpus: 4/gpus: 5/' found.yaml >five.yaml
echo 'comand: x' >health.yaml
"$starling" up --topology five.yaml --health health.yaml 2>err.txt && fail "a wrong health file"
grep -q 'health.yaml:1:1: ' err.txt && [ ! -e flock ] || fail "a wrong health file: $(cat err.txt)"
cat >health.yaml <<EOF
command: [sh, -c, 'read why <$work/probe; echo "\$why" >&2; [ "\$why" = well ]']
interval_s: 0.5
gpus: {interval_s: 0.3, idle_min: 0.03}
EOF
echo well >probe
LD_LIBRARY_PATH=$work/driver up_ready --topology five.yaml --health health.yaml
shown() { # TEXT: `top` says it
  for _ in $(seq $((40 * patience))); do "$starling" top 2>&1 | grep -q -- "$1" && return 0; sleep 0.25; done
  fail "top does not say '$1': $("$starling" top 2>&1)"
}
gone() { # TEXT
  for _ in $(seq $((40 * patience))); do "$starling" top 2>&1 | grep -q -- "$1" || return 0; sleep 0.25; done
  fail "top still says '$1': $("$starling" top 2>&1)"
}
bad_are() { # GPUS
  for _ in $(seq $((40 * patience))); do "$starling" top --json 2>/dev/null | tr -d ' \n' | grep -q "\"bad_gpus\":\[$1\]" && return 0; sleep 0.25; done
  fail "bad GPUs are not $1: $("$starling" top --json)"
}
shown 'executor-0: GPU 4 of .* is not used: the machine has 4 GPUs'
bad_are 4
"$starling" submit --gpus 5 -- true >job.txt 2>/dev/null || true

echo "-- a job on a GPU with an XID goes elsewhere, and people are told why"
job=$("$starling" submit --gpus 1 -- sh -c "echo run >>$work/runs; [ \$(wc -l <$work/runs) -gt 1 ] || sleep 60") || fail "submit"
for _ in $(seq $((40 * patience))); do grep -qs run runs && break; sleep 0.25; done
at=$("$starling" jobs --json "$job" 2>/dev/null | python3 -c 'import json,sys; print(json.load(sys.stdin)["jobs"][0]["placement"])')
gpus "all['xids'] = [[${at%%-*}, 31], [${at%%-*}, 79]]"
shown "GPU $at of .* is not used: XID 79"
wait_finished 20 "$job"
[ "$(wc -l <runs)" -eq 2 ] || fail "the job ran $(wc -l <runs) times"
"$starling" topology state | grep -q "$at" || fail "topology state: $("$starling" topology state)"
"$starling" jobs 2>&1 | grep -q 'XID 79' || fail "jobs does not tell"

echo "-- a probe that fails drains the server: what runs goes on, nothing new starts"
long=$("$starling" submit --gpus 1 -- sh -c "while [ ! -e $work/go ]; do sleep 0.1; done") || fail "submit"
for _ in $(seq $((40 * patience))); do "$starling" jobs 2>/dev/null | grep -q "^$long *running" && break; sleep 0.25; done
echo 'the file system is read-only' >probe
shown 'is drained: its probe says: the file system is read-only'
sleep 1
next=$("$starling" submit --gpus 1 -- true) || fail "submit"
sleep 2
"$starling" jobs 2>/dev/null | grep -q "^$next *waiting" || fail "it starts on a drained server: $("$starling" jobs)"
"$starling" jobs 2>/dev/null | grep -q "^$long *running" || fail "the drain ended a job: $("$starling" jobs)"
echo well >probe
gone 'is drained'
wait_finished 20 "$next"

echo "-- GPUs that a job has and does not use"
gpus 'for g in gpus: g["utilisation"] = 0'
shown "job $long has 1 GPU on .*, and has not used 1 of them for more than"
gpus 'for g in gpus: g["utilisation"] = 80; g["energy_mj"] += 3600000000'
gone 'has not used'
sleep 1
touch go
wait_finished 20 "$long"

echo "-- what was used, by whom, and the energy of it"
"$starling" history --json 2>/dev/null | python3 -c '
import json, sys
jobs = {j["job"]: j for j in json.load(sys.stdin)["jobs"]}
long = jobs[sys.argv[1]]
assert long["gpus"] == 1 and long["held_h"] > 0 and abs(long["gpu_h"] - long["held_h"]) < 1e-9 and long["exact"], long
assert 0.9 < long["energy_kwh"] < 1.1, long
assert long["gpu_type"] == "H100" and long["state"] == "finished", long' "$long" || fail "history: $("$starling" history --json)"
"$starling" history --by user,month --csv 2>/dev/null | grep -q "^$(id -un),$(date +%Y-%m)," || fail "by month: $("$starling" history --by user,month --csv)"
"$starling" history --until 2001-01-01 2>/dev/null | grep -q '^0 jobs' || fail "until: $("$starling" history --until 2001-01-01)"
"$starling" history --by colour 2>err.txt
[ $? -eq 2 ] && grep -q "'colour' is wrong; give some of" err.txt || fail "by colour: $(cat err.txt)"
"$starling" history --since nowish 2>err.txt
[ $? -eq 2 ] && grep -q "'nowish' is no date" err.txt || fail "since: $(cat err.txt)"
before=$("$starling" history --csv --state finished 2>/dev/null | cut -d, -f1-13 | sort)
kill -9 "$(agent_pid 0)"
for _ in $(seq $((40 * patience))); do after=$("$starling" history --csv --state finished 2>/dev/null | cut -d, -f1-13 | sort) && break; sleep 0.25; done
[ "$before" = "$after" ] || fail "a restart of the agent changed the past: $(diff <(echo "$before") <(echo "$after"))"
kill -INT $up
wait $up || fail "up must stop cleanly"

echo "-- an executor that refuses"
sed -i '1i hardware: refuse' flock/health.yaml
LD_LIBRARY_PATH=$work/driver "$starling" up >up.log 2>&1 &
up=$!
started+=($up)
wait_for 20 'GPU 4 of .* is not used: the machine has 4 GPUs; the flock.s health.yaml says hardware: refuse' up.log
kill -INT $up
wait $up
"$starling" down --remove >/dev/null 2>&1
[ ! -e flock ] || fail "left: $(find flock)"
echo "all right"
