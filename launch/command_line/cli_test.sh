#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program from outside: what a user types about files, what comes back, and what wrong input is told.
#   launch/command_line/cli_test.sh PROGRAM
# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/from_outside.sh"

echo "-- inputs"
expect 0 "4 servers" topology generate leaf-spine --servers 4 --gpus 8 --rack 2 -o t.yaml
expect 0 "100 jobs" workload generate --jobs 100 --gpus 32 --load 1.2 --max-duration 3600 -o w.csv
expect 0 "32 GPUs" topology check t.yaml
expect 0 "partition" topology partition t.yaml --agents 2
expect 0 "GPUs" topology show t.yaml
expect 0 "100 jobs" workload show w.csv
expect 0 "consolidate" policies
expect 0 "4 servers" topology draw t.yaml -o t.svg
grep -q '</svg>' t.svg || fail "topology draw: no picture in t.svg"
expect 0 "128 servers" topology generate fat-tree --k 8 -o kind.yaml
expect 0 "8 H100" topology generate vl2 --servers 1 --server-template dgx-h100 -o kind.yaml --force
expect 0 "64 servers" topology generate bcube --bcube-ports 4 --bcube-levels 3 -o kind.yaml --force
expect 0 "72 servers" topology generate dragonfly --servers 72 --dragonfly-global 2 -o kind.yaml --force
expect 0 "128 P100, 64 V100" topology generate rail-optimised --servers 8:V100,16:P100 --rails 8 --racks-per-unit 2 -o kind.yaml --force
for kind in philly-like gavel-continuous gavel-static helios-like dl2-like; do
  expect 0 "50 jobs" workload generate --kind $kind --jobs 50 --seed 3 -o $kind.csv
  expect 0 "durations" workload show $kind.csv
done
expect 0 "300 jobs" workload generate --kind gavel-continuous --jobs 300 --gpus 64 --target-load 0.9 -o kind.csv
expect 0 "load of 64 GPUs: 0.900" workload show kind.csv --gpus 64
expect 0 '"interarrival_cv"' workload show kind.csv --json
expect 0 '"interarrival_cv"' workload show kind.csv --json --plot kind.html --gpus 64
grep -q 'id="data"' kind.html || fail "workload show --plot: no page in kind.html"
expect 0 '"right": true' topology check t.yaml --json
expect 0 "complete -F" completion bash
expect 0 "2 scale-up domains, 144 GPUs (144 GB200)" topology generate nvl72 --racks 2 -o nvl.yaml
expect 0 "2 scale-up domains: 72 GPUs of 18 servers at 7200 Gbit/s each" topology show nvl.yaml
expect 0 "2 scale-up domains, 128 GPUs (128 TPU-v4)" topology generate torus-pods --servers 32 --rack 4 --racks-per-pod 4 --server-template tpu-v4 -o kind.yaml --force
expect 0 "starling topology draw cluster.yaml -o cluster.svg" topology draw --help
expect 0 "starling topology discover -o cluster.yaml" topology discover --help
expect 0 "starling history --by user,month" history --help
expect 2 "history: --json and --csv exclude each other" history --json --csv
expect 0 "" keys new k.json
printf 'default: a/b\nqueues:\n  - {name: a, most: 4, queues: [{name: b}]}\n' >queues.yaml
expect 0 "queues.yaml: 2 queues" queues check queues.yaml
printf 'queues:\n  - {name: a, mots: 4}\n' >wrong-queues.yaml
expect 2 "wrong-queues.yaml:2:15: key 'mots' is unknown; did you mean 'most'?" queues check wrong-queues.yaml
expect 2 "wrong-queues.yaml:2:15: key 'mots' is unknown" queues set wrong-queues.yaml --flock none
expect 2 "--queues: wrong-queues.yaml:2:15: key 'mots' is unknown" sim --topology t.yaml --trace w.csv --policy fifo --queues wrong-queues.yaml
expect 2 "--queues: wrong-queues.yaml:2:15: key 'mots' is unknown" up --flock none --topology t.yaml --queues wrong-queues.yaml
expect 1 "no job could run: 100 of 100 jobs can never run here and will fail; the first is job " sim --topology t.yaml --trace w.csv --policy fifo --queues queues.yaml --quiet
expect 2 "no-queues.yaml" queues check no-queues.yaml
expect 2 "queues: --json and --yaml exclude each other" queues show --json --yaml
expect 2 "none" queues --flock none
expect 0 "starling queues set queues.yaml --dry-run" queues set --help

