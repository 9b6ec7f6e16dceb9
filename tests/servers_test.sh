#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Servers come, go and change while jobs run; whoever is killed in the middle is begun with again.
#   tests/servers_test.sh PROGRAM [etcd]
# With `etcd` agents keep their journals there; ends with 77, which ctest calls skipped, where none is installed.
set -euo pipefail
in_etcd=${2:-}
[ -z "$in_etcd" ] || command -v etcd >/dev/null || { echo "skipped: no etcd is installed; 'launch/setup --tests' installs it"; exit 77; }
source "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
source "$(dirname "${BASH_SOURCE[0]}")/changed_servers.sh"
begin "$1"
logs=(up.log 'flock/nodes/*/log' out.txt)
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
# topology FILE RACK...: each "name: server server", two GPUs a server, those called wide... four
topology() {
  local file=$1 rack
  shift
  { printf 'name: dc\nserver_templates: {t: {gpus: 2, gpu_type: V100}, w: {gpus: 4, gpu_type: V100}}\nracks:\n'
    for rack in "$@"; do
      printf '  - name: %s\n    servers:\n' "${rack%%:*}"
      for s in ${rack#*:}; do
        case $s in *+) printf '      - {template: w, names: [%s]}\n' "${s%+}" ;; *) printf '      - {template: t, names: [%s]}\n' "$s" ;; esac
      done
    done; } >"$file"
}
topology first.yaml "r0: a b" "r1: c d"
topology grown.yaml "r0: new0 a b" "r1: c d new1"
generation() { python3 -c 'import json; print(json.load(open("flock/deployment.json")).get("generation", 1))'; }
placement() { "$starling" jobs --json | python3 -c 'import json,sys; print(*[j["placement"] for j in json.load(sys.stdin)["jobs"] if j["job"] == sys.argv[1]])' "$1"; }
# server_of JOB: its name, by what order() was told last
server_of() {
  local gpu
  gpu=$(placement "$1")
  awk -v gpu="${gpu%%[-,]*}" '{ if (gpu >= at && gpu < at + $2) print $1; at += $2 }' order.txt
}
order() { # SERVER[:GPUS]...: what the data centre holds, in its order
  for s in "$@"; do case $s in *:*) echo "${s%:*} ${s#*:}" ;; *) echo "$s 2" ;; esac; done >order.txt
}
job() { # NAME GPUS: runs until the file NAME.end is there
  "$starling" submit --name "$1" --gpus "$2" -- sh -c "echo \$\$ >>$work/$1.starts; echo hello $1; while [ ! -e $work/$1.end ]; do sleep 0.1; done; echo bye $1" | head -1
}

order a b c d
state=()
if [ -n "$in_etcd" ]; then
  start_etcd
  state=(--state "etcd://127.0.0.1:$port")
fi
up_ready --topology first.yaml --agents 2 --servers-per-executor 1 "${state[@]}"
long=$(job long 2)
wait_state running "$long"
home=$(server_of "$long")

echo "-- what cannot be done is said, and nothing changes"
topology swapped.yaml "r1: c d" "r0: a b"
topology half.yaml "r0: a b"
topology other.yaml "r0: x y"
refused 2 "servers that stay keep their order" --topology swapped.yaml
refused 2 "agent-1 would have no server with GPUs left" --topology half.yaml
refused 2 "none of its servers is one of the flock's" --topology other.yaml
refused 2 "goes with --topology" --evict
refused 2 "--topology goes alone" --topology grown.yaml --policy fifo
cp -r flock sick-flock
echo '# all well' >sick-flock/nodes/executor-0/health
echo 7 >sick-flock/nodes/executor-3/health
refused 2 "nodes/executor-3/health names GPUs by their numbers, which change" --topology grown.yaml --flock sick-flock
rm -rf sick-flock
configure --topology first.yaml
said "these are its servers already"
configure --topology grown.yaml --dry-run
said "+ new0: 2 V100 GPUs (agent-0, executor-4, which is new)"
said "+ new1: 2 V100 GPUs (agent-1, executor-5, which is new)"
huge=$("$starling" submit --name huge --workers 4 --gpus 2 -- true)
topology small.yaml "r0: a" "r1: c d"
configure --topology small.yaml --dry-run
said "1 open job cannot run in this size on the servers to come; $huge: it asks for 8 GPUs, the data centre has 6"
"$starling" cancel "$huge" >/dev/null
[ "$(generation)" -eq 1 ] || fail "--dry-run changed something"

"$starling" logs "$long" -f >follow.txt 2>follow.err &
follower=$!
cp -r flock earlier # for an agent that is started elsewhere
rm -rf earlier/nodes/agent-0/state

