#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock whose etcd has TLS, certificates for clients and users, with logins that end after 2 s:
#   tests/etcd_secure_test.sh PATH/TO/starling
# Ends with 77, which ctest calls skipped, where etcd, etcdctl or openssl is not installed.
set -u
for program in etcd etcdctl openssl; do
  command -v $program >/dev/null || { echo "skipped: no $program is installed; 'launch/setup --tests' installs it"; exit 77; }
done
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
. "$(dirname "${BASH_SOURCE[0]}")/certs.sh"
begin "$1"
export ETCDCTL_API=3

make_ca ca
make_ca other
make_certificate server ca IP:127.0.0.1
make_certificate elsewhere ca DNS:elsewhere.example
make_certificate old ca IP:127.0.0.1 -days -1
make_certificate flock ca DNS:flock
make_certificate stranger other DNS:stranger
(umask 077 && echo first-word >password && echo wrong >wrong)

# etcd_with CERTIFICATE OPTIONS...: one member with TLS at `port`, in place of the one before
etcd_with() {
  local certificate=$1
  shift
  if [ -n "${member:-}" ]; then kill -9 "$member"; wait "$member" 2>/dev/null; fi
  etcd --data-dir etcd --log-level error --listen-client-urls https://127.0.0.1:$port --advertise-client-urls https://127.0.0.1:$port \
    --listen-peer-urls http://127.0.0.1:$((port + 1)) --initial-advertise-peer-urls http://127.0.0.1:$((port + 1)) \
    --initial-cluster default=http://127.0.0.1:$((port + 1)) --cert-file "$certificate.pem" --key-file "$certificate.key" "$@" >>etcd.log 2>&1 &
  member=$!
  started+=($member)
  for _ in $(seq 100); do
    (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
    kill -0 $member 2>/dev/null || break
    sleep 0.1
  done
  fail "etcd does not start: $(tail -3 etcd.log)"
}
ctl() { etcdctl --endpoints https://127.0.0.1:$port --cacert ca.pem --cert flock.pem --key flock.key --user root:root-word "$@" >/dev/null || fail "etcdctl $*"; }
ctl_before() { etcdctl --endpoints https://127.0.0.1:$port --cacert ca.pem --cert flock.pem --key flock.key "$@" >/dev/null || fail "etcdctl $*"; }
# refused STATUS TEXT OPTIONS...: `up` ends with it, says TEXT and makes no flock
refused() {
  local status=$1 text=$2
  shift 2
  "$starling" up --flock none --topology one.yaml "$@" 2>err.txt
  [ $? -eq "$status" ] && grep -q -- "$text" err.txt || fail "up $* should say '$text': $(cat err.txt)"
  grep -q 'first-word\|PRIVATE' err.txt && fail "a secret is in a message"
  [ ! -e none/deployment.json ] || fail "a flock was made"
}
"$starling" topology generate flat --servers 2 --gpus 2 -o one.yaml 2>/dev/null || fail "no topology"
port=$(free_ports 3)
state=etcds://127.0.0.1:$port/blue
mine=(--etcd-cert flock.pem --etcd-key flock.key)
user=(--etcd-user starling --etcd-password-file password)
access=(--etcd-ca ca.pem "${mine[@]}" "${user[@]}")
all=(--state "$state" "${access[@]}")

echo "-- what is wrong with certificates"
etcd_with server
refused 1 'then give etcds://' --state "etcd://127.0.0.1:$port"
refused 1 'not signed by whom we trust, .*other.pem' --state "$state" --etcd-ca other.pem
refused 1 "not signed by whom we trust, the system's CAs" --state "$state"
refused 1 "cannot log in, since authentication is not enabled" "${all[@]}"
refused 1 'does not speak TLS' --state "etcds://127.0.0.1:$((port + 1))" --etcd-ca ca.pem
refused 2 'are for etcds://' --state "etcd://127.0.0.1:$port" --etcd-ca ca.pem
refused 2 'go with --state' --etcd-ca ca.pem
refused 2 'flock.key: is not the key of .*server.pem' --state "$state" --etcd-ca ca.pem --etcd-cert server.pem --etcd-key flock.key
refused 2 'go together' --state "$state" --etcd-ca ca.pem --etcd-cert flock.pem
refused 2 'one.yaml: holds no certificates' --state "$state" --etcd-ca one.yaml
etcd_with elsewhere
refused 1 "not of '127.0.0.1'" --state "$state" --etcd-ca ca.pem
etcd_with old
refused 1 'has expired' --state "$state" --etcd-ca ca.pem
secure=(--client-cert-auth --trusted-ca-file ca.pem --auth-token-ttl 2)
etcd_with server "${secure[@]}"
refused 1 "it wants a client's certificate" --state "$state" --etcd-ca ca.pem
refused 1 'does not take our certificate .*stranger.pem' --state "$state" --etcd-ca ca.pem --etcd-cert stranger.pem --etcd-key stranger.key
refused 1 'does not take our certificate .*old.pem, which has expired' --state "$state" --etcd-ca ca.pem --etcd-cert old.pem --etcd-key old.key

echo "-- what is wrong with users"
for words in "user add root:root-word" "user grant-role root root" "user add starling:first-word" "role add starling" "user grant-role starling starling" "auth enable"; do
  ctl_before $words
done
refused 1 'wants a user and a password' --state "$state" --etcd-ca ca.pem "${mine[@]}"
refused 1 "or its password is not that in .*wrong" --state "$state" --etcd-ca ca.pem "${mine[@]}" --etcd-user starling --etcd-password-file wrong
refused 1 "needs a role with the permission readwrite on the prefix '/starling/blue/'" "${all[@]}"
chmod 644 password
refused 2 'password: others may read this secret' "${all[@]}"
chmod 600 password
ln -s password link
refused 2 'link: is a link' --state "$state" --etcd-ca ca.pem "${mine[@]}" --etcd-user starling --etcd-password-file link
ctl role grant-permission starling --prefix=true read /starling/blue/
refused 1 "needs a role with the permission readwrite" "${all[@]}"
ctl role grant-permission starling --prefix=true readwrite /starling/blue/

echo "-- a flock, whose logins end all the time; its certificates are its own copies"
up_ready --topology one.yaml "${all[@]}" --agents 2 --servers-per-executor 1
grep -rq 'first-word' flock/deployment.json flock/nodes && fail "the password is in the flock's description"
[ "$(stat -c %a flock/etcd flock/etcd/key.pem flock/etcd/password | tr '\n' ' ')" = "700 600 600 " ] || fail "others may read flock/etcd"
mkdir away && mv password flock.key flock.pem away
job=$("$starling" submit --gpus 2 --workers 2 -- sh -c "echo first >>$work/runs; sleep 6") || fail "submit"
next=$("$starling" submit --gpus 2 -- sh -c "echo second >>$work/runs") || fail "submit"
sleep 3
kill -9 "$(agent_pid 0)"
wait_finished 30 "$job" "$next"
[ "$(sort runs | tr '\n' ' ')" = "first first second " ] || fail "the jobs ran not once each: $(cat runs)"
frozen=$(agent_pid 0)
kill -STOP "$frozen"
host_of 0 1
job=$("$starling" submit --gpus 2 -- sh -c "echo third >>$work/runs") || fail "submit"
wait_finished 30 "$job"
kill -CONT "$frozen"
host_of 0 0
tr '\0' ' ' <"/proc/$(agent_pid 0)/cmdline" | grep -q 'first-word' && fail "the password is on a command line"
mv away/flock.* .

log=flock/nodes/agent-0/log
echo "-- the permission goes, which is told once, and comes again"
ctl role revoke-permission starling --prefix=true /starling/blue/
"$starling" submit --gpus 1 -- true >unanswered.txt 2>&1 &
asked=$!
started+=($asked)
wait_for 15 "waiting: etcd at .*permission denied: user 'starling'" $log
sleep 3
[ "$(grep -c "waiting: etcd at .*permission denied" $log)" -eq 1 ] || fail "it is told again and again: $(tail -5 $log)"
kill -0 "$(agent_pid 0)" || fail "the agent has ended: $(tail -3 $log)"
ctl role grant-permission starling --prefix=true readwrite /starling/blue/
job=$("$starling" submit --gpus 1 -- true) || fail "submit"
wait_finished 30 "$job"
kill $asked 2>/dev/null

echo "-- another password, in etcd and then in the file; etcd starts again, and with another certificate"
echo second-word | ctl user passwd starling --interactive=false
wait_for 15 "or its password is not that in" $log
(umask 077 && echo second-word >flock/etcd/password)
job=$("$starling" submit --gpus 1 -- true) || fail "submit"
wait_finished 30 "$job"
make_certificate server ca IP:127.0.0.1
etcd_with server "${secure[@]}"
job=$("$starling" submit --gpus 1 -- true) || fail "submit"
wait_finished 30 "$job"
"$starling" members list >/dev/null || fail "members list"

echo "-- a run, and down --remove"
(umask 077 && echo second-word >password)
ctl role grant-permission starling --prefix=true readwrite /starling/green/
"$starling" workload generate --jobs 20 --gpus 4 --load 1 --max-duration 60 -o w.csv 2>/dev/null || fail "no trace"
"$starling" run --topology one.yaml --trace w.csv --target-seconds 1 "${access[@]}" --state "etcds://127.0.0.1:$port/green" --quiet >run.txt 2>&1 || fail "run: $(cat run.txt)"
! grep -q "left behind" run.txt || fail "run: $(cat run.txt)"
kill -INT $up
wait $up || fail "up must stop cleanly: $(cat up.log)"
"$starling" up --state "$state" --etcd-user other --etcd-ca other.pem 2>err.txt
[ $? -eq 2 ] && grep -q -- '--etcd-user other, which is starling; --etcd-ca other.pem, which is another' err.txt || fail "another user: $(cat err.txt)"
up_ready --topology one.yaml "${all[@]}"
kill -INT $up
wait $up || fail "up must stop cleanly: $(cat up.log)"
"$starling" down --remove || fail "down --remove"
[ ! -e flock ] || fail "down --remove leaves its directory: $(ls -A flock)"
[ -z "$(etcdctl --endpoints https://127.0.0.1:$port --cacert ca.pem --cert flock.pem --key flock.key --user root:root-word get --prefix /starling/ --keys-only)" ] || fail "keys are left"
echo "all right"
