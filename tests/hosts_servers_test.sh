#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The servers of a flock on three hosts change while jobs run; whoever is killed or cut off at any step leaves one flock.
#   tests/hosts_servers_test.sh PATH/TO/starling [etcd]
# Ends with 77, which ctest calls skipped, where that cannot be.
set -u
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/hosts_net.sh"
in_etcd=${2:-}
why=$(net_missing)
[ -n "$why" ] || [ -z "$in_etcd" ] || command -v etcd >/dev/null || why="no etcd is installed; 'launch/setup --tests' installs it"
[ -z "$why" ] || { echo "skipped: $why"; exit 77; }
. "$here/flock.sh"
. "$here/changed_servers.sh"
logs=(up.log out.txt 'h*/node.log' 'h*/nodes/*/log')
begin "$1"
up=
cleanup() {
  [ -n "$up" ] && kill -9 "$up" 2>/dev/null
  rm -f "$work"/hold-*
  stop_all
  drop_hosts
  rm -rf "$work"
}
trap cleanup EXIT
make_hosts "$work" 3 || fail "no hosts"
# The program of each host, which stops where a test wants to look, and may lose what it was asked for.
for i in 1 2 3; do
  cat >"program$i" <<PROGRAM
#!/bin/sh
if [ -e $work/hold-$i-\$2 ]; then
  touch $work/at-$i-\$2
  while [ -e $work/hold-$i-\$2 ]; do sleep 0.02; done
  [ ! -e $work/lose-$i-\$2 ] || exit 9
fi
exec $starling "\$@"
PROGRAM
  chmod 755 "program$i"
done
hosts() { # FILE SERVERS1 SERVERS2 SERVERS3
  local i file=$1
  shift
  { printf 'defaults: {user: root, identity: %s/id, known_hosts: %s/known}\nhosts:\n' "$net" "$net"
    for i in 1 2 3; do printf '  - {name: h%d, address: %s, directory: %s/h%d, program: %s/program%d, servers: [%s]}\n' "$i" "$(addr $i)" "$work" "$i" "$work" "$i" "${!i}"; done; } >"$file"
}
topology() { # FILE SERVERS: one rack of servers with two GPUs
  printf 'name: dc\nserver_templates: {t: {gpus: 2, gpu_type: V100}}\nracks:\n  - {name: r, servers: [{template: t, names: [%s]}]}\n' "$2" >"$1"
}
field() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1])).get("generation", 1))' "$1/deployment.json"; }
generations() { for d in flock h1 h2 h3; do printf '%s ' "$(field $d)"; done; }
all_at() { [ "$(generations)" = "$1 $1 $1 $1 " ] || fail "the flock and its hosts are at $(generations), not $1"; }
keepers() { for i in 1 2 3; do for p in $(inside $i); do { tr '\0' ' ' <"/proc/$p/cmdline"; } 2>/dev/null | grep -q "node run " && echo "$i"; done; done | sort -u | tr '\n' ' '; }
well() { # GENERATION: all hosts run, all with that
  for _ in $(seq $((40 * patience))); do
    [ -z "$up" ] || kill -0 "$up" 2>/dev/null || fail "'up' has ended"
    [ "$(keepers)" = "1 2 3 " ] && [ "$(generations)" = "$1 $1 $1 $1 " ] && [ ! -e flock/restart/stopped ] && return
    sleep 0.25
  done
  fail "hosts $(keepers)run, at $(generations), not $1; $(ls flock/restart)"
}
job() { "$starling" submit --name "$1" --gpus "$2" -- sh -c "echo \$\$ >>$work/$1.starts; while [ ! -e $work/$1.end ]; do sleep 0.1; done" 2>err.txt | head -1 || fail "submit: $(cat err.txt)"; }

topology first.yaml "a, b, c, d, e, f"
hosts hosts.yaml "a, b" "c, d" "e, f"
topology grown.yaml "n, a, b, c, d, e, f, m"
hosts grown-hosts.yaml "n, a, b" "c, d" "e, f, m"

