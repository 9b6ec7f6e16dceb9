#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock on three hosts that are network namespaces with sshd:
#   tests/hosts_ssh_test.sh PATH/TO/starling
# Ends with 77, which ctest calls skipped, where that cannot be.
set -u
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/hosts_net.sh"
why=$(net_missing)
[ -z "$why" ] || { echo "skipped: $why"; exit 77; }
. "$here/flock.sh"
logs=(up.log 'h*/node.log' 'h*/nodes/*/log')
begin "$1"
up=
cleanup() {
  [ -n "$up" ] && kill -9 "$up" 2>/dev/null
  drop_hosts
  rm -rf "$work"
}
trap cleanup EXIT
make_hosts "$work" 3 || fail "no hosts"
"$starling" topology generate flat --servers 6 --gpus 2 -o six.yaml 2>/dev/null || fail "no topology"
hosts() {  # hosts FILE: the hosts file of three hosts
  cat >"$1" <<EOF
defaults: {user: root, identity: $net/id, known_hosts: $net/known}
hosts:
  - {name: h1, address: $(addr 1), directory: $work/h1, servers: [p0-r0-s0, p0-r0-s1]}
  - {name: h2, address: $(addr 2), directory: $work/h2, servers: p0-r0-s2..p0-r0-s3}
  - {name: h3, address: $(addr 3), directory: $work/h3, servers: ["p0-r0-s4", p0-r0-s5]}
EOF
}
# refused CODE TEXT ARGUMENTS: up says TEXT in one message, ends with CODE and leaves nothing
refused() {
  local code=$1 text=$2 ended
  shift 2
  "$starling" up --topology six.yaml "$@" >out.txt 2>err.txt
  ended=$?
  [ $ended -eq "$code" ] || fail "exit code $ended, not $code, for '$text': $(cat err.txt)"
  grep -q -- "$text" err.txt || fail "no '$text' in: $(cat err.txt)"
  [ "$(grep -c 'its clock is +\|its clock is -' err.txt)" -le 3 ] || fail "too much said: $(cat err.txt)"
  for dir in flock h1 h2 h3; do [ ! -e $dir ] || fail "'$text' leaves $dir behind: $(find $dir)"; done
  [ -z "$(left)" ] || fail "'$text' leaves processes: $(ps -o pid,args -p "$(left)")"
}
# what runs in the hosts besides sshd
left() { for i in 1 2 3; do for p in $(inside $i); do [ "$(cat /proc/$p/comm 2>/dev/null)" = starling ] && echo $p; done; done; }

# the keepers, agents and executors
daemons() { left | xargs -r ps -o args= -p | grep -E " (node run|agent|executor) "; }

echo "-- what is wrong is said, and leaves nothing"
hosts hosts.yaml
sed 's/p0-r0-s5/p0-r0-s9/' hosts.yaml >bad.yaml
refused 2 "bad.yaml:5:.*has no server 'p0-r0-s9'" --hosts bad.yaml
sed 's/, servers: \[p0-r0-s0, p0-r0-s1\]//' hosts.yaml >bad.yaml
refused 2 "server 'p0-r0-s0' of the topology lives on no host" --hosts bad.yaml
sed "s/$(addr 2)/10.77.$net_block.99/" hosts.yaml >bad.yaml
refused 1 "h2: ssh to 10.77.$net_block.99" --hosts bad.yaml
ssh-keygen -q -t ed25519 -N '' -f other
sed "s#$net/id,#$work/other,#" hosts.yaml >bad.yaml
refused 1 "h2: ssh to .*Permission denied" --hosts bad.yaml
printf '#!/bin/sh\necho $(($(/bin/date +%%s) - 3600)).0\n' >"$net/fake2/date" && chmod +x "$net/fake2/date"
refused 1 "h2: its clock is 3[56][0-9][0-9].* behind this machine's" --hosts hosts.yaml
rm "$net/fake2/date"
printf '#!/bin/sh\ncase "$1" in --version) echo starling 0.0.1;; *) echo "{\\"version\\":\\"0.0.1\\",\\"protocol\\":0,\\"build\\":\\"0\\",\\"ports\\":[]}";; esac\n' >old && chmod +x old
sed "s#directory: $work/h3#directory: $work/h3, program: $work/old#" hosts.yaml >bad.yaml
refused 1 "h3: the program there is version 0.0.1, protocol 0, .* none in common" --hosts bad.yaml
on 2 ip route add blackhole "$(addr 3)/32"
refused 1 "h2: cannot reach $(addr 3):" --hosts hosts.yaml
on 2 ip route del blackhole "$(addr 3)/32"