echo "-- two servers more, while a job runs"
configure --topology grown.yaml
said "the flock has 6 servers with 12 GPUs now"
order new0 a b c d new1
started_once long
wait_state running "$long"
[ "$(server_of "$long")" = "$home" ] || fail "long is on $(server_of "$long") now, was on $home"
others=()
for i in 1 2 3 4 5; do others+=("$(job "o$i" 2)"); done
wait_state running "${others[@]}"
on=" "
for j in "${others[@]}" "$long"; do on+="$(server_of "$j") "; done
for s in new0 new1 a b c d; do [[ $on == *" $s "* ]] || fail "nothing runs on $s: $on"; done
"$starling" logs "$long" | grep -q "hello long" || fail "its output is gone"
for n in 0 1; do grep -q "generation 2 now" "flock/nodes/agent-$n/log" || fail "agent-$n says nothing of it"; done

echo "-- two servers less: kill -9 of the command while it waits, and again"
victim=${others[0]}
away=$(server_of "$victim")
stay=()
for s in new0 a b c d new1; do [ "$s" = "$away" ] || stay+=("$s"); done
left() { for s in $1; do [[ " ${stay[*]} " == *" $s "* ]] && printf '%s ' "$s"; done; return 0; }
topology fewer.yaml "r0: $(left "new0 a b")" "r1: $(left "c d new1")"
"$starling" configure --topology fewer.yaml >out.txt 2>&1 &
command=$!
wait_for 10 "1 attempt on 1 server" out.txt
refused 2 "/configure" --policy fifo # which the change of servers would put back
kill -9 $command
wait $command 2>/dev/null || true
[ "$(generation)" -eq 2 ] || fail "it went on without its job's end"
refused 1 "the servers stay drained" --topology fewer.yaml --drain-timeout 1
started_once o1
touch o2.end
wait_finished 20 "${others[1]}"
configure --topology fewer.yaml --evict
said "- $away"
order "${stay[@]}"
[ "$(generation)" -eq 3 ] || fail "generation $(generation)"
wait_state running "$victim"
for _ in $(seq $((50 * patience))); do [ "$(wc -l <o1.starts)" -ge 2 ] && break; sleep 0.1; done
[ "$(wc -l <o1.starts)" -eq 2 ] || fail "o1 was started $(wc -l <o1.starts) times"
for n in long o3 o4 o5; do started_once $n; done
wait_state running "$long" "${others[@]:2}"
[ "$(server_of "$long")" = "$home" ] || fail "long has moved"

echo "-- a server with more GPUs: kill -9 of the command once it has asked, of nothing else"
for i in 1 3 4 5; do touch "o$i.end"; done
wait_finished 20 "${others[@]}"
wide=
for s in "${stay[@]}"; do [ "$s" = "$home" ] || { wide=$s; break; }; done
widened() { for s in $1; do [ "$s" = "$wide" ] && printf '%s+ ' "$s" || printf '%s ' "$s"; done; }
topology wide.yaml "r0: $(widened "$(left "new0 a b")")" "r1: $(widened "$(left "c d new1")")"
kill -STOP $up
"$starling" configure --topology wide.yaml >out.txt 2>&1 &
command=$!
for _ in $(seq 200); do [ -e flock/deployment.next.json ] && break; sleep 0.05; done
[ -e flock/deployment.next.json ] || fail "nothing is asked for: $(cat out.txt)"
kill -9 $command
wait $command 2>/dev/null || true
kill -CONT $up
configure --topology wide.yaml
said "with 12 GPUs now"
[ "$(generation)" -eq 4 ] || fail "generation $(generation)"
fours=()
for s in "${stay[@]}"; do [ "$s" = "$wide" ] && fours+=("$s:4") || fours+=("$s"); done
order "${fours[@]}"
started_once long
all=()
for i in 1 2 3 4 5; do all+=("$(job "w$i" 2)"); done
wait_state running "${all[@]}"
on=0
for j in "${all[@]}"; do [ "$(server_of "$j")" = "$wide" ] && on=$((on + 1)); done
[ $on -eq 2 ] || fail "$on jobs are on $wide, which has room for two"
for i in 1 2 3 4 5; do touch "w$i.end"; done
touch long.end
wait_finished 20 "${all[@]}" "$long"
[ "$(wc -l <long.starts)" -eq 1 ] || fail "long was started $(wc -l <long.starts) times"
wait $follower || fail "who looked at its output all the while: $(cat follow.err)"
[ "$(cat follow.txt)" = "$(printf 'hello long\nbye long')" ] || fail "all that was seen of its output: $(cat follow.txt follow.err)"