state=()
if [ -n "$in_etcd" ]; then
  etcd_host=$(addr 254)
  start_etcd
  state=(--state "etcd://$etcd_host:$port")
fi
"$starling" up --topology first.yaml --hosts hosts.yaml "${state[@]}" >up.log 2>&1 &
up=$!
wait_for 30 "^ready: 3 agents, 3 executors on 3 hosts" up.log
long=$(job long 2)
wait_state running "$long"

echo "-- what cannot be done is said, and nothing changes"
refused 2 "it is not said on which host server 'n' is" --topology grown.yaml
sed 's/name: h3/name: h4/' grown-hosts.yaml >four.yaml
refused 2 "the flock has no host 'h4', only h1, h2, h3" --topology grown.yaml --hosts four.yaml
hosts moved.yaml "n, a, b, c" "d" "e, f, m"
refused 2 "server 'c' lives on h2, and cannot go to h1" --topology grown.yaml --hosts moved.yaml
topology among.yaml "a, n, b, c, d, e, f"
hosts among-hosts.yaml "a, b" "c, d, n" "e, f"
refused 2 "'n' would stand among those of executor-0, all of which are on h1" --topology among.yaml --hosts among-hosts.yaml
all_at 1

echo "-- two servers more"
configure --topology grown.yaml --hosts grown-hosts.yaml --dry-run
said "+ n: 2 V100 GPUs (agent-0, executor-3 on h1, which is new)"
said "+ m: 2 V100 GPUs (agent-2, executor-4 on h3, which is new)"
all_at 1
configure --topology grown.yaml --hosts grown-hosts.yaml
said "the flock has 8 servers with 16 GPUs now"
well 2
started_once long
wait_state running "$long"
[ "$(find flock -name keys.json | grep -vc client)" -eq 0 ] || fail "secret keys of daemons stay behind"
others=()
for i in 1 2 3 4 5 6 7; do others+=("$(job "o$i" 2)"); done
wait_state running "${others[@]}"
for e in "h1/nodes/executor-3" "h3/nodes/executor-4"; do ls $e/jobs | grep -q . || fail "nothing runs at $e"; done

echo "-- one less, whose job is requeued"
for i in 1 2 3; do touch "o$i.end"; done
wait_finished 30 "${others[@]:0:3}"
topology fewer.yaml "n, a, b, c, d, e, m"
configure --topology fewer.yaml --evict
said "- f"
well 3
wait_state running "$long" "${others[@]:3}"
for i in 4 5 6 7; do touch "o$i.end"; done
wait_finished 30 "${others[@]:3}"
"$starling" jobs | grep -q "^$long *running" || fail "long does not run"
touch long.end
wait_finished 30 "$long"

generation=3
servers="n, a, b, c, d, e, m"
next=0
# change: a topology with one more server at the end of h3's, and its hosts file
change() {
  next=$((next + 1))
  topology next.yaml "$servers, x$next"
  hosts next-hosts.yaml "n, a, b" "c, d" "${servers#n, a, b, c, d, }, x$next"
}
changed() { servers="$servers, x$next"; generation=$((generation + 1)); }
# held STEP: the command is at that step with host 2, the others are through or at it
held() { for _ in $(seq $((200 * patience))); do [ -e "at-2-$1" ] && return; kill -0 $command 2>/dev/null || break; sleep 0.05; done; fail "the command does not come to $1: $(cat out.txt)"; }
begin_change() { # STEP
  change
  rm -f at-2-*
  touch "hold-2-$1"
  "$starling" configure --topology next.yaml --hosts next-hosts.yaml >out.txt 2>&1 &
  command=$!
  held "$1"
}
kept=$(job kept 2)
wait_state running "$kept"