echo "-- what the hosts are made of becomes a topology, and nothing of it stays there"
"$starling" topology discover --hosts hosts.yaml -o found.yaml 2>err.txt || fail "discover: $(cat err.txt)"
"$starling" topology show found.yaml --json | tr -d ' \n' | grep -q '"servers":3}' || fail "three servers: $(cat found.yaml)"
for i in 1 2 3; do grep -q "h$i" found.yaml || fail "h$i: $(cat found.yaml)"; done
grep -q '^# guessed: all servers are one rack' found.yaml || fail "guesses: $(cat found.yaml)"
sed "s#$net/id,#$work/other,#" hosts.yaml >bad.yaml
"$starling" topology discover --hosts bad.yaml -o none.yaml 2>err.txt
[ $? -eq 1 ] && grep -q 'h3: ssh to .*Permission denied' err.txt && [ ! -e none.yaml ] || fail "a host that refuses the key: $(cat err.txt)"
[ -z "$(left)" ] || fail "discover leaves processes"

echo "-- up on three hosts"
began=$(now)
"$starling" up --topology six.yaml --hosts hosts.yaml >up.log 2>&1 &
up=$!
wait_for 20 "^ready: 3 agents, 3 executors on 3 hosts" up.log
echo "ready after $(since "$began") ms"
for i in 1 2 3; do
  [ "$(find h$i -name keys.json | wc -l)" -eq 2 ] || fail "h$i has other keys than its two: $(find h$i -name keys.json)"
done
[ "$(find flock -name keys.json | grep -vc client)" -eq 0 ] || fail "secret keys of daemons stay behind"
"$starling" up --hosts hosts.yaml 2>err.txt
[ $? -eq 2 ] && grep -q "is up already" err.txt || fail "a second up does not find the first: $(cat err.txt)"

