# SPDX-License-Identifier: Apache-2.0
# What tests with a real flock share. To be sourced; then `begin PROGRAM` first.
logs=('flock/nodes/agent-*/log' up.log)  # what fail() shows, as patterns that are looked up then

stop_all() {
  for pid in "${started[@]}"; do kill -CONT "$pid" 2>/dev/null || true; kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
}
# begin PROGRAM: `starling`, and a folder to work in that is gone afterwards, with all processes in `started`
begin() {
  starling=$(realpath "$1")
  work=$(mktemp -d)
  started=()
  trap 'stop_all; rm -rf "$work"' EXIT
  cd "$work" || exit 1
  export TMPDIR=$work STARLING_FLOCK=$work/flock
}
# fail TEXT...
fail() {
  local log
  echo "FAILED: $*" >&2
  for log in ${logs[@]+${logs[@]}}; do echo "== $log"; tail -15 "$log"; done >&2
  exit 1
}
# status N COMMAND...: its exit status is N; out.txt and err.txt are what it prints
status() {
  local expected=$1 got
  shift
  "$@" >out.txt 2>err.txt
  got=$?
  [ $got -eq "$expected" ] || fail "$* ended with $got, not $expected: $(tail -n 5 out.txt err.txt)"
}
# says PATTERN [FILE]: a line of err.txt, or of that file, has it
says() { grep -q -e "$1" "${2:-err.txt}" || fail "'$1' is not said: $(cat "${2:-err.txt}")"; }
# free_ports N: the first of N free ones in a row, on `etcd_host`
free_ports() {
  local ports
  ports=" $("$starling" node probe --address "$etcd_host" --count $((3 * $1 + 5)) | sed 's/.*"ports":\[\([0-9,]*\)\].*/\1/; s/,/ /g') "
  for p in $ports; do
    for i in $(seq $(($1 - 1))); do [[ $ports == *" $((p + i)) "* ]] || continue 2; done
    echo "$p"
  done | shuf -n 1
}
# start_etcd [OPTIONS...]: one member at `port` of `etcd_host`, for clients at `etcd_scheme`; port + 1 and port + 2 were free, too, and it has the first
etcd_scheme=http
etcd_host=127.0.0.1
start_etcd() {
  local pid url
  # Others may ask for free ports at the same time: whoever comes second tries again.
  for _ in 1 2 3; do
    port=$(free_ports 3)
    url=http://$etcd_host
    etcd --data-dir etcd --log-level error --listen-client-urls "$etcd_scheme://$etcd_host:$port" --advertise-client-urls "$etcd_scheme://$etcd_host:$port" \
      --listen-peer-urls "$url:$((port + 1))" --initial-advertise-peer-urls "$url:$((port + 1))" \
      --initial-cluster "default=$url:$((port + 1))" "$@" >etcd.log 2>&1 &
    pid=$!
    for _ in $(seq 50); do
      (: <>"/dev/tcp/$etcd_host/$port") 2>/dev/null && sleep 0.2 && kill -0 $pid 2>/dev/null && started+=($pid) && return
      kill -0 $pid 2>/dev/null || break
      sleep 0.1
    done
    kill -9 $pid 2>/dev/null
    rm -rf etcd
  done
  fail "etcd does not start: $(tail -3 etcd.log)"
}
# up_ready OPTIONS...: `up` is a flock that is ready, with up.log. An etcd that is still starting ends `starling up`, so that is tried again.
up_ready() {
  for _ in $(seq 10); do
    rm -f up.log  # of an earlier one
    "$starling" up "$@" >up.log 2>&1 &
    up=$!
    started+=($up)
    while kill -0 $up 2>/dev/null && ! grep -qs '^ready: ' up.log; do sleep 0.1; done
    grep -qs '^ready: ' up.log && return
  done
  fail "the flock is not ready"
}
now() { date +%s%N; }
# since BEGIN: milliseconds
since() { echo $((($(now) - $1) / 1000000)); }
agent_pid() { pgrep -f -- "--config $work/flock/nodes/agent-$1/"; }
# How many times as long a wait may take as on a quiet machine: a limit tells what hangs, it measures nothing.
patience=${STARLING_PATIENCE:-4}
# wait_for SECONDS TEXT FILE [TIMES]: until so many lines have it, by default 1
wait_for() {
  for _ in $(seq $(($1 * 20 * patience))); do
    [ "$(cat "$3" 2>/dev/null | grep -c -- "$2")" -ge "${4:-1}" ] && return 0
    sleep 0.05
  done
  fail "'$2' does not appear in $3${4:+ $4 times}: $(cat "$3")"
}
# wait_finished SECONDS JOB...
wait_finished() {
  local left=$(($1 * 4 * patience)) job missing
  shift
  for _ in $(seq $left); do
    missing=
    "$starling" jobs >jobs.txt 2>/dev/null || missing=jobs
    for job in "$@"; do grep -q "^$job *finished" jobs.txt || missing=$job; done
    [ -z "$missing" ] && return 0
    sleep 0.25
  done
  fail "job $missing does not finish: $(cat jobs.txt)"
}
# wait_ended: until no job waits or runs; what `jobs` said then is in jobs.txt
wait_ended() {
  for _ in $(seq $((40 * patience))); do
    "$starling" jobs >jobs.txt 2>/dev/null && ! grep -q -e ' running ' -e ' waiting ' -e ' starting ' -e ' draining ' jobs.txt && return 0
    sleep 0.25
  done
  fail "something goes on: $(cat jobs.txt)"
}
# host_of AGENT HOST: the host that `top` shows
host_of() {
  for _ in $(seq $((40 * patience))); do
    "$starling" top 2>/dev/null | grep -q "^agent-$1 *agent-$2 " && return 0
    sleep 0.25
  done
  fail "agent-$1 is not on agent-$2: $("$starling" top)"
}
