# SPDX-License-Identifier: Apache-2.0
# Sourced by tests of the program from outside: a folder of its own, which does not stay, `expect`, and `over`, with
# which a test ends.
set -uo pipefail
starling=$(realpath "$1")
work=$(mktemp -d)
export TMPDIR=$work
cd "$work"
failures=0
fail() { echo "FAILED: $1" >&2; failures=$((failures + 1)); }

# Processes of this test: they carry its folder in their command line.
left_over() { pgrep -f -- "--config $work" || true; }
finish() {
  local pids
  pids=$(left_over)
  [ -z "$pids" ] || kill -9 $pids 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT

# expect CODE TEXT COMMAND...: exit status, and stderr is one message that contains TEXT.
expect() {
  local code=$1 text=$2
  shift 2
  "$starling" "$@" >out.txt 2>err.txt </dev/null
  local got=$?
  [ $got -eq "$code" ] || fail "starling $*: exit $got, expected $code: $(cat err.txt)"
  grep -qF -- "$text" err.txt out.txt || fail "starling $*: '$text' is not in: $(cat err.txt)"
  if [ "$code" -eq 2 ]; then
    [ "$(grep -c '^starling: ' err.txt)" -eq 1 ] || fail "starling $*: not exactly one message: $(cat err.txt)"
    [ ! -s out.txt ] || fail "starling $*: wrote to stdout"
  fi
}

# Its processes have ended, or do so within ten seconds.
gone() {
  for _ in $(seq 100); do
    [ -z "$(left_over)" ] && return 0
    sleep 0.1
  done
  return 1
}

over() {
  [ $failures -eq 0 ] && echo "all right"
  exit $((failures > 0))
}