printf 'sn,cpu_milli,memory_mib,gpu,model\ncpu,64000,262144,0,\nt4,32000,131072,2,T4\n' >nodes.csv
{ echo name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec; echo c,30000,1,0,0,; for i in 1 2 3 4 5; do echo "p$i,4000,1024,1,600,"; done; echo v,1,1,1,10,V100; } >pods.csv
expect 0 "2 nodes" pack --nodes nodes.csv --pods pods.csv --policy all --out pack.csv.gz --plot pack.svg
grep -q "note: gpu_spec 'V100' is on no node" err.txt || fail "pack: no word about a model that no node has: $(cat err.txt)"
[ "$(zcat pack.csv.gz | wc -l)" -eq 50 ] || fail "pack.csv.gz does not have 7 pods of 7 policies"
zcat pack.csv.gz | grep -q '^fgd,1,placed,c,cpu,,0,0.000,0,' || fail "pack: another first event: $(zcat pack.csv.gz | head -8)"
zcat pack.csv.gz | grep -q '^fgd,7,unscheduled,v,,,3010,150.500,1200,.*,4$' || fail "pack: another seventh event: $(zcat pack.csv.gz | head -8)"
grep -q '</svg>' pack.svg || fail "pack: no picture in pack.svg"
expect 0 '"allocated_gpus": 1.2' pack --nodes nodes.csv --pods pods.csv --json
expect 0 "2 servers" topology import nodes.csv -o t2.yaml
expect 0 "assumed: one rack with one switch" topology import nodes.csv -o t2.yaml
grep -q "^# assumed: island" t2.yaml || { echo "FAIL: t2.yaml does not say what was assumed"; exit 1; }
expect 0 "of 2 GPUs on 2 nodes" pack --nodes t2.yaml --pods pods.csv --inflate 1.2 --order shuffle
{ echo name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time; echo a,1,1,1,1000,0,5; echo b,1,1,2,1000,5,9; } >timed.csv
expect 0 "2 pods of timed.csv (lifetimes)" pack --nodes nodes.csv --pods timed.csv --departures --out timed-events.csv
[ "$(tail -1 timed-events.csv)" = 'fgd,4,left,b,t4,0|1,3000,150.000,0,0.000,0.000,0' ] || fail "pack --departures: $(cat timed-events.csv)"

mkdir -p data/conformance
printf 'job_id,submit_s,gpus,duration_s\na,0,1,10\n' >data/conformance/philly_week.csv.gz
week() {
  local policies='"fifo strict count" "fifo skip count" "sjf strict count" "sjf skip count" "fifo strict node" "fifo skip node" "sjf strict node"'
  echo '{"philly_week": {"results": {'"$(sed 's/" "/": [10, 0, 10], "/g' <<<"$policies")"': [10, 0, 10], "sjf skip node": [10, 0, '"$1"']}}}' >data/conformance/expected.json
}
week 10
expect 0 "from conformance/expected.json" reproduce --list
expect 0 "all of 24 bounds held" reproduce philly-week --data data -o week.md
grep -qF '| fifo:queue=strict,fit=count: mean JCT | 10.00000 s | 10.00000 s | 0 | equal |' week.md || fail "reproduce: another page: $(cat week.md)"
expect 0 '"holds": true' reproduce philly-week --data data --json -o week.html
grep -q 'id="data"' week.html || fail "reproduce: no page in week.html"
week 11
expect 1 "1 of 24 bounds missed" reproduce philly-week --data data -o week.md
grep -qF '| sjf:queue=skip,fit=server: makespan | 11 s | 10 s | -9.09 % | equal | missed |' week.md || fail "reproduce: the page does not say what is missed: $(cat week.md)"

