#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libstarling as its users have it: examples/embed, in C, is built outside of the tree against an installed Starling, and
# its runs are those of the program. A second program asks for what is wrong, and looks at every kind of thing.
#   tests/embed_test.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1" >&2; exit 1; }
if ! grep -q '^STARLING_SHARED:[A-Z]*=ON' "$build/CMakeCache.txt"; then
  echo "skipped: $build has no libstarling.so; the preset check has, or say -DSTARLING_SHARED=ON"
  exit 77
fi
cmake --install "$build" --prefix "$work/prefix" >/dev/null
starling=$work/prefix/bin/starling
cp -r "$source/examples/embed" "$work/embed"
cp "$source/tests/embed_test.c" "$work/embed/"
cd "$work"
cat >>embed/CMakeLists.txt <<'CMAKE'
add_executable(embed_test embed_test.c)
target_link_libraries(embed_test PRIVATE starling::starling m)
target_compile_options(embed_test PRIVATE -std=c99 -Wall -Wextra -Wpedantic -Werror)
target_compile_options(compare PRIVATE -std=c99 -Wall -Wextra -Wpedantic -Werror)
CMAKE
cmake -S embed -B built -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build built >built.log || { cat built.log >&2; exit 1; }
"$starling" topology generate leaf-spine --servers 4 --gpus 8 --rack 2 -o t.yaml 2>/dev/null
"$starling" workload generate --jobs 120 --gpus 32 --load 1.1 --max-duration 3600 -o w.csv 2>/dev/null

echo "-- runs from C are the program's"
./built/compare t.yaml w.csv 2 >out || fail "compare: $(cat out)"
for policy in fifo sjf lif:threshold=0.3; do
  hash=$("$starling" sim --topology t.yaml --trace w.csv --policy $policy --agents 2 --json --quiet | grep -o '"trace_hash": *"[0-9a-f]*"' | grep -o '[0-9a-f]\{16\}')
  grep -q "^$policy .*hash $hash$" out || fail "$policy has the hash $hash in the program, and here: $(cat out)"
done
./built/compare t.yaml w.csv 2 >again
cmp -s out again || fail "the same arguments, another run: $(diff out again)"
! ./built/compare nosuch.yaml w.csv >/dev/null 2>err || fail "a file that is not there was read"
grep -q '^nosuch.yaml: .*nosuch.yaml' err || fail "of a file that is not there: $(cat err)"

echo "-- what is wrong, and every call"
./built/embed_test t.yaml w.csv || fail "embed_test"

echo "-- only what the header declares can be seen"
library=$(echo "$work"/prefix/lib*/libstarling.so)
nm -D --defined-only "$library" | awk '$2 ~ /[A-Z]/ {print $3}' | grep -v '^starling_' | sort >seen || true
[ ! -s seen ] || fail "these can be seen too: $(head -3 seen)"
for name in $(grep -o '\bstarling_[a-z_]*(' "$work/prefix/include/starling.h" | tr -d '(' | sort -u); do
  nm -D --defined-only "$library" | grep -q " T $name$" || fail "$name is declared and not in the library"
done
echo "libstarling: the example in C, every call, and nothing else in sight"
