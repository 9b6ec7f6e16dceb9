#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An installed Starling can be used: its program runs, and find_package(starling) builds a program.
#   tests/install_test.sh BUILD SOURCE
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$work/prefix/bin/starling" --version
unit=$work/prefix/lib/systemd/system/starling@.service
grep -q "^ExecStart=$work/prefix/bin/starling up" "$unit" || { echo "FAILED: the unit starts another program: $(cat "$unit")" >&2; exit 1; }
if command -v systemd-analyze >/dev/null; then
  # What it says of other units of the machine is not ours.
  told=$(systemd-analyze verify --man=no "$unit" 2>&1 | grep starling || true)
  [ -z "$told" ] || { echo "FAILED: systemd-analyze: $told" >&2; exit 1; }
fi

mkdir "$work/user"
cat >"$work/user/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(starling REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE starling::sim)
CMAKE
cat >"$work/user/user.cpp" <<'CPP'
#include <cstdio>

#include "policies/registry.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/generate/generate.h"

int main() {
  using namespace starling;
  const auto place = generate_leaf_spine({});
  const auto trace = generate_trace({.jobs = 20, .cluster_gpus = 64});
  if (!place || !trace) return 1;
  const auto run = simulate(place.value(), trace.value(), make_policy_registry(), {});
  if (!run) return 1;
  std::printf("%zu jobs, average JCT %.0f s\n", run.value().jobs.size(), figures(run.value()).avg_jct_s);
}
CPP
cmake -S "$work/user" -B "$work/user/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/user/build" >"$work/build.log" || { cat "$work/build.log" >&2; exit 1; }
"$work/user/build/user"