echo "-- files of a user's"
echo "my notes" >mine.txt
: >free.yaml
expect 2 "mine.txt: what is there differs from this and would be replaced; give --force" topology generate flat --servers 2 -o mine.txt
expect 2 "give --force" topology import nodes.csv -o mine.txt
expect 2 "give --force" workload generate --jobs 5 -o mine.txt
for name in svg html xml csv md; do cp mine.txt "mine.$name"; done
expect 2 "no picture of Starling's" topology draw t.yaml -o mine.svg
expect 2 "no page of Starling's" workload show w.csv --plot mine.html
expect 2 "no table of 'starling pack'" pack --nodes nodes.csv --pods pods.csv --out mine.csv
expect 2 "no picture of Starling's" pack --nodes nodes.csv --pods pods.csv --plot mine.svg
expect 2 "no page of 'starling reproduce'" reproduce philly-week --data data -o mine.md
expect 2 "no page of Starling's" reproduce philly-week --data data -o mine.html
expect 2 "no table of 'starling profile'" profile --quick -o mine.csv
expect 2 "no list of Starling's verdicts" chaos sim --seeds 1 --junit mine.xml
expect 2 "no list of Starling's verdicts" chaos live --junit mine.xml
expect 2 "no page of Starling's" chaos live --page mine.html
expect 2 "give analytic, learned, learned:FILE, frozen, frozen:FILE, adaptive, adaptive:FILE or physics" sim --topology none.yaml --trace none.csv --policy fifo --physics full --speed adapted
expect 2 "--pairs FILE is missing" interference meta --out new.weights
expect 2 "--out FILE is missing" interference meta --pairs none.csv
expect 2 "none.csv" interference meta --pairs none.csv --out new.weights
expect 2 "colocated.csv" interference adapt --data .
pairs_of() {  # CAMPAIGN,GPU...: made-up pairs of five types in the columns of gavel/colocated.csv
  echo campaign,gpu,model_a,batch_a,model_b,batch_b,steps_per_s_a,steps_per_s_b,iso_a,iso_b,norm_a,norm_b,flag
  local set a b
  for set in "$@"; do
    for a in A3C,0 CycleGAN,0 LM,5 LM,10 LM,20; do
      for b in A3C,0 CycleGAN,0 LM,5 LM,10 LM,20; do [[ $a > $b ]] || echo "$set,$a,$b,1,1,2,2,0.5,0.6,"; done
    done
  done
}
mkdir -p few/gavel
pairs_of 2019_raw,k80 >few/gavel/colocated.csv
expect 2 "few/gavel/colocated.csv: fewer than two changes of hardware" interference adapt --data few
expect 2 "fewer than two changes of hardware" interference meta --pairs few/gavel/colocated.csv --without 2019_raw/k80 --out new.weights
pairs_of 2019_raw,k80 2020,k80 2020,v100 >pairs.csv
expect 2 "no set '2021/k80' in pairs.csv; it has: 2020/k80, 2019_raw/k80, 2020/v100" interference meta --pairs pairs.csv --without 2021/k80 --out new.weights
expect 0 "wrote new.weights" interference meta --pairs pairs.csv --without 2020/v100 --out new.weights
grep -q -- "--pairs pairs.csv --without 2020/v100 --seed" new.weights || fail "a prior does not say what it was made of"
expect 0 '"meta-rl"' sim --topology t.yaml --trace w.csv --physics full --speed adaptive:new.weights --policy meta-rl --json
expect 2 "new.weights: this is a prior of shifts" sim --topology t.yaml --trace w.csv --physics full --speed learned:new.weights
expect 2 "adaptive:FILE or physics" sim --topology t.yaml --trace w.csv --speed clever
expect 2 "no page of Starling's" interference show --pairs none.csv --out mine.html
expect 2 "no file of weights" train interference --data . --out mine.txt
expect 2 "no file of weights" train policy --config none.yaml --out mine.txt
for file in mine.*; do [ "$(cat "$file")" = "my notes" ] || fail "$file is replaced"; done
expect 0 "2 servers" topology generate flat --servers 2 -o free.yaml
expect 0 "2 servers" topology generate flat --servers 2 -o free.yaml
expect 2 "give --force" topology generate flat --servers 3 -o free.yaml
expect 0 "3 servers" topology generate flat --servers 3 -o free.yaml --force
expect 0 "4 servers" topology draw t.yaml -o t.svg
expect 0 "GPU" topology draw free.yaml -o t.svg
expect 0 "jobs" workload show w.csv --plot kind.html
expect 0 "2 nodes" pack --nodes nodes.csv --pods pods.csv --policy all --out pack.csv.gz --plot pack.svg
expect 0 "5 jobs" workload generate --jobs 5 -o five.csv.gz
expect 0 "5 jobs" workload generate --jobs 5 -o five.csv.gz

