#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plug-ins as their authors make them: examples/plugin is built outside of the tree against an installed Starling, and the
# program that is installed there loads it. What fits it not, or is none, is refused in one line.
#   tests/plugin_test.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1" >&2; exit 1; }
cmake --install "$build" --prefix "$work/prefix" >/dev/null
starling=$work/prefix/bin/starling
cp -r "$source/examples/plugin" "$work/plugin"
cd "$work"
cmake -S plugin -B built -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build built >built.log || { cat built.log >&2; exit 1; }
cp built/*.so .
"$starling" topology generate leaf-spine --servers 4 --gpus 8 --rack 2 -o t.yaml 2>/dev/null
"$starling" workload generate --jobs 120 --gpus 32 --load 1.1 --max-duration 3600 -o w.csv 2>/dev/null

refused() { # WORDS ARGUMENTS...: exit code 2, and one line with the words
  local words=$1 code=0; shift
  "$starling" "$@" >out 2>err || code=$?
  [ $code -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$words" err || fail "'$*' ends with $code: $(cat err)"
}

echo "-- a policy"
"$starling" sim --topology t.yaml --trace w.csv --policy ./smallest_first.so --agents 2 --json --quiet >one.json || fail "no run"
"$starling" sim --topology t.yaml --trace w.csv --policy ./smallest_first.so --agents 2 --json --quiet >two.json
hash_of() { grep -o '"trace_hash": *"[0-9a-f]*"' "$1"; }
[ "$(hash_of one.json)" = "$(hash_of two.json)" ] || fail "same seed, other run"
grep -q '"jobs_finished": 120' one.json || fail "not all jobs finished: $(cat one.json)"
"$starling" sim --topology t.yaml --trace w.csv --policy fifo --agents 2 --json --quiet >fifo.json
[ "$(hash_of one.json)" != "$(hash_of fifo.json)" ] || fail "the plug-in is fifo"
refused "largest" sim --topology t.yaml --trace w.csv --policy ./smallest_first.so:largest=0
refused "has no option" sim --topology t.yaml --trace w.csv --policy ./smallest_first.so:lagrest=4
cat >e.yaml <<'YAML'
name: own
topologies: [t.yaml]
workloads: [w.csv]
policies: [fifo, {policy: ./smallest_first.so, label: mine, parameters: {largest: 64}}]
YAML
"$starling" experiment e.yaml --out e.out --quiet >table.md || fail "no experiment with a plug-in"
grep -q '| mine ' table.md || fail "the table has no plug-in: $(cat table.md)"

echo "-- a trace reader"
printf '# mine\na;0;4;30\nb;1.5;8;10\nnone;2;1;0\nc;2;32;5\n' >jobs.txt
"$starling" sim --topology t.yaml --trace jobs.txt --format ./minutes_csv.so --json --quiet >read.json || fail "no run of its own format"
grep -q '"jobs_finished": 3' read.json && grep -q '"rows_dropped": 1' read.json || fail "it read something else: $(cat read.json)"
echo 'd;zero;1;5' >>jobs.txt
refused "jobs.txt:6: is no line" sim --topology t.yaml --trace jobs.txt --format ./minutes_csv.so

echo "-- what is none"
refused "there is no such file" sim --topology t.yaml --trace w.csv --policy ./absent.so
refused "cannot be loaded" sim --topology t.yaml --trace w.csv --policy ./w.csv
refused "has no policy" sim --topology t.yaml --trace w.csv --policy ./minutes_csv.so
refused "reads no traces" sim --topology t.yaml --trace w.csv --format ./smallest_first.so
echo 'int nothing() { return 0; }' >nothing.cpp
${CXX:-c++} -shared -fPIC nothing.cpp -o nothing.so
refused "is a shared library, but no plug-in" sim --topology t.yaml --trace w.csv --policy ./nothing.so
# A header that is another one now: the hash that both carry differs.
sed 's/headers [0-9a-f]*/headers 000000000000/' smallest_first.so >other.so
refused "was built for starling " sim --topology t.yaml --trace w.csv --policy ./other.so
# A name without a slash is never a file.
refused "no policy 'smallest_first.so'" sim --topology t.yaml --trace w.csv --policy smallest_first.so
# A flock takes no code by a name.
refused "./smallest_first.so" up --flock flock --topology t.yaml --policy ./smallest_first.so --agents 1
[ ! -e flock ] || fail "a refused up left a flock"
echo "plug-ins: a policy and a trace reader of their own, and eight that are none"