echo "-- jobs, one of them over two hosts"
job() { "$starling" submit "$@" 2>/dev/null || fail "submit"; }
# where NAME: the hosts on which the job said NAME
where() { for i in 1 2 3; do grep -rqs "^$1 " h$i/nodes/*/jobs && echo h$i; done; }
gang=$(job --gpus 2 --workers 3 -- sh -c 'echo gang $MASTER_ADDR $(ip -4 -o addr show eth0 | grep -o "10[.0-9]*" | head -1); sleep 1')
wait_finished 70 "$gang"
ones=()
for i in 1 2 3 4; do ones+=("$(job --gpus 1 -- sh -c "echo one$i here")"); done
wait_finished 20 "${ones[@]}"
[ "$(where gang | wc -l)" -eq 2 ] || fail "the gang ran on: $(where gang)"
grep -rhs "^gang " h*/nodes/*/jobs | awk '{print $2}' | sort -u | grep -qx "10.77.$net_block.[123]" || fail "MASTER_ADDR is no host's address"

echo "-- a client elsewhere has a copy of the directory with a key of its own"
mkdir -p away/nodes && cp flock/deployment.json flock/flock.json flock/topology.yaml away/ && cp -r flock/nodes/client-7 away/nodes/
on 2 "$starling" submit --flock away --gpus 1 --wait -- true >/dev/null 2>err.txt || fail "submit from h2: $(cat err.txt)"

id=$(printf '%016x%016x' $$ 3000)  # its home is agent-0, on h1
job --id "$id" --gpus 1 -- sh -c 'for i in 1 2 3; do echo followed $i; sleep 0.5; done' >/dev/null
on 2 timeout 60 "$starling" logs --flock away -f "$id" >followed.txt 2>err.txt || fail "logs -f from h2: $(cat err.txt)"
[ "$(where followed)" = h1 ] && [ "$(grep -c 'followed [123]$' followed.txt)" -eq 3 ] || fail "logs -f from h2 of a job on $(where followed): $(cat followed.txt)"

echo "-- keys change"
for node in agent-1 executor-2; do "$starling" keys rotate $node >/dev/null 2>err.txt || fail "rotate $node: $(cat err.txt)"; done
[ "$(find flock -name keys.json | grep -vc client)" -eq 0 ] || fail "secret keys of daemons stay behind"

echo "-- an agent is killed"
long=$(job --gpus 1 -- sh -c 'echo long here; sleep 9')
pid=$(pgrep -f -- "agent --config $work/h2/nodes/agent-1/")
kill -9 "$pid"
wait_for 10 "h2: agent-1 was killed by signal 9" up.log
wait_for 10 "h2: agent-1.*started again" up.log

echo "-- h3 is cut off and comes back"
link 3 down
wait_for 15 "h3: connection lost" up.log
[ "$(daemons | grep -c "$work/h3")" -eq 3 ] || fail "h3's daemons did not go on: $(daemons)"
link 3 up
wait_for 20 "h3: connected again" up.log
wait_finished 15 "$long"
[ "$(grep -rhs '^long ' h*/nodes/*/jobs | wc -l)" -eq 1 ] || fail "the long job started more than once"

echo "-- the keeper of h1 is killed"
kill -9 "$(pgrep -f -- "node run --dir $work/h1 ")"
wait_for 10 "h1: its keeper was gone" up.log
for _ in $(seq 100); do "$starling" top 2>/dev/null | grep -q "^agent-0 " && break; sleep 0.1; done
job --gpus 2 --workers 6 --wait -- true >/dev/null || fail "no gang over all hosts"

echo "-- stop"
began=$(now)
kill -INT $up
wait $up
code=$?
up=
[ $code -eq 0 ] || fail "up ends with $code: $(tail -3 up.log)"
[ -z "$(left)" ] || fail "processes are left: $(left)"
echo "stopped after $(since "$began") ms"

echo "-- up again, and down from elsewhere"
"$starling" up --json >again.json 2>again.log &
up=$!
wait_for 20 '"event":"ready"' again.json
[ "$("$starling" jobs | grep -c finished)" -ge 7 ] || fail "jobs are forgotten: $("$starling" jobs)"
kill -9 $up
wait $up 2>/dev/null
up=
sleep 1
[ "$(daemons | wc -l)" -eq 9 ] || fail "the flock does not outlive a killed up"
"$starling" up >found.log 2>&1 &
up=$!
wait_for 20 "^ready:" found.log
grep -q "running on 3 of 3 hosts already" found.log || fail "the running flock is not found: $(cat found.log)"
mkdir h2/nodes/mine
echo mine | tee h1/nodes/agent-0/notes h1/nodes/agent-0/state/notes h1/mine h2/nodes/mine/log >flock/nodes/client-0/notes
rm h3/own-folder  # as where the user had made the folder
"$starling" down --remove 2>err.txt || fail "down: $(cat err.txt)"
wait $up || fail "up does not end with the flock: $(cat found.log)"
up=
[ -z "$(left)" ] || fail "processes are left: $(left)"
for left in "h1: left in $work/h1, .*: mine nodes/agent-0/notes nodes/agent-0/state/notes$" "h2: left in $work/h2, .*: nodes/mine$" "left in $work/flock, .*: nodes/client-0/notes$"; do
  grep -q "$left" err.txt || fail "no '$left' in $(cat err.txt)"
done
[ "$(find flock h1 h2 h3 ! -type d | sort | tr '\n' ' ')" = "flock/nodes/client-0/notes h1/mine h1/nodes/agent-0/notes h1/nodes/agent-0/state/notes h2/nodes/mine/log " ] ||
  fail "down --remove leaves $(find flock h1 h2 h3)"
[ -d h3 ] && [ -z "$(ls -A h3)" ] || fail "an empty folder of the user's has gone, or is not empty: $(ls -A h3)"
echo "all right"