echo "-- servers of unequal size"
cat >odd.yaml <<'END'
server_templates:
  large: {gpus: 8, gpu_type: V100, cpus: 64, memory_gib: 256}
  small: {gpus: 4, gpu_type: V100, cpus: 32, memory_gib: 128}
servers: [{template: large}, {template: small, count: 2}]
END
printf 'job_id,submit_s,gpus,duration_s,workers\ntwo-eights,0,16,50,2\nafter,1,8,5,1\n' >odd.csv
expect 0 "2 workers of 8 GPUs, the servers hold 1" sim --topology odd.yaml --trace odd.csv --out odd.out
grep -q '^two-eights,.*,failed$' odd.out/jobs.csv || fail "a gang that fits nowhere was not refused"
grep -q '^after,.*,finished$' odd.out/jobs.csv || fail "a gang that fits nowhere held up the next"
sed -i '/^after/d' odd.csv
expect 1 "no job could run: 1 of 1 job can never run here and will fail; the first is job two-eights: " sim --topology odd.yaml --trace odd.csv --quiet

echo "-- wrong inputs"
printf 'server_templates: {l: {gpus: 0, cpus: 4, memory_gib: 8}}\nservers: [{template: l}]\nname: none\n' >nogpu.yaml
printf 'topologies: [nogpu.yaml]\nworkloads: [w.csv]\npolicies: [fifo]\n' >nogpu-experiment.yaml
expect 2 "did you mean 'sim'" smi
expect 2 "unknown command 'frobnicate'" frobnicate
expect 0 "starling sim [OPTIONS]" help sim
expect 2 "unknown command 'frobnicate'" help frobnicate
expect 0 "threshold=" policies lif
grep -q '^fifo' out.txt && fail "policies lif shows others: $(cat out.txt)"
expect 0 "threshold=" policies lif:threshold=0.3
expect 2 "no policy 'lof'" policies lof
expect 2 "give it alone" policies --markdown --json
expect 2 "did you mean '--topology'" sim --toplogy t.yaml
expect 2 "did you mean 'generate'" topology genrate
expect 2 "--topology FILE is missing" sim --trace w.csv
expect 2 "--trace FILE is missing" sim --topology t.yaml
expect 2 "nosuch.yaml" sim --topology nosuch.yaml --trace w.csv
expect 2 "nosuch.csv" sim --topology t.yaml --trace nosuch.csv
expect 2 "whole number from 1" sim --topology t.yaml --trace w.csv --agents 0
expect 2 "whole number from 1" sim --topology t.yaml --trace w.csv --agents two
expect 2 "9 agents cannot share 4 servers" sim --topology t.yaml --trace w.csv --agents 9
head -1 w.csv >header.csv
expect 2 "header.csv: it has no jobs" sim --topology t.yaml --trace header.csv
expect 2 "leaves no job" sim --topology t.yaml --trace w.csv --length 0s
expect 2 "has no GPU" sim --topology nogpu.yaml --trace w.csv
expect 2 "has no GPU" topology partition nogpu.yaml --agents 2
expect 2 "topology nogpu has no GPU" experiment nogpu-experiment.yaml --out no.out
expect 2 "unknown key 'topologies'" sim --topology t.yaml --trace w.csv --faults nogpu-experiment.yaml
expect 2 "from 1 to 256" topology generate flat --gpus 300 -o no.yaml
expect 2 "at most 100" pack --nodes nodes.csv --pods pods.csv --inflate 1e9
[ ! -e no.out ] || fail "a wrong experiment left a folder"
expect 2 "number above 0" sim --topology t.yaml --trace w.csv --load -1
expect 2 "give one of them" sim --topology t.yaml --trace w.csv --load 1 --arrival-speed 2
expect 0 '"load": 0.7' sim --topology t.yaml --trace w.csv --load 0.7 --json
expect 2 "consolidate" sim --topology t.yaml --trace w.csv --policy nosuch
expect 2 "--policy" sim --topology t.yaml --trace w.csv --policy fifo:nosuch=1
expect 2 "measured is for 'starling sim'" run --topology t.yaml --trace w.csv --physics measured
expect 2 "train dl2: --experiment FILE is missing" train dl2
expect 2 "the file has no variable, so none is called NO" train dl2 --experiment t.yaml --set NO=1
expect 2 "give marginal, paper or code" train dl2 --experiment t.yaml --update no
expect 2 "--window is wrong beside --start" train dl2 --experiment t.yaml --start no.weights --window 5
expect 2 "give replay, critic, exploration, shared-reward or nothing" train dl2 --experiment t.yaml --without luck
expect 2 "full:pairs=FILE@CAMPAIGN" sim --topology t.yaml --trace w.csv --physics none
expect 2 "give trace, measured, dl2, full" sim --topology t.yaml --trace w.csv --physics none
expect 2 "SIGMA from 0 to 10" sim --topology t.yaml --trace w.csv --physics full:stragglers=-1
expect 2 "add network=flows" sim --topology t.yaml --trace w.csv --physics full:phases
expect 2 "full:network=flows" sim --topology t.yaml --trace w.csv --physics full:network=fair
expect 2 "knows the gangs of its own servers" run --topology t.yaml --trace w.csv --physics full:network=flows
expect 2 "noisy:SIGMA" sim --topology t.yaml --trace w.csv --durations some
expect 2 "no trace format" sim --topology t.yaml --trace w.csv --format nosuch
expect 2 "7d" sim --topology t.yaml --trace w.csv --from yesterday
expect 2 "give one of them" run --topology t.yaml --trace w.csv --speedup 2 --target-seconds 2
expect 2 "which flock" jobs
expect 2 "no flock lives there" jobs --flock "$work/none"
expect 2 "job file" submit --flock "$work/none"
expect 2 "--config FILE is missing" agent
expect 2 "k.json" keys new k.json
expect 2 "-o FILE.svg is missing" topology draw t.yaml
expect 2 "must end in .svg" topology draw t.yaml -o t.png
expect 2 "--out: /proc/none" sim --topology t.yaml --trace w.csv --out /proc/none
expect 2 "nosuch.yaml" topology draw nosuch.yaml -o t.svg
expect 2 "did you mean 'leaf-spine'" topology generate leafspine -o no.yaml
expect 2 "the kinds are flat, leaf-spine" topology generate hypercube -o no.yaml
expect 2 "--k means nothing to vl2, only to fat-tree" topology generate vl2 --k 4 -o no.yaml
expect 2 "--servers means nothing to nvl72" topology generate nvl72 --servers 4 -o no.yaml
expect 2 "must be faster than the network" topology generate nvl72 --scale-up-gbps 100 -o no.yaml
expect 2 "--scale-up-gbps means nothing to flat, only to nvl72" topology generate flat --scale-up-gbps 100 -o no.yaml
expect 2 "even" topology generate vl2 --vl2-aggregation-ports 3 -o no.yaml
expect 2 "unknown server template 'dgx-h1000'; did you mean 'dgx-h100'" topology generate flat --server-template dgx-h1000 -o no.yaml
expect 2 "--gpus is given by --server-template" topology generate flat --server-template 4xt4 --gpus 2 -o no.yaml
expect 0 "--kind philly is called philly-like now" workload generate --kind philly --jobs 50 --seed 3 -o old.csv
cmp -s old.csv philly-like.csv || fail "a kind by its old name is another"
expect 2 "the kinds are philly-like" workload generate --kind bitbrains -o no.csv
expect 2 "--load means nothing to gavel-static" workload generate --kind gavel-static --load 1 -o no.csv
expect 2 "exclude each other" workload generate --load 1 --target-load 1 -o no.csv
expect 2 "need each other" workload generate --kind gavel-continuous --target-load 1 -o no.csv
expect 2 "--gpus N is for --target-load X" workload generate --kind dl2-like --gpus 100 -o no.csv
expect 2 "nosuch: no such folder; give the published data folder" fit --data nosuch
expect 2 "give an experiment in YAML" experiment nosuch.yaml
expect 2 "give an experiment in YAML" experiment nosuch.yaml --set DATA=.
printf 'topologies: [t.yaml]\nworkloads: ["${HERE}/w.csv"]\npolicies: [fifo]\nphysics: "${WORLD}"\n' >world.yaml
expect 2 "no variable \${WRLD}; it has: HERE, WORLD" experiment world.yaml --set HERE=.,WRLD=full --dry-run
expect 2 "no variable \${network}" experiment world.yaml --set network=flows --dry-run
expect 2 "give NAME=VALUE" experiment world.yaml --set phases --dry-run
expect 2 "'full:goodput,network=fair' is wrong" experiment world.yaml --set WORLD=full:goodput,network=fair,HERE=. --dry-run
echo 'speed: "${SPEED}"' >>world.yaml
head -c 200 new.weights >cut.weights
expect 2 "world.yaml:5:8: speed: cut.weights" experiment world.yaml --set HERE=.,WORLD=full,SPEED=adaptive:cut.weights --dry-run
expect 2 "world.yaml:5:8: speed: absent.weights" experiment world.yaml --set HERE=.,WORLD=full,SPEED=learned:absent.weights --dry-run
expect 2 "'@2019_raw' lacks the file; write FILE or FILE@CAMPAIGN" sim --topology t.yaml --trace w.csv --physics full:pairs=@2019_raw
printf '%s\n' campaign,gpu,model_a,batch_a,model_b,batch_b,steps_per_s_a,steps_per_s_b,iso_a,iso_b,norm_a,norm_b,flag \
  2020,k80,A3C,0,LM,10,1,1,2,2,0.61,0.17, >pairs.csv