for step in stop try-servers take-servers start; do
  echo "-- kill -9 of the command at $step: 'up' ends it"
  begin_change $step
  sleep 0.5
  [ $step != stop ] || touch lose-2-stop
  kill -9 $command
  wait $command 2>/dev/null
  rm -f hold-2-*
  case $step in take-servers | start) changed ;; esac
  well $generation
  rm -f lose-2-*
  wait_for 20 "that a change of servers had stopped run again" up.log
  started_once kept
  wait_state running "$kept"
done

for step in try-servers take-servers; do
  echo "-- kill -9 of the command and of 'up' at $step: the next 'up' ends it"
  begin_change $step
  kill -9 $command $up
  wait $command $up 2>/dev/null
  rm -f hold-2-*
  [ $step = try-servers ] || changed
  sleep 1
  "$starling" up >up.log 2>&1 &
  up=$!
  wait_for 40 "^ready: " up.log
  well $generation
  started_once kept
  wait_state running "$kept"
done

echo "-- kill -9 of both, and of nothing else: the same command ends it"
begin_change take-servers
kill -9 $command $up
wait $command $up 2>/dev/null
up=
rm -f hold-2-*
changed
sleep 1
configure --topology next.yaml --hosts next-hosts.yaml
said "these are its servers already"
well $generation
started_once kept
"$starling" up >up.log 2>&1 &
up=$!
wait_for 40 "^ready: " up.log

echo "-- a host that is cut off before the decision means no, after it yes"
begin_change stop
link 2 down
rm -f hold-2-*
wait $command && fail "it is changed without h2: $(cat out.txt)"
said "nothing is changed"
[ "$(field flock)" -eq $generation ] || fail "generation $(field flock)"
link 2 up
well $generation
begin_change take-servers
link 2 down
rm -f hold-2-*
touch lose-2-take-servers
wait $command && fail "it ends well without h2: $(cat out.txt)"
said "the flock has its servers, but not all hosts do"
changed
[ "$(field flock) $(field h1) $(field h3)" = "$generation $generation $generation" ] || fail "at $(generations)"
rm -f lose-2-*
link 2 up
well $generation
started_once kept
wait_state running "$kept"

echo "-- a host whose journals have something there says no"
echo 1 >h2/nodes/executor-1/health
topology shifted.yaml "y, $servers"
hosts shifted-hosts.yaml "y, n, a, b" "c, d" "${servers#n, a, b, c, d, }"
refused 2 "nodes/executor-1/health names GPUs by their numbers" --topology shifted.yaml --hosts shifted-hosts.yaml
well $generation
: >h2/nodes/executor-1/health
started_once kept

echo "-- a keeper is killed in the middle"
begin_change try-servers
pid=$(pgrep -f -- "node run --dir $work/h1 ") && kill -9 "$pid"
rm -f hold-2-*
wait $command || fail "configure: $(cat out.txt)"
changed
well $generation
started_once kept

echo "-- a host that stopped late: the same command starts it"
"$PWD/program2" node stop --keep-jobs --dir h2 || fail "stop"
configure --topology next.yaml --hosts next-hosts.yaml
said "these are its servers already"
well $generation
started_once kept

echo "-- of a flock that is down"
touch kept.end
wait_finished 30 "$kept"
kill -INT $up
wait $up || fail "up must end well: $(tail -3 up.log)"
up=
change
configure --topology next.yaml --hosts next-hosts.yaml
changed
all_at $generation
[ -z "$(keepers)" ] || fail "hosts $(keepers)run"
"$starling" up >up.log 2>&1 &
up=$!
wait_for 40 "^ready: " up.log
end=$(job end 2)
touch end.end
wait_finished 30 "$end" "$kept" "$long" "${others[@]}"
! grep -l "broken invariant" h*/nodes/*/log || fail "a broken invariant"
"$starling" down --remove >out.txt 2>&1 || fail "down: $(cat out.txt)"
wait $up
up=
for dir in flock h1 h2 h3; do [ ! -e $dir ] || fail "down --remove leaves $dir: $(find $dir | head)"; done
echo "all right"
