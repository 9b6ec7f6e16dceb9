#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Partitions whose agents die, freeze, are cut off and come back, with state in a one-member etcd:
#   tests/takeover_test.sh PATH/TO/starling
# Ends with 77, which ctest calls skipped, where no etcd is installed.
set -u
command -v python3 >/dev/null || { echo "skipped: no python3, which cuts ways"; exit 77; }
command -v etcd >/dev/null || { echo "skipped: no etcd is installed; 'launch/setup --tests' installs it"; exit 77; }
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs+=(again.log)
begin "$1"
start_etcd
"$starling" topology generate flat --servers 3 --gpus 4 -o three.yaml 2>/dev/null || fail "no topology"

# job NAME SECONDS GPUS WORKERS AGENT: its number, which makes that agent its home; every start of a worker is a line of `runs`
job() {
  local id
  id=$(printf '%016x%016x' $$ $((3 * (RANDOM * 32768 + RANDOM) + $5)))
  "$starling" submit --id "$id" --gpus "$3" --workers "$4" -- sh -c "echo $1 >>$work/runs; sleep $2" || fail "submit $1"
}
# runs TIMES NAME...: each started so often
runs() {
  local times=$1
  shift
  for name in "$@"; do
    [ "$(grep -c "^$name\$" runs)" -eq "$times" ] || fail "$name started not $times times: $(sort runs | uniq -c)"
  done
}

echo "-- up"
up_ready --topology three.yaml --agents 3 --no-restart --state "etcd://127.0.0.1:$port"
sleep 5  # until then the agents leave free partitions to their owners
for a in 0 1 2; do host_of $a $a; done

echo "-- kill -9 of agent 1 with jobs"
running=$(job running 8 3 1 1)
wait_for 10 running runs
gang=$(job gang 12 3 2 1)
wait_for 10 gang runs
waiting=$(job waiting 1 4 1 1)
kill -9 "$(agent_pid 1)"
killed=$(now)
wait_for 12 "partition 1: taken over from agent 1" flock/nodes/agent-2/log
taken=$(since "$killed")
after=$(job after 1 1 1 1)
accepted=$(since "$killed")
until "$starling" top --json 2>/dev/null | tr -d ' \n' | grep -q '"agent":1,.*"host":"agent-2".*"quarantined":0,.*"agent":2'; do
  [ "$(since "$killed")" -lt $((30000 * patience)) ] || fail "GPUs are not reconciled: $("$starling" top)"
  sleep 0.1
done
echo "taken over after $taken ms, a job accepted after $accepted ms, all GPUs reconciled after $(since "$killed") ms"
[ "$accepted" -lt $((12000 * patience)) ] || fail "a job was accepted only after $accepted ms"
host_of 1 2
wait_for 2 "not starting it again" up.log
wait_finished 30 "$running" "$gang" "$waiting" "$after"
runs 1 running waiting after
runs 2 gang

echo "-- agent 0 is frozen for 12 s, with jobs"
frozen=$(job frozen 6 3 1 0)
wait_for 10 frozen runs
behind=$(job behind 1 4 1 0)
pid=$(agent_pid 0)
kill -STOP "$pid"
wait_for 12 "partition 0: taken over from agent 0" flock/nodes/agent-2/log
sleep 5
kill -CONT "$pid"
wait_for 5 "no longer served at epoch" flock/nodes/agent-0/log
wait_for 5 "partition 0: given back to agent 0" flock/nodes/agent-2/log
host_of 0 0
wait_finished 30 "$frozen" "$behind"
runs 1 frozen behind

echo "-- agent 1 is started again, and gets its partition back"
lasting=$(job lasting 5 3 1 1)
wait_for 10 lasting runs
# Its way to etcd is one that can be cut.
cat >way.py <<'PY'
import asyncio, sys
async def copy(a, b):
    while data := await a.read(65536):
        b.write(data)
        await b.drain()
    b.close()
async def serve(reader, writer):
    try:
        r, w = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
        await asyncio.gather(copy(reader, w), copy(r, writer), return_exceptions=True)
    except OSError:
        writer.close()
async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1])) as server:
        await server.serve_forever()
asyncio.run(main())
PY
python3 way.py $((port + 2)) $port 2>/dev/null &
way=$!
started+=($way)
cp -r flock cut
sed -i "s/127.0.0.1:$port/127.0.0.1:$((port + 2))/" cut/deployment.json
rm -r cut/nodes/agent-1/state && ln -s "$work/flock/nodes/agent-1/state" cut/nodes/agent-1/state
"$starling" agent --config cut/nodes/agent-1/config.json 2>again.log &
started+=($!)
wait_for 8 "serving with policy" again.log
wait_for 2 "partition 1: given back to agent 1" flock/nodes/agent-2/log
host_of 1 1
last=$(job last 1 1 1 1)
wait_finished 20 "$lasting" "$last"
runs 1 lasting last

echo "-- agent 1 is cut off from etcd, and gets its partition back when it is no longer"
sleep 3  # agent 2 rests after it gave the partition back
lives=$(grep -c "serving with policy" again.log)
cut=$(job cut 6 3 1 1)
wait_for 10 cut runs
kill -STOP $way
wait_for 12 "partition 1: taken over" flock/nodes/agent-2/log 2
host_of 1 2
during=$(job during 1 1 1 1)
kill -CONT $way
wait_for 10 "serving with policy" again.log $((lives + 1))
grep -q "no longer served at epoch" again.log || fail "agent 1 was not fenced"
host_of 1 1
wait_finished 20 "$cut" "$during"
runs 1 cut during
kill -INT $up
wait $up || fail "up must stop cleanly"
echo "all right"
