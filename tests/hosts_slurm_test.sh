#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock inside an allocation of a real Slurm, all of it on this machine:
#   tests/hosts_slurm_test.sh PATH/TO/starling
# Ends with 77, which ctest calls skipped, where that cannot be.
set -u
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root starts slurmd"
for program in slurmctld slurmd munged srun sbatch salloc scontrol mungekey; do
  PATH=$PATH:/usr/sbin command -v $program >/dev/null || skip "no $program is installed; 'launch/setup --tests' installs it"
done
PATH=$PATH:/usr/sbin
starling=$(realpath "$1")
work=$(mktemp -d /tmp/sl-XXXXXX)
pids=() alloc=
# what runs of this flock
left() { pgrep -f -- "(--dir|--config) /tmp/starling-0-[0-9a-f-]+/sltest-$$/"; }
# what runs with this Slurm's configuration: also its step daemons, which do not say so in their words
users() { grep -lzsx -- "SLURM_CONF=$work/slurm.conf" /proc/[0-9]*/environ | cut -d/ -f3 | grep -vx "$$"; }
stop_slurm() {  # and all that it has started
  local pid
  [ -n "${SLURM_CONF:-}" ] && timeout 5 scancel -u root 2>/dev/null && sleep 1
  for pid in $alloc "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  for _ in $(seq 50); do kill -0 $alloc "${pids[@]}" 2>/dev/null || break; sleep 0.1; done
  for pid in $alloc "${pids[@]}" $(left) $(users); do kill -9 "$pid" 2>/dev/null; done
  pids=() alloc=
}
cleanup() {
  stop_slurm 2>/dev/null
  wait 2>/dev/null
  rm -rf "$work" /tmp/starling-0-[0-9]*/sltest-$$
  rmdir /tmp/starling-0-[0-9]* 2>/dev/null
}
trap cleanup EXIT
trap 'exit 1' INT TERM
fail() {
  echo "FAILED: $*" >&2
  for log in up.log ctld.out ctld.log node*.log slurmd*.out batch.out alloc.out; do
    [ -f "$log" ] && { echo "== $log"; tail -8 "$log"; }
  done >&2
  exit 1
}
# dead: which daemons of Slurm have ended
dead() { for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || echo "$pid"; done; }
# within SECONDS COMMAND...: until it succeeds, and no longer than Slurm lives
within() {
  local until=$((SECONDS + $1)) gone
  shift
  until "$@"; do
    gone=$(dead)
    [ -z "$gone" ] || { echo "a daemon of Slurm has ended (process $gone)" >&2; return 1; }
    [ $SECONDS -lt $until ] || return 1
    sleep 0.1
  done
}
cd "$work" || exit 1
chmod 755 "$work"
export TMPDIR=$work

echo "-- a Slurm of three nodes"
mkdir munge state spool && chmod 711 munge
mungekey -c -k munge/key -b 1024 || fail "no munge key"
munged -F --key-file="$work/munge/key" --socket="$work/munge/s" --pid-file="$work/munge/pid" --log-file="$work/munge/log" \
  --seed-file="$work/munge/seed" --force >munged.out 2>&1 &
