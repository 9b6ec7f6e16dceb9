#!/usr/bin/env bash
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
port=$((32000 + $$ % 500 * 10))
pids=()
cleanup() {
  [ -n "${SLURM_CONF:-}" ] && scancel -u root 2>/dev/null && sleep 1
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  sleep 0.5
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; done
  rm -rf "$work" /tmp/starling-0-[0-9]*/sltest-$$
}
trap cleanup EXIT
fail() {
  echo "FAILED: $*" >&2
  for log in up.log ctld.log n*.log batch.out; do [ -f "$log" ] && { echo "== $log"; tail -8 "$log"; }; done >&2
  exit 1
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
cat >slurm.conf <<EOF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/s
CryptoType=crypto/munge
SlurmctldPort=$port
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
for i in 1 2 3; do
  echo "NodeName=node$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=4 RealMemory=2000 Gres=gpu:2 State=UNKNOWN" >>slurm.conf
  echo "NodeName=node$i Name=gpu File=$work/gpu$((2 * i - 1)),$work/gpu$((2 * i))" >>gres.conf
done
echo "PartitionName=all Nodes=node[1-3] Default=YES MaxTime=INFINITE State=UP" >>slurm.conf
export SLURM_CONF=$work/slurm.conf
for _ in $(seq 50); do [ -S munge/s ] && break; sleep 0.1; done
slurmctld -D -f slurm.conf >ctld.out 2>&1 &
pids+=($!)
for i in 1 2 3; do
  mkdir -p spool/node$i
  slurmd -D -N node$i -f "$work/slurm.conf" >slurmd$i.out 2>&1 &
  pids+=($!)
done
for _ in $(seq 150); do [ "$(sinfo -h -o %T 2>/dev/null | sort -u)" = idle ] && break; sleep 0.1; done
[ "$(sinfo -h -o %T 2>&1 | sort -u)" = idle ] || fail "Slurm is not ready: $(sinfo 2>&1) $(cat ctld.out)"

sed 's/^ *//' >three.yaml <<'EOF'
EOF
"$starling" topology generate flat --servers 3 --gpus 2 -o three.yaml 2>/dev/null || fail "no topology"
# what runs of this flock
left() { pgrep -f -- "--dir /tmp/starling-0-[0-9]*/sltest-$$/|--config /tmp/starling-0-[0-9]*/sltest-$$/"; }

echo "-- outside an allocation"
"$starling" up --flock sltest-$$ --topology three.yaml --hosts slurm 2>err.txt
[ $? -eq 2 ] && grep -q "SLURM_JOB_NODELIST is not set" err.txt || fail "not refused: $(cat err.txt)"
[ ! -e sltest-$$ ] || fail "it leaves a directory"

echo "-- salloc: jobs run on the nodes of the allocation"
cat >inside.sh <<EOF
"$starling" up --flock $work/sltest-$$ --topology $work/three.yaml --hosts slurm >$work/up.log 2>&1 &
up=\$!
for _ in \$(seq 300); do grep -q ^ready $work/up.log && break; kill -0 \$up || exit 5; sleep 0.1; done
grep -q "^ready: 3 agents, 3 executors on 3 hosts" $work/up.log || exit 6
export STARLING_FLOCK=$work/sltest-$$
"$starling" submit --gpus 2 --wait -- sh -c 'echo on \$SLURMD_NODENAME' 2>/dev/null || exit 7
gang=\$("$starling" submit --gpus 2 --workers 3 -- sh -c 'echo gang \$SLURMD_NODENAME; sleep 1') || exit 8
for _ in \$(seq 800); do "$starling" jobs | grep -q "^\$gang *finished" && break; sleep 0.1; done
"$starling" jobs | grep -q "^\$gang *finished" || exit 9
kill -INT \$up
wait \$up || exit 10
EOF
salloc -N3 --gres=gpu:2 bash inside.sh >alloc.out 2>&1
code=$?
[ $code -eq 0 ] || fail "inside the allocation: $code: $(tail -5 alloc.out)"
[ "$(grep -rhs '^gang' /tmp/starling-0-*/sltest-$$/*/nodes/*/jobs | sort -u | wc -l)" -eq 3 ] || fail "the gang was not on three nodes: $(grep -rhs '^gang' /tmp/starling-0-*/sltest-$$/)"
[ -z "$(left)" ] || fail "processes are left: $(ps -o args= -p $(left))"
rm -rf sltest-$$ /tmp/starling-0-[0-9]*/sltest-$$

echo "-- sbatch: all ends with the allocation"
cat >batch.sh <<EOF
#!/bin/bash
exec "$starling" up --flock $work/sltest-$$ --topology $work/three.yaml --hosts slurm
EOF
sbatch -N3 --gres=gpu:2 -o batch.out batch.sh >sbatch.out 2>&1 || fail "sbatch: $(cat sbatch.out)"
for _ in $(seq 300); do grep -qs ^ready batch.out && break; sleep 0.1; done
grep -q ^ready batch.out || fail "not ready in a batch job"
STARLING_FLOCK=$work/sltest-$$ "$starling" submit --gpus 2 -- sleep 100 >/dev/null || fail "submit from outside"
scancel "$(awk '{print $4}' sbatch.out)"
for _ in $(seq 200); do [ -z "$(left)$(squeue -h)" ] && break; sleep 0.1; done
[ -z "$(left)" ] || fail "processes outlive the allocation: $(ps -o args= -p $(left))"
echo "all right"
