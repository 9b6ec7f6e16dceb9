#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each folder includes only what the table of the architecture lets it: upward includes fail here.
#   tests/layering.sh [SOURCE]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

# folder: the project folders that it may include, itself apart
declare -A may=(
  [base]=""
  [nets]="base"
  [topology]="base"
  [workload]="base"
  [interference]="base nets topology workload"
  [policies]="base nets topology workload interference"
  [agents]="base topology workload interference policies"
  [store]="base agents"
  [bus]="base agents"
  [gnn]="base nets topology workload interference policies"
  [sim]="base nets topology workload interference policies agents bus store gnn"
  [launch]="base nets topology workload interference policies agents bus store gnn sim"
  [bench]="base nets topology workload interference policies agents bus store gnn sim launch"
)
# Structs that these headers are made of come with them.
transitive="base topology workload interference"
bad=0
complain() { echo "$1" >&2; bad=1; }

for folder in "${!may[@]}"; do
  [ -d "$folder" ] || continue
  allowed=" $folder ${may[$folder]} "
  case $folder in store|bus) allowed+="$transitive " ;; esac
  while IFS=: read -r file line text; do
    target=$(sed -E 's/.*#include "([^/"]+)\/.*/\1/' <<<"$text")
    case $file in
      *_test.cpp) extra=" tests " ;;
      */train/*) extra=" base nets topology workload interference policies gnn sim " ;;
      *) extra=" " ;;
    esac
    if [[ "$allowed$extra" != *" $target "* ]]; then complain "$file:$line: $folder must not include $target"; fi
  done < <(grep -rnE --include='*.h' --include='*.cpp' '^#include "[a-z_]+/' "$folder" || true)

  case $folder in base|nets|topology|workload|interference|policies|agents|store|bus|gnn|sim|launch)
    while IFS=: read -r file line _; do
      [[ $file == */train/* || $file == interference/profile/steps/* ]] ||
        complain "$file:$line: only train/ and profile/steps/ may include torch"
    done < <(grep -rnE --include='*.h' --include='*.cpp' '^#include <(torch|ATen|c10)/' "$folder" || true) ;;
  esac
  case $folder in base|nets|topology|workload|interference|policies|agents|gnn|sim|store)
    while IFS=: read -r file line _; do
      complain "$file:$line: $folder must not know ZeroMQ"
    done < <(grep -rnE --include='*.h' --include='*.cpp' '^#include <zmq' "$folder" || true) ;;
  esac
done

# Cores are pure: no clock, thread, socket or file.
while IFS=: read -r file line text; do
  [[ $file == *_test.cpp || $file == */test_*.h || $file == interference/profile/steps/* ]] || complain "$file:$line: a core must not use $text"
done < <(grep -rnE --include='*.h' --include='*.cpp' '^#include <(thread|mutex|fstream|sys/socket.h|ctime)>|std::(random_device|[a-z_]+_distribution|chrono::[a-z]+_clock)' agents policies interference || true)

[ $bad -eq 0 ] && echo "layering: every include is allowed"
exit $bad
