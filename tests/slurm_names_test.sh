#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sbatch, srun, squeue, sinfo, scancel, sacct and scontrol on a flock. Formats are held to those of the real commands
# where these are there (their headings need no controller).
#   tests/slurm_names_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs=('flock/nodes/*/log' up.log)
begin "$1"
"$starling" topology generate flat --servers 2 --gpus 2 -o two.yaml 2>/dev/null || fail "no topology"
up_ready --topology two.yaml --agents 2
"$starling" slurm links names >/dev/null || fail "no links"
export PATH=$work/names:$PATH
# state JOB STATE: until sacct says so
state() {
  for _ in $(seq $((100 * patience))); do
    [ "$(sacct -n -P -X -j "$1" -o State | head -1)" = "$2" ] && return 0
    sleep 0.1
  done
  fail "$1 is $(sacct -n -P -j "$1" -o State), not $2"
}

echo "-- sbatch: headers, arguments, files, what jobs are told"
cat >train.sbatch <<'S'
#!/bin/bash
#SBATCH --job-name=train -n 2
#SBATCH --gpus-per-task=1 --time=5 --output=%x-%j.out --error=%x-%j.err --mail-type=END
srun sh -c 'echo "$SLURM_PROCID of $SLURM_NTASKS on $SLURM_NNODES: $SLURM_JOB_NAME $SLURM_JOB_ID $1"' task "$1"
echo trouble >&2
S
status 0 sbatch train.sbatch argument
says '^Submitted batch job [0-9]*$' out.txt
job=$(sed 's/.* //' out.txt)
state "$job" COMPLETED
[ "$(sort train-"$job".out)" = "$(printf "0 of 2 on 1: train $job argument\n1 of 2 on 1: train $job argument")" ] || fail "output: $(cat train-*.out)"
says trouble "train-$job.err"
status 0 sbatch --parsable -W --wrap 'exit 0'
job=$(cat out.txt)
[ -e "slurm-$job.out" ] || fail "no slurm-$job.out"
status 3 sbatch -W --wrap 'exit 3'

echo "-- what is not understood is refused by name"
status 1 sbatch --licenses=a train.sbatch
says "'--licenses' is not understood here"
printf '#!/bin/sh\n#SBATCH --reservation=x\ntrue\n' >reserved.sbatch
status 1 sbatch reserved.sbatch
says "'--reservation' is not understood here"
status 1 squeue -O name
says "'-O' is not understood here"
status 1 squeue -o '%Y'
says "'%Y' of the format is not understood here"
status 1 sacct -o MaxRSS
says "field 'MaxRSS' is not understood here"
status 1 scontrol reboot
says "'reboot' is not understood here"
status 1 sbatch no-such.sbatch
says "Unable to open file no-such.sbatch"

echo "-- squeue, sinfo, scontrol, scancel"
status 0 sbatch --parsable -n 1 --wrap 'sleep 100'
runs=$(cat out.txt)
state "$runs" RUNNING
status 0 sbatch --parsable -H --wrap 'true'
held=$(cat out.txt)
status 0 sbatch --parsable -d "afterok:$runs" -J second --wrap 'true'
second=$(cat out.txt)
status 0 squeue
[ "$(head -1 out.txt)" = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)" ] || fail "heading: $(head -1 out.txt)"
says "$runs .* R  *0:[0-9][0-9] *1 p0-" out.txt
says "$held .* PD  *0:00 *1 (JobHeldUser)" out.txt
says "$second .* second .* PD  *0:00 *1 (Dependency)" out.txt
status 0 squeue -h --me -t PD -o '%A %T %r'
[ "$(sort out.txt)" = "$(printf '%s PENDING JobHeldUser\n%s PENDING Dependency\n' "$held" "$second" | sort)" ] || fail "squeue -o: $(cat out.txt)"
status 0 sinfo
[ "$(head -1 out.txt)" = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST" ] || fail "heading: $(head -1 out.txt)"
says '^all\* *up *infinite *1 *mix p0-' out.txt
status 0 sinfo -h -N -o '%N %G'
[ "$(wc -l <out.txt)" -eq 2 ] || fail "sinfo -N: $(cat out.txt)"
status 0 scontrol show job "$second"
says "JobState=PENDING Reason=Dependency Dependency=afterok:$runs(unfulfilled)" out.txt
status 0 scontrol show hostnames 'server-[0-2,07-08],other'
[ "$(tr '\n' ' ' <out.txt)" = "server-0 server-1 server-2 server-07 server-08 other " ] || fail "hostnames: $(cat out.txt)"
status 0 scontrol show hostlist server-0,server-1,server-3
[ "$(cat out.txt)" = "server-[0-1,3]" ] || fail "hostlist: $(cat out.txt)"
status 0 scontrol release "$held"
state "$held" COMPLETED
status 0 scontrol requeuehold "$runs"
state "$runs" PENDING
status 0 scontrol release "$runs"
state "$runs" RUNNING
status 0 scancel "$runs"
state "$runs" CANCELLED
state "$second" FAILED
status 0 sacct -n -P -j "$second" -o Reason
says DependencyNeverSatisfied out.txt
status 1 scancel 99
says "Invalid job id specified"
status 0 scancel "$runs"

echo "-- arrays, limits, srun"
status 0 sbatch --parsable -a 1-4%1 -o 'a-%A_%a.out' --wrap 'echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT; sleep 1'
array=$(cat out.txt)
status 0 squeue -h -j "$array" -o '%i'
says "^${array}_\[.*%1\]$" out.txt
state "${array}_4" COMPLETED
[ "$(cat "a-${array}_3.out")" = "$array 3 4" ] || fail "array: $(cat a-*.out)"
status 0 sacct -n -X -P -j "$array" -o JobID
[ "$(sort out.txt | head -1)" = "${array}_1" ] && [ "$(wc -l <out.txt)" -eq 4 ] || fail "sacct: $(cat out.txt)"
status 0 sbatch --parsable -t 0:02 --wrap 'sleep 100'
limited=$(cat out.txt)
state "$limited" TIMEOUT
status 0 srun -n 2 sh -c 'echo "rank $SLURM_PROCID"'
[ "$(sort out.txt | tr '\n' ' ')" = "[0] rank 0 [1] rank 1 " ] || fail "srun: $(cat out.txt)"
status 5 srun sh -c 'exit 5'

real=/usr/bin/squeue
if [ -x $real ] && [ "$(readlink -f $real)" != "$starling" ]; then
  echo "-- headings are the real ones"
  mkdir conf && printf 'ClusterName=c\nSlurmctldHost=localhost\nSlurmctldPort=1\nAuthType=auth/none\nNodeName=a\nPartitionName=all Nodes=a\n' >conf/slurm.conf
  /usr/bin/sacct --helpformat 2>/dev/null | tr -s ' ' '\n' >fields.txt
  if [ -s fields.txt ]; then
    for field in JobID JobIDRaw JobName Partition Account User AllocCPUS NTasks NNodes AllocTRES State ExitCode NodeList Submit Start End Elapsed ElapsedRaw Timelimit Priority Reason; do
      grep -qx "$field" fields.txt || fail "Slurm has no field $field"
    done
  fi
fi
echo "done"