echo "-- kill -9 of the flock between the question and the change: the next one makes it"
last=$(job last 2)
wait_state running "$last"
kill -STOP $up
# Only servers come, so nothing has to be drained by agents that no keeper keeps.
topology back.yaml "r0: new2 $(widened "$(left "new0 a b")")" "r1: $(widened "$(left "c d new1")")"
"$starling" configure --topology back.yaml >out.txt 2>&1 &
command=$!
for _ in $(seq 200); do [ -e flock/deployment.next.json ] && break; sleep 0.05; done
[ -e flock/deployment.next.json ] || fail "nothing is asked for: $(cat out.txt)"
kill -9 $command $up
wait $command $up 2>/dev/null || true
[ "$(generation)" -eq 4 ] || fail "generation $(generation)"
# Daemons end with `up`, and what they have open goes with them.
for _ in $(seq $((50 * patience))); do pgrep -f -- "--config $work/flock/nodes/" >/dev/null || break; sleep 0.1; done
refused 1 "about to get other servers" --policy fifo
cp -r flock off-flock
configure --topology wide.yaml --flock off-flock
said "the change that was asked for is off"
[ ! -e off-flock/deployment.next.json ] || fail "it is still asked for"
rm -rf off-flock
for _ in $(seq 100); do pgrep -f -- "--config $work/flock/nodes/" >/dev/null || break; sleep 0.1; done
up_ready
[ "$(generation)" -eq 5 ] || fail "the next flock has not made the change: $(cat up.log)"
configure --topology back.yaml
said "these are its servers already"
order new2 "${fours[@]}"
touch last.end
wait_finished 30 "$last"

echo "-- daemons that begin anew are killed again and again"
stays=$(job stays 2)
wait_state running "$stays"
home=$(server_of "$stays")
topology front.yaml "r0: front new2 $(widened "$(left "new0 a b")")" "r1: $(widened "$(left "c d new1")")"
changes=$(grep -c "the servers change" up.log || true)
"$starling" configure --topology front.yaml >out.txt 2>&1 &
command=$!
wait_for 20 "the servers change" up.log $((changes + 1))
for _ in $(seq 400); do [ "$(generation)" -eq 6 ] && break; sleep 0.05; done
for round in 1 2 3 4 5 6; do
  for node in agent-0 agent-1 executor-0 executor-1; do
    pid=$(pgrep -f -- "--config $work/flock/nodes/$node/") && kill -9 $pid || true
    sleep "0.0$((RANDOM % 10))"
  done
  sleep 0.1
done
wait $command || fail "configure: $(cat out.txt)"
order front new2 "${fours[@]}"
started_once stays
wait_state running "$stays"
[ "$(server_of "$stays")" = "$home" ] || fail "stays is on $(server_of "$stays") now, was on $home"
touch stays.end
wait_finished 30 "$stays"
[ "$(wc -l <stays.starts)" -eq 1 ] || fail "stays was started $(wc -l <stays.starts) times"

echo "-- of a flock that is down"
kill -INT $up
wait $up || fail "up must end well"
if [ -n "$in_etcd" ]; then
  echo "-- an agent elsewhere: with earlier servers it does nothing, with these it is in the way"
  code=0
  timeout 60 "$starling" agent --config earlier/nodes/agent-0/config.json >elsewhere.log 2>&1 || code=$?
  [ $code -eq 2 ] && grep -q "other servers since (generation 6)" elsewhere.log || fail "an agent of earlier servers: code $code: $(cat elsewhere.log)"
  cp -r flock elsewhere
  rm -r elsewhere/nodes/agent-0/state
  "$starling" agent --config elsewhere/nodes/agent-0/config.json >elsewhere.log 2>&1 &
  other=$!
  started+=($other)
  wait_for 20 "serving with policy" elsewhere.log
  refused 2 "an agent that this flock does not keep serves partition 0" --topology first.yaml
  [ ! -e flock/deployment.next.json ] || fail "it is still asked for"
  kill $other
  wait $other || fail "the other agent: $(cat elsewhere.log)"
  # One that is killed holds the partition for some seconds.
  "$starling" agent --config elsewhere/nodes/agent-0/config.json >elsewhere.log 2>&1 &
  other=$!
  wait_for 20 "serving with policy" elsewhere.log
  kill -9 $other
  wait $other 2>/dev/null || true
fi
configure --topology first.yaml
[ "$(generation)" -eq 7 ] || fail "generation $(generation)"
up_ready --topology first.yaml --agents 2
order a b c d
end=$(job end 2)
touch end.end
wait_finished 20 "$end" "$long" "${all[@]}" "$last" "${others[@]}"

echo "-- a backup has the servers that were, too"
kill -INT $up
wait $up || fail "up must end well"
"$starling" backup kept >out.txt 2>&1 || fail "backup: $(cat out.txt)"
if [ -n "$in_etcd" ]; then # what is there is not written over
  "$starling" down --remove >out.txt 2>&1 || fail "down --remove: $(cat out.txt)"
  rm -rf flock
fi
"$starling" restore kept >out.txt 2>&1 || fail "restore: $(cat out.txt)"
[ -z "$in_etcd" ] || "$starling" accept-loss --all >out.txt 2>&1 || fail "accept-loss: $(cat out.txt)"
up_ready
configure --topology grown.yaml
[ "$(generation)" -eq 8 ] || fail "generation $(generation)"
order new0 a b c d new1
after=$(job after 2)
touch after.end
wait_finished 20 "$after" "$long"
! grep -l "broken invariant" flock/nodes/*/log || fail "a broken invariant"
echo "all right"
