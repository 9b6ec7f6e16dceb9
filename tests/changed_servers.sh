# SPDX-License-Identifier: Apache-2.0
# What tests share whose flocks get other servers while jobs run. To be sourced after flock.sh; jobs write each of their starts
# into NAME.starts, and what `configure` said last is in out.txt.
# wait_state STATE JOB...
wait_state() {
  local state=$1 job
  shift
  for job in "$@"; do
    for _ in $(seq $((60 * patience))); do "$starling" jobs 2>/dev/null | grep -q "^$job *$state" && continue 2; sleep 0.25; done
    fail "job $job is not $state: $("$starling" jobs)"
  done
}
# started_once NAME: and it runs
started_once() { [ "$(wc -l <"$1.starts")" -eq 1 ] || fail "$1 was started $(wc -l <"$1.starts") times"; kill -0 "$(cat "$1.starts")" || fail "$1 is dead"; }
configure() { "$starling" configure "$@" >out.txt 2>&1 || fail "configure $*: $(cat out.txt)"; }
# refused CODE TEXT OPTION...
refused() {
  local expected=$1 text=$2 code=0
  shift 2
  "$starling" configure "$@" >out.txt 2>&1 || code=$?
  [ $code -eq "$expected" ] || fail "configure $*: exit code $code: $(cat out.txt)"
  grep -qF -- "$text" out.txt || fail "configure $*: no '$text' in $(cat out.txt)"
}
said() { grep -qF -- "$1" out.txt || fail "no '$1' in $(cat out.txt)"; }
