#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Elastic jobs take as long live as simulated:
#   tests/elastic_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
begin "$1"
"$starling" topology generate flat --servers 8 --gpus 8 -o c.yaml 2>/dev/null || fail "no topology"
python3 - <<'PY' || fail "no trace"
import random
random.seed(7)
at = 0
with open("elastic.csv", "w") as out:
    print("job_id,submit_s,gpus,duration_s,model,workers,min_workers,max_workers", file=out)
    for n in range(120):
        at += random.expovariate(1 / 240)
        gpus = random.choice([1, 2, 4, 8, 8])
        duration = random.uniform(1800, 9000)
        print(f"{n},{at:.3f},{gpus},{duration:.3f},resnet50,{gpus},1,{2 * gpus}", file=out)
PY
# A flock that has to wait for its processor is late by so much of its own time as that is quick: at a quarter of the speed
# a busy machine makes it a quarter as late, and what is wrong stays as wrong.
near() {
  local speedup
  for speedup in 1500 1500 375; do
    "$starling" run --topology c.yaml --trace "${3:-elastic.csv}" --policy "$1" --physics "$2" --speedup $speedup --with-sim --json --quiet \
      >run.json 2>err.txt || fail "run: $(cat err.txt)"
    python3 - $speedup <<'PY' && return 0
import json, sys
live, simulated = json.load(open("run.json"))["runs"]
for run in live, simulated:
    print(run["mode"], "at", sys.argv[1], run["avg_jct_s"], run["resizes"], run["jobs_finished"])
    assert run["jobs_finished"] == 120 and run["resizes"] > 0, run
sys.exit(abs(live["avg_jct_s"] / simulated["avg_jct_s"] - 1) > 0.02)
PY
  done
  fail "under $1 with physics $2 live is not as simulated: $(cat run.json)"
}
for policy in optimus drf; do
  for physics in trace full; do
    echo "-- $policy, $physics"
    near $policy $physics
  done
done
# Parameter servers that cost something, and starts that take what their jobs say.
sed -e '1s/$/,cpus,max_servers,server_cpus,save_s,restore_s/' -e '2,$s/$/,1,16,1,5,20/' -e 's/resnet50/vgg16/' elastic.csv >servers.csv
for policy in optimus optimus:servers=free; do
  echo "-- $policy, full, parameter servers"
  near $policy full servers.csv
  cp run.json "servers-${policy#optimus}.json"
done
python3 - <<'PY' || fail "choosing servers gains nothing"
import json
asked, free = (json.load(open(f"servers-{name}.json"))["runs"][1]["avg_jct_s"] for name in ("", ":servers=free"))
print("mean JCT", asked, "s, with servers chosen", free, "s")
assert free < asked, (free, asked)
PY
# Live and simulated processes run by the same allocations, and so end sooner than as they ask. What a larger batch is
# worth goes with the model.
sed 's/resnet50/bert-base/' elastic.csv >batches.csv
asked=$("$starling" sim --topology c.yaml --trace batches.csv --policy optimus --physics full:goodput --json --quiet |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["avg_jct_s"])')
echo "-- optimus:batch=free, full:goodput; as asked $asked s"
near optimus:batch=free full:goodput batches.csv
python3 - "$asked" <<'PY' || fail "choosing batches gains nothing: $(cat run.json)"
import json, sys
for run in json.load(open("run.json"))["runs"]:
    assert run["avg_jct_s"] < 0.95 * float(sys.argv[1]), run["avg_jct_s"]
PY
echo "all right"
