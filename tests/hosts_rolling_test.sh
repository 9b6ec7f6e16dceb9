#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock on three hosts with state in an etcd with TLS and logins, one of them with an older program: agents come and go, keys change, and
# all is restarted host by host, while jobs arrive:
#   tests/hosts_rolling_test.sh PATH/TO/starling
# Ends with 77, which ctest calls skipped, where that cannot be.
set -u
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/hosts_net.sh"
why=$(net_missing)
[ -z "$why" ] || { echo "skipped: $why"; exit 77; }
for program in etcd etcdctl openssl; do
  command -v $program >/dev/null || { echo "skipped: no $program is installed; 'launch/setup --tests' installs it"; exit 77; }
done
. "$here/flock.sh"
. "$here/certs.sh"
logs=(up.log 'h*/node.log' 'h*/nodes/*/log')
begin "$1"
trap 'stop_all; drop_hosts; rm -rf "$work"' EXIT
make_hosts "$work" 3 || fail "no hosts"
etcd_host=10.77.$net_block.254
make_ca ca
make_certificate server ca "IP:$etcd_host"
make_certificate flock ca DNS:flock
etcd_scheme=https
start_etcd --cert-file server.pem --key-file server.key --client-cert-auth --trusted-ca-file ca.pem --auth-token-ttl 5
(umask 077 && echo "word-of-$$" >password)
for words in "user add root:root-word" "user grant-role root root" "user add starling:word-of-$$" "role add starling" \
  "role grant-permission starling --prefix=true readwrite /starling/" "user grant-role starling starling" "auth enable"; do
  ETCDCTL_API=3 etcdctl --endpoints "https://$etcd_host:$port" --cacert ca.pem --cert flock.pem --key flock.key $words >/dev/null || fail "etcdctl $words"
done
"$starling" topology generate flat --servers 3 --gpus 2 -o three.yaml 2>/dev/null || fail "no topology"

# A program of an earlier version, as far as can be told.
cat >older <<END
#!/bin/sh
case "\$1 \$2" in
  "--version ") echo starling 0.0.9 ;;
  "node probe") "$starling" "\$@" | sed 's/"version":"[^"]*"/"version":"0.0.9"/; s/"protocol":[0-9]*/"protocol":1/; s/"oldest":[0-9]*,//' ;;
  "node start") case "\$*" in *--protocol*) exec "$starling" "\$@" ;; *) exec "$starling" "\$@" --protocol 1 ;; esac ;;
  *) exec "$starling" "\$@" ;;
esac
END
chmod +x older
cat >hosts.yaml <<END
defaults: {user: root, identity: $net/id, known_hosts: $net/known}
hosts:
  - {name: h1, address: $(addr 1), directory: $work/h1}
  - {name: h2, address: $(addr 2), directory: $work/h2}
  - {name: h3, address: $(addr 3), directory: $work/h3, program: $work/older}
END
# job NAME SECONDS GPUS WORKERS AGENT: its number, which makes that partition its home; every end of a worker is a line of `runs`
job() {
  local id
  id=$(printf '%016x%016x' $$ $((3 * (RANDOM * 32768 + RANDOM) + $5)))
  timeout 60 "$starling" submit --id "$id" --gpus "$3" --workers "$4" -- sh -c "sleep $2; echo $1 >>$work/runs" || fail "submit $1"
}
newest=$("$starling" node probe | sed -n 's/.*"protocol":\([0-9]*\).*/\1/p')
# speaks AGENT PROTOCOL
speaks() {
  for _ in $(seq 100); do
    "$starling" top --json 2>/dev/null | tr -d ' \n' | grep -q "\"agent\":$1,[^{}]*\"protocol\":$2\b" && return 0
    sleep 0.1
  done
  fail "agent-$1 does not speak protocol $2: $("$starling" top --json)"
}
agents_on() { for p in $(inside "$1"); do { tr '\0' ' ' <"/proc/$p/cmdline"; } 2>/dev/null | grep -o "agent --config [^ ]*"; done; }

echo "-- up, with two members of three and an older program on h3"
"$starling" up --topology three.yaml --servers-per-executor 1 --agents 2 --partitions 3 --hosts hosts.yaml \
  --state "etcds://$etcd_host:$port" --etcd-ca ca.pem --etcd-cert flock.pem --etcd-key flock.key --etcd-user starling --etcd-password-file password >up.log 2>&1 &
