#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The real program with files of a flock that a user has changed, another topology, and folders with a user's files:
#   tests/changed_files_test.sh PATH/TO/starling
# No abort, no crash: one message and exit code 2, or it does not matter. Nothing of a user's is removed.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
begin "$1"
logs=(up.log out.txt)
"$starling" topology generate flat --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
"$starling" topology generate flat --servers 3 --gpus 2 -o three.yaml 2>/dev/null || fail "no topology"
"$starling" topology generate flat --servers 5 --gpus 2 -o five.yaml 2>/dev/null || fail "no topology"
# refused WHAT COMMAND...: ends soon, with 2 and one message
refused() {
  local what=$1 code
  shift
  timeout 20 "$@" >"$work/out.txt" 2>&1
  code=$?
  [ $code -eq 2 ] || fail "$what: $* ended with $code: $(cat "$work/out.txt")"
  [ "$(grep -c . "$work/out.txt")" -eq 1 ] || fail "$what: more than one message: $(cat "$work/out.txt")"
}
# sane WHAT COMMAND...: does not crash
sane() {
  local what=$1 code
  shift
  timeout 5 "$@" >"$work/out.txt" 2>&1
  code=$?
  case $code in 0 | 1 | 2 | 124) ;; *) fail "$what: $* ended with $code: $(cat "$work/out.txt")" ;; esac
  grep -qE 'terminate called|broken invariant|what\(\)' "$work/out.txt" && fail "$what: $(cat "$work/out.txt")"
}

echo "-- a folder with a user's files is not taken"
mkdir -p project/data
echo mine >project/data/thesis.txt
refused "a used folder" "$starling" up --flock project --topology four.yaml
grep -q "'data' is in it" out.txt || fail "it is not said why: $(cat "$work/out.txt")"
(cd project && refused "this folder" "$starling" up --flock . --topology ../four.yaml) || exit 1
[ "$(ls project)" = data ] || fail "something was made in it: $(ls project)"

echo "-- and what was put into a flock's stays"
up_ready --flock flock --topology four.yaml --agents 2 --servers-per-executor 1
kill -INT $up; wait $up
cp -a flock other
mkdir other/data other/nodes/mine other/servers
echo mine | tee other/data/thesis.txt other/nodes/agent-1/notes other/servers/notes other/nodes/executor-0/jobs/notes >other/nodes/mine/notes
"$starling" down --remove --flock other 2>err.txt || fail "down: $(cat err.txt)"
grep -q 'left in other, because it is not Starling.s: data, nodes/agent-1/notes, nodes/executor-0/jobs/notes, nodes/mine, servers/notes$' err.txt || fail "what is left is not told: $(cat err.txt)"
[ "$(find other -type f | sort | tr '\n' ' ')" = "other/data/thesis.txt other/nodes/agent-1/notes other/nodes/executor-0/jobs/notes other/nodes/mine/notes other/servers/notes " ] || fail "$(find other)"
cp -a flock whole
(cd whole && "$starling" down --remove --flock .) || fail "down in the folder itself"
[ -z "$(ls -A whole)" ] || fail "something of Starling's is left: $(ls -A whole)"
cp -a flock gone
"$starling" down --remove --flock gone && [ ! -e gone ] || fail "the folder is still there"

mkdir empty
up_ready --flock empty --topology four.yaml
kill -INT $up; wait $up
"$starling" down --remove --flock empty || fail "down"
[ -d empty ] && [ -z "$(ls -A empty)" ] || fail "the user's own empty folder has gone, or is not empty"

echo "-- another topology: one sentence, and 2"
for other in three five; do
  cp $other.yaml flock/topology.yaml
  for command in up "agent --config flock/nodes/agent-1/config.json" "executor --config flock/nodes/executor-3/config.json"; do
    refused "$other" "$starling" $command
    grep -q "give it back the topology" out.txt || fail "$command does not say what to do: $(cat "$work/out.txt")"
  done
done
cp four.yaml flock/topology.yaml

echo "-- values that cannot be in deployment.json"
cp flock/deployment.json good.json
agent=(agent --config flock/nodes/agent-0/config.json) executor=(executor --config flock/nodes/executor-3/config.json)
# change WHAT SED...: every command that reads it ends with 2
change() {
  sed -E -z "$2" good.json >flock/deployment.json
  cmp -s good.json flock/deployment.json && fail "$1 changes nothing"
  refused "$1" "$starling" "${agent[@]}"
  refused "$1" "$starling" "${executor[@]}"
  refused "$1" "$starling" up
  sane "$1" "$starling" top
}
change "servers beyond" 's/"servers": \[\s*3,\s*4/"servers": [3, 4294967295/'
change "servers turned round" 's/"servers": \[\s*3,\s*4/"servers": [4, 3/'
change "no servers" 's/"servers": \[\s*3,\s*4/"servers": [3, 3/'
change "servers that are none" 's/"servers": \[\s*3,\s*4/"servers": [null, {}/'
change "a partition that is not there" 's/("partition": )1/\14000000000/'
change "a negative id" 's/("id": )1,/\1-1,/'
change "a name that is a path" 's/"agent-1"/"..\/..\/agent-1"/'
change "a speed that cannot be" 's/("speedup": )[0-9.]+/\11e300/'
change "no nodes" 's/("nodes": ).*/\1{}}/'
cp good.json flock/deployment.json

echo "-- and in a node's own file"
for f in agent-0 executor-3; do cp flock/nodes/$f/config.json $f.json; done
for field in flock state keys; do
  for value in / /dev/null "$work/nowhere/at/all" . ''; do
    for f in agent-0 executor-3; do
      sed -E "s|(\"$field\": )\"[^\"]*\"|\1\"$value\"|" $f.json >flock/nodes/$f/config.json
      case $field$value in
        flock* | keys* | state | state/ | state/dev/null) refused "$field '$value'" "$starling" "${f%-*}" --config flock/nodes/$f/config.json ;;
        *) sane "$field '$value'" "$starling" "${f%-*}" --config flock/nodes/$f/config.json ;;
      esac
      cp $f.json flock/nodes/$f/config.json
    done
  done
done

echo "-- and it all still works"
rm -f flock/nodes/*/in-use flock/nodes/*/journal.db* flock/nodes/*/incarnation
up_ready --flock flock
"$starling" submit --wait --gpus 2 -- true || fail "a job"
kill -INT $up; wait $up || fail "up does not stop"
echo "all right"