expect 2 "pairs=pairs.csv: no two models of these jobs were measured together" sim --topology t.yaml --trace w.csv --physics full:pairs=pairs.csv
expect 2 "pairs=pairs.csv: no two models of these jobs were measured together" \
  experiment world.yaml --set HERE=.,WORLD=full:pairs=pairs.csv,SPEED=analytic --dry-run
export SPEED=adaptive:new.weights
expect 2 "name a folder by --out" experiment world.yaml --set HERE=.,WORLD=full --out /proc/none --quiet
expect 0 "fifo" experiment world.yaml --set HERE=.,WORLD=full:network=flows,phases --dry-run
expect 2 "no folder nodir; make it" chaos sim --seeds 1 --junit nodir/x.xml
expect 2 "no folder nodir; make it" chaos sim --seeds 1 --keep nodir
expect 2 "no folder nodir; make it" chaos live --page nodir/x.html
expect 2 "nosuch.csv" fit --pairs nosuch.csv
expect 2 "give a job file" submit nosuch.yaml
expect 2 "0 is no job's id" submit --id 0 -- true
expect 2 "--id: is empty, give HEX" submit --id "" -- true
expect 2 "--flock: is empty, give DIR" down --flock "" --remove
expect 2 "--out: is empty, give DIR" sim --topology t.yaml --trace w.csv --out ""
expect 2 "--jobs is there more than once; give it once" sim --topology t.yaml --trace w.csv --jobs 5 --jobs 6
expect 2 "--jobs has no value; give N" sim --topology t.yaml --trace w.csv --jobs
expect 2 "SIGMA from 0 to 10" sim --topology t.yaml --trace w.csv --physics full:stragglers=nan
printf 'name: jw\ncommand: echo one\n' >jw.yaml
expect 2 "'b.yaml' is not expected after the job file jw.yaml; give one file" submit jw.yaml b.yaml
expect 2 "'--wait' is not expected after the job file jw.yaml" submit -- jw.yaml --wait
expect 2 "did you mean '--wait'" submit jw.yaml --wiat
expect 2 "'b.yaml' was not expected" submit jw.yaml -- b.yaml
for option in --gpus --workers --gpu-type --name; do
  expect 2 "$option is of a command; jw.yaml says that itself" submit $option 4 jw.yaml
  expect 2 "$option is of a command; jw.yaml says that itself" submit jw.yaml $option 4