up=$!
started+=($up)
for _ in $(seq 1200); do grep -q ^ready up.log && break; kill -0 $up 2>/dev/null || fail "up ended"; sleep 0.1; done
wait_for 1 "^ready: 3 agents, 3 executors on 3 hosts" up.log
grep -q "h3: the program there is version 0.0.9, protocol 1, here it is version .*; they speak protocol 1 with one another" up.log ||
  fail "the other version is not told"
speaks 0 "$newest"
for i in 1 2 3; do
  [ "$(stat -c %a h$i/etcd h$i/etcd/key.pem h$i/etcd/password | tr '\n' ' ')" = "700 600 600 " ] || fail "h$i/etcd: $(ls -la h$i/etcd)"
done
grep -rl "word-of-$$" flock h1 h2 h3 up.log | grep -v etcd/password && fail "the password is there, too"
[ -z "$(agents_on 3)" ] || fail "an agent runs that is no member: $(agents_on 3)"
sleep 6  # until then the agents leave free partitions to their owners

echo "-- an agent is added: its host starts it"
first=$(job first 3 2 1 2)
"$starling" members add >add.txt || fail "members add: $(cat add.txt)"
host_of 2 2
speaks 2 1
gang=$(job gang 1 2 3 0)
wait_finished 60 "$first" "$gang"

echo "-- keys of an agent and of its seats change, over all hosts"
"$starling" keys show >before.txt
"$starling" keys rotate agent-1 >/dev/null 2>err.txt || fail "rotate: $(cat err.txt)"
"$starling" keys show >after.txt
[ "$(diff before.txt after.txt | grep -c '^>.*agent-1 ')" -eq 3 ] || fail "not its three keys: $(diff before.txt after.txt)"
grep -q '"also"' flock/flock.json && fail "old keys are still let in"
[ -z "$(find flock \( -name keys.json -o -path '*seats*.json' \) | grep -v client)" ] || fail "secret keys stay behind: $(find flock -name '*.json')"

echo "-- one host goes back to protocol 1, then all get another build, host by host, while jobs arrive"
"$starling" restart h9 2>err.txt
[ $? -eq 2 ] && grep -q "no host 'h9'" err.txt || fail "h9: $(cat err.txt)"
"$starling" restart --protocol 1 h1 >restart.txt || fail "restart h1: $(cat restart.txt)"
speaks 0 1
wait_for 10 "h1: started again" up.log
cp "$starling" newer && echo >>newer
jobs=()
./newer restart >restart.txt 2>err.txt &
roll=$!
n=0
while kill -0 $roll 2>/dev/null; do
  n=$((n + 1))
  jobs+=("$(job "while$n" 1 1 $((1 + n % 2)) $((n % 3)))")
  sleep 0.5
done
wait $roll || fail "restart: $(cat restart.txt err.txt)"
cat restart.txt
[ "$(grep -c "ready again" restart.txt)" -eq 3 ] || fail "not all hosts: $(cat restart.txt)"
for i in 1 2; do cmp -s newer "h$i/bin/starling" || fail "h$i has another program"; done
for a in 0 1; do speaks $a "$newest"; done
speaks 2 1  # it has a program of its own
wait_finished 60 "${jobs[@]}"
for i in $(seq $n); do
  [ "$(grep -c "^while$i\$" runs)" -eq $((1 + i % 2)) ] || fail "while$i ended $(grep -c "^while$i\$" runs) times"
done

echo "-- an agent is removed: its partition moves, and its host does not start it again"
last=$(job last 3 1 1 0)
"$starling" members remove agent-0 >remove.txt || fail "members remove: $(cat remove.txt)"
wait_for 10 "h1: agent-0 is no member any more and has ended" up.log
sleep 2
[ -z "$(agents_on 1)" ] || fail "agent-0 was started again"
wait_finished 30 "$last"
kill -INT $up
wait $up || fail "up must stop cleanly"
for i in 1 2 3; do [ -z "$(inside $i | xargs -r ps -o args= -p | grep starling)" ] || fail "left on h$i: $(inside $i | xargs ps -o args= -p)"; done
echo "all right: $n jobs arrived meanwhile"
