#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Keys of a flock that runs are exchanged, one node after the other:
#   tests/keys_test.sh PATH/TO/starling
set -u
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/flock.sh"
logs=('*/nodes/*/log' up.log)
begin "$1"
"$starling" topology generate flat --servers 2 --gpus 2 -o two.yaml 2>/dev/null || fail "no topology"
up_ready --topology two.yaml --agents 2 --launcher process
key() { "$starling" keys show | awk -v n="$1" '$1 == n {print $2}'; }

echo "-- what is wrong is said"
"$starling" keys rotate agent-9 2>err.txt
[ $? -eq 2 ] && grep -q "no node 'agent-9'" err.txt || fail "agent-9: $(cat err.txt)"

echo "-- jobs go on while the keys of all change"
long=$("$starling" submit --gpus 2 --workers 2 -- sh -c "echo \$RANK >>$work/runs; sleep 12") || fail "submit"
for _ in $(seq 100); do [ "$(cat runs 2>/dev/null | wc -l)" -eq 2 ] && break; sleep 0.1; done
for node in agent-0 executor-0 agent-1 executor-1 client-0; do
  old=$(key $node)
  cp flock/nodes/$node/keys.json old-$node.json
  began=$(now)
  "$starling" keys rotate $node >new.txt || fail "$node"
  echo "$node: $(since "$began") ms"
  [ "$(key $node)" != "$old" ] && [ "$(cut -d' ' -f2 new.txt)" = "$(key $node)" ] || fail "$node keeps its key"
  grep -q '"also"' flock/flock.json && fail "the old key of $node is still let in"
  "$starling" top >top.txt 2>&1 && [ "$(grep -c '^agent-' top.txt)" -eq 2 ] || fail "after $node: $(cat top.txt)"
done
"$starling" submit --gpus 1 --workers 4 --wait -- true >/dev/null 2>err.txt || fail "a gang over both does not run: $(cat err.txt)"
wait_finished 20 "$long"
[ "$(wc -l <runs)" -eq 2 ] || fail "the long job started again"
grep -q "starting .* again" up.log && fail "a daemon ended: $(cat up.log)"

echo "-- a new key is there after a restart, the old one is refused"
kill -INT $up && wait $up
up_ready
cp -r flock stolen && cp old-client-0.json stolen/nodes/client-0/keys.json && rm -r stolen/nodes/client-[1-9]*/keys.json
timeout 20 "$starling" top --flock stolen >out.txt 2>err.txt && fail "the old key of client-0 works: $(cat out.txt)"
grep -q "is not the one that the flock knows" err.txt || fail "the old key: $(cat err.txt)"
# With a flock.json that knows it, the command believes in it, and the agents do not.
sed -i "s#$(key client-0 | sed 's/[&#\\]/\\&/g')#$(sed -n 's/.*"public": "\(.*\)",.*/\1/p' old-client-0.json | sed 's/[&#\\]/\\&/g')#" stolen/flock.json 2>/dev/null
timeout 20 "$starling" top --flock stolen >out.txt 2>err.txt && fail "the old key of client-0 works: $(cat out.txt)"
kill -INT $up && wait $up || fail "up must stop cleanly"

echo "-- an agent's keys for the seats of others change with its own, before and while it sits there"
if ! command -v etcd >/dev/null; then
  echo "skipped: no etcd is installed; 'launch/setup --tests' installs it"
  echo "all right"
  exit 0
fi
export STARLING_FLOCK=$work/seats
start_etcd
up_ready --topology two.yaml --agents 2 --servers-per-executor 1 --no-restart --state "etcd://127.0.0.1:$port"
sleep 6  # until then the agents leave free partitions to their owners
keys_of() { "$starling" keys show | awk '$1 ~ /agent-1$/ {print $2}' | sort; }
turn() {
  keys_of >before.txt
  "$starling" keys rotate agent-1 >/dev/null || fail "rotate agent-1: $("$starling" keys show)"
  keys_of >after.txt
  [ "$(cat before.txt after.txt | sort -u | wc -l)" -eq 4 ] || fail "not both keys changed: $(cat before.txt after.txt)"
  grep -q '"also"' seats/flock.json && fail "old keys are still let in"
}
turn
kill -9 "$(pgrep -f -- "--config $work/seats/nodes/agent-0/")"
wait_for 12 "partition 0: taken over from agent 0" seats/nodes/agent-1/log
turn
for n in 0 1; do  # the job's number makes it the home's of partition n
  timeout 30 "$starling" submit --id "$(printf '%032x' $((2 + n)))" --gpus 2 --wait -- true >/dev/null 2>err.txt || fail "partition $n: $(cat err.txt)"
done
kill -0 "$(pgrep -f -- "--config $work/seats/nodes/agent-1/")" || fail "agent-1 has ended"
[ "$(grep -c "flock.json has changed and was taken on" seats/nodes/agent-1/log)" -ge 6 ] || fail "the seat did not take the steps on: $(cat seats/nodes/agent-1/log)"
kill -INT $up && wait $up || fail "up must stop cleanly"
echo "all right"