done
expect 2 "no folder nodir; make it" workload generate -o nodir/x.csv
expect 2 "no folder nodir; make it" topology generate flat -o nodir/t.yaml
expect 2 "no folder nodir; make it" topology draw t.yaml -o nodir/t.svg
expect 2 "no folder nodir; make it" workload show w.csv --plot nodir/w.html
expect 2 "must end in .html" workload show w.csv --plot w.png
expect 2 "give a trace in CSV" workload show nosuch.csv
expect 2 "no experiment, no run and no training lies there" report .
expect 2 "exclude each other" fit --data . --json --constants
expect 2 "goes with --data and --constants alone" fit --data . --goodput --json
[ ! -e no.yaml ] && [ ! -e no.csv ] || fail "wrong input left a file"
expect 2 "--nodes FILE is missing" pack --pods pods.csv
expect 2 "--pods FILE is missing" pack --nodes nodes.csv
expect 2 "give openb's list of pods" pack --nodes nodes.csv --pods nosuch.csv
expect 2 "did you mean 'fgd'" pack --nodes nodes.csv --pods pods.csv --policy random,fdg
expect 2 "nosuch.yaml" pack --nodes nosuch.yaml --pods pods.csv
expect 2 "named twice" pack --nodes nodes.csv --pods pods.csv --policy fgd,fgd
expect 2 "give file or shuffle" pack --nodes nodes.csv --pods pods.csv --order sideways
expect 2 "deletion_time" pack --nodes nodes.csv --pods pods.csv --departures
expect 2 "leave --inflate" pack --nodes nodes.csv --pods pods.csv --departures --inflate 2
expect 2 "number above 0" pack --nodes nodes.csv --pods pods.csv --inflate 0
expect 2 "must end in .svg" pack --nodes nodes.csv --pods pods.csv --plot p.html
expect 2 "no folder nodir; make it" pack --nodes nodes.csv --pods pods.csv --out nodir/x.csv
expect 2 "give a NAME; there are" reproduce --data data
expect 2 "did you mean 'philly-week'" reproduce phily-week --data data
expect 2 "there is no folder nosuch" reproduce philly-week --data nosuch
expect 2 "must end in .md or .html" reproduce philly-week --data data -o page.txt
expect 2 "no folder nodir; make it" reproduce philly-week --data data -o nodir/page.md
mkdir empty && expect 2 "empty/conformance/expected.json is missing; give the published data folder" reproduce philly-week --data empty
printf 'name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1\nb,1,1,2,500\n' >bad-pods.csv
expect 2 "bad-pods.csv:3: gpu_milli is '500'; write 1000" pack --nodes nodes.csv --pods bad-pods.csv
printf 'sn,cpu_milli,memory_mib,gpu,model\na,1,x,1,T4\n' >bad-nodes.csv
expect 2 "bad-nodes.csv:2" pack --nodes bad-nodes.csv --pods pods.csv
printf 'los: 0.1\n' >n.yaml
expect 2 "n.yaml:1: unknown key 'los'" sim --topology t.yaml --trace w.csv --network n.yaml
printf 'loss: 2\n' >n.yaml
expect 2 "n.yaml:1: loss is a probability" sim --topology t.yaml --trace w.csv --network n.yaml
printf 'racks: [\n' >bad.yaml
expect 2 "bad.yaml:" topology check bad.yaml
"$starling" topology check bad.yaml --json >out.txt 2>err.txt
[ $? -eq 2 ] && grep -q '"right": false' out.txt && [ ! -s err.txt ] || fail "topology check --json: $(cat out.txt err.txt)"
expect 2 "no flock" gateway --flock nowhere
expect 2 "give HOST:PORT" gateway --flock nowhere --listen 8750
expect 2 "go together" gateway --flock nowhere --tls-cert cert.pem
expect 2 "give --tls-cert and --tls-key, or --plain" gateway --flock nowhere --listen 0.0.0.0:8750
expect 2 "viewer, user or operator" gateway token new ann --role root --tokens tokens.json
expect 2 "at most 3653d" gateway token new ann --expires 10y --tokens tokens.json
expect 0 "starling_" gateway token new ann --tokens tokens.json
expect 0 "ann" gateway token list --tokens tokens.json
expect 2 "there is no token 'x'; there are" gateway token revoke x --tokens tokens.json
printf 'job_id,submit_s,gpus,duration_s\na,0,1,10\nb,1,x,10\n' >bad.csv
expect 2 "bad.csv:3" sim --topology t.yaml --trace bad.csv

if [ -n "${STARLING_DATA:-}" ]; then
  echo "-- fitted"
  expect 0 "on one GPU" fit --data "$STARLING_DATA"
  expect 0 '"models"' fit --json
else
  echo "-- fit is not tried: STARLING_DATA is not set"
fi

over