pids+=($!)
host=$(hostname -s)
for i in 1 2 3 4 5 6; do mknod gpu$i c 1 3 || skip "no device nodes can be made here"; done
# conf PORT...: of slurmctld and three slurmd
conf() {
cat >slurm.conf <<EOF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/s
CryptoType=crypto/munge
SlurmctldPort=$1
SlurmctldPidFile=$work/ctld.pid
SlurmctldLogFile=$work/ctld.log
SlurmdPidFile=$work/%n.pid
SlurmdLogFile=$work/%n.log
SlurmdSpoolDir=$work/spool/%n
StateSaveLocation=$work/state
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
DefMemPerCPU=100
KillWait=5
InactiveLimit=0
SlurmctldTimeout=60
SlurmdTimeout=60
EOF
: >gres.conf
for i in 1 2 3; do
  shift
  echo "NodeName=node$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$1 CPUs=4 RealMemory=2000 Gres=gpu:2 State=UNKNOWN" >>slurm.conf
  echo "NodeName=node$i Name=gpu File=$work/gpu$((2 * i - 1)),$work/gpu$((2 * i))" >>gres.conf
done
echo "PartitionName=all Nodes=node[1-3] Default=YES MaxTime=INFINITE State=UP" >>slurm.conf
}
export SLURM_CONF=$work/slurm.conf
is_idle() { [ "$(timeout 5 sinfo -h -o %T 2>/dev/null | sort -u)" = idle ]; }
[ -S munge/s ] || within 10 test -S munge/s || fail "munged does not start: $(cat munged.out)"
# Another program may take a port between the question and the start: then with others.
for try in 1 2 3; do
  # shellcheck disable=SC2046
  conf $("$starling" node probe --count 4 | sed 's/.*"ports":\[\([0-9,]*\)\].*/\1/; s/,/ /g')
  first=${#pids[@]}
  slurmctld -D -f slurm.conf >ctld.out 2>&1 &
  pids+=($!)
  for i in 1 2 3; do
    mkdir -p spool/node$i
    slurmd -D -N node$i -f "$work/slurm.conf" >slurmd$i.out 2>&1 &
    pids+=($!)
  done
  within 40 is_idle && break
  [ $try -lt 3 ] && grep -qsi "address already in use" ctld.out ctld.log slurmd*.out node*.log || fail "Slurm is not ready: $(timeout 5 sinfo 2>&1)"
  for pid in "${pids[@]:first}"; do kill -9 "$pid" 2>/dev/null; done
  pids=("${pids[@]:0:first}")
  rm -rf state/* ctld.* slurmd*.out node*.log
done

"$starling" topology generate flat --servers 3 --gpus 2 -o three.yaml 2>/dev/null || fail "no topology"
echo "-- outside an allocation"
"$starling" up --flock sltest-$$ --topology three.yaml --hosts slurm 2>err.txt
[ $? -eq 2 ] && grep -q "SLURM_JOB_NODELIST is not set" err.txt || fail "not refused: $(cat err.txt)"
[ ! -e sltest-$$ ] || fail "it leaves a directory"

echo "-- salloc: jobs run on the nodes of the allocation"
cat >inside.sh <<EOF
"$starling" up --flock $work/sltest-$$ --topology $work/three.yaml --hosts slurm >$work/up.log 2>&1 &
up=\$!
for _ in \$(seq 400); do grep -q ^ready $work/up.log && break; kill -0 \$up || exit 5; sleep 0.1; done
grep -q "^ready: 3 agents, 3 executors on 3 hosts" $work/up.log || exit 6
export STARLING_FLOCK=$work/sltest-$$
timeout 30 "$starling" submit --gpus 2 --wait -- sh -c 'echo on \$RANK' 2>/dev/null || exit 7
gang=\$("$starling" submit --gpus 2 --workers 3 -- sh -c 'echo gang \$RANK; sleep 1') || exit 8
for _ in \$(seq 300); do "$starling" jobs | grep -q "^\$gang *finished" && break; sleep 0.1; done
"$starling" jobs | grep -q "^\$gang *finished" || exit 9
kill -INT \$up
wait \$up || exit 10
EOF
salloc -N3 --gres=gpu:2 bash inside.sh >alloc.out 2>&1 &
alloc=$!
ended() { ! kill -0 $alloc 2>/dev/null; }
within 60 ended || fail "the allocation does not end"
wait $alloc
code=$?
alloc=
[ $code -eq 0 ] || fail "inside the allocation: $code: $(tail -5 alloc.out)"
# Each worker's line stands in the folder of the node that it was on.
[ "$(grep -rls '^gang [012]$' /tmp/starling-0-*/sltest-$$/*/nodes/*/jobs | sed 's#/nodes/.*##' | sort -u | wc -l)" -eq 3 ] || fail "the gang was not on three nodes: $(grep -rs '^gang' /tmp/starling-0-*/sltest-$$/*/nodes)"
[ -z "$(left)" ] || fail "processes are left: $(ps -o args= -p $(left))"
rm -rf sltest-$$ /tmp/starling-0-[0-9]*/sltest-$$

echo "-- sbatch: all ends with the allocation"
cat >batch.sh <<EOF
#!/bin/bash
exec "$starling" up --flock $work/sltest-$$ --topology $work/three.yaml --hosts slurm
EOF
sbatch -N3 --gres=gpu:2 -o batch.out batch.sh >sbatch.out 2>&1 || fail "sbatch: $(cat sbatch.out)"
within 60 grep -qs ^ready batch.out || fail "not ready in a batch job"
STARLING_FLOCK=$work/sltest-$$ "$starling" submit --gpus 2 -- sleep 100 >/dev/null || fail "submit from outside"
scancel "$(awk '{print $4}' sbatch.out)"
over() { [ -z "$(left)$(timeout 5 squeue -h)" ]; }
within 30 over
[ -z "$(left)" ] || fail "processes outlive the allocation: $(ps -o args= -p $(left))"
echo "-- an experiment as an array: a part that is killed is submitted again"
cat >e.yaml <<'YAML'
name: array
topologies: [{name: a, generate: flat, servers: 16}]
workloads: [{name: w, generate: philly-like, jobs: 4000, gang_max: 8}]
loads: [0.8, 0.9]
policies: [fifo, sjf, srtf]
seeds: 2
jobs: no
YAML
"$starling" experiment e.yaml --on slurm --parts 3 --threads 1 --out array.out >array.log 2>&1 &
array=$!
pids+=($array)
within 60 test -s array.out/slurm/id || fail "nothing was submitted: $(cat array.log)"
one=$(cat array.out/slurm/id)
runs() { squeue -h -t R -j "${one}_2" | grep -q .; }
within 30 runs || fail "part 2 does not run: $(cat array.log; squeue)"
scancel -s KILL "${one}_2" || fail "scancel"
array_over() { ! kill -0 $array 2>/dev/null; }
unset "pids[-1]"
within 300 array_over || fail "the array does not end: $(cat array.log)"
wait $array || fail "the experiment failed: $(cat array.log array.out/slurm/part-*.log)"
[ "$(cat array.out/slurm/id)" != "$one" ] || fail "nothing was submitted again: $(cat array.log)"
"$starling" experiment e.yaml --out whole.out --quiet >/dev/null || fail "no undivided run"
plain() { sed -E '/"(wall_s|decision_p50_us|decision_p99_us)"/d' "$1/summary.json"; }
[ "$(plain array.out)" = "$(plain whole.out)" ] || fail "the array is not the undivided run"
echo "all right"
