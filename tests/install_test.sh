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
else
  echo "skipped: the unit is not verified, because systemd-analyze is not here"
fi

# A page of the manual for each command, without a word that groff does not know; completion where shells look for it.
commands=$("$work/prefix/bin/starling" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 30 ] || { echo "FAILED: these are all commands: $commands" >&2; exit 1; }
for command in "" $commands; do
  page=$work/prefix/share/man/man1/starling${command:+-$command}.1
  [ -f "$page" ] || { echo "FAILED: no page $page" >&2; exit 1; }
done
command -v groff >/dev/null || echo "skipped: pages of the manual are not read, because groff is not here"
if command -v groff >/dev/null; then
  for page in "$work"/prefix/share/man/man1/*.1; do
    told=$(groff -man -ww -b -z "$page" 2>&1)
    [ -z "$told" ] || { echo "FAILED: groff: $told" >&2; exit 1; }
  done
  groff -man -Tascii "$work/prefix/share/man/man1/starling-submit.1" | col -b | grep -- '--gpus N' >/dev/null || { echo "FAILED: starling-submit.1 has no --gpus" >&2; exit 1; }
fi
[ "$(realpath "$work/prefix/libexec/starling/slurm/squeue")" = "$(realpath "$work/prefix/bin/starling")" ] || { echo "FAILED: squeue is no link to the program" >&2; exit 1; }
for file in bash-completion/completions/starling zsh/vendor-completions/_starling fish/vendor_completions.d/starling.fish; do
  grep -q submit "$work/prefix/share/$file" || { echo "FAILED: $file completes nothing" >&2; exit 1; }
done

# What is packed names paths as they will be, makes its user, and needs the libraries that it is linked with.
if command -v dpkg-shlibdeps >/dev/null; then
  (cd "$build" && cpack -D CPACK_COMPONENTS_ALL=runtime -B "$work/package") >"$work/cpack.log" 2>&1 || { cat "$work/cpack.log"; echo "FAILED: no package" >&2; exit 1; }
  deb=$(echo "$work"/package/starling_*.deb)
  dpkg-deb -x "$deb" "$work/unpacked"
  grep -q '^ExecStart=/usr/bin/starling up' "$work"/unpacked/usr/lib/systemd/system/starling@.service || { echo "FAILED: the package's unit starts another program" >&2; exit 1; }
  [ -x "$work/unpacked/usr/bin/starling" ] && [ -f "$work/unpacked/usr/share/man/man1/starling-up.1" ] || { echo "FAILED: the package lacks files: $(dpkg-deb -c "$deb")" >&2; exit 1; }
  dpkg-deb -f "$deb" Depends | grep -q libzmq5 || { echo "FAILED: it depends on $(dpkg-deb -f "$deb" Depends)" >&2; exit 1; }
  dpkg-deb -e "$deb" "$work/control" && sh -n "$work/control/postinst" && grep -q useradd "$work/control/postinst" || { echo "FAILED: no postinst" >&2; exit 1; }
  ! find "$work/unpacked" -name '*.h' -o -name '*.a' | grep -q . || { echo "FAILED: headers or libraries are in the package of the program" >&2; exit 1; }
else
  echo "skipped: no package is made, because dpkg-dev is not here"
fi

# Public headers alone, and all that they include.
public=$(cd "$work/prefix/include/starling" && find . -name '*.h' | wc -l)
[ "$public" -lt 60 ] || { echo "FAILED: $public headers are installed; cmake/StarlingInstall.cmake lists the public ones" >&2; exit 1; }
for internal in launch/client/session.h agents/step/step.h; do
  [ ! -e "$work/prefix/include/starling/$internal" ] || { echo "FAILED: $internal is installed" >&2; exit 1; }
done

mkdir "$work/user"
cat >"$work/user/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(starling REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE starling::sim)
add_executable(client client.cpp)
target_link_libraries(client PRIVATE starling::client)
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
cat >"$work/user/client.cpp" <<'CPP'
#include <cstdio>

#include "launch/client/flock_client.h"
#include "launch/client/output_of_job.h"

// client DIRECTORY: a job from its beginning to its end, and a server out of use and in again.
int main(int, char** argv) {
  using namespace starling;
  const auto wrong = [](const Error& error) { return std::printf("wrong: %s\n", error.message.c_str()), 1; };
  auto opened = FlockClient::open(argv[1]);
  if (!opened) return wrong(opened.error());
  FlockClient& flock = *opened.value();
  JobSpec job;
  job.name = "from-a-program";
  job.command = {"sh", "-c", "echo from here"};
  if (const auto user = flock.set_user(job); !user.ok()) return wrong(user.error());
  if (const auto can = flock.can_run(job); !can.ok()) return wrong(can.error());
  const auto id = flock.new_id();
  if (!id) return wrong(id.error());
  job.id = id.value();
  if (const auto said = flock.submit(job); !said) return wrong(said.error());
  const auto end = flock.ended(job.id, std::chrono::seconds(60));
  if (!end) return wrong(end.error());
  OutputOfJob output(flock, {}, [](const std::string& text) { std::printf("%s", text.c_str()); }, [](const std::string&) {});
  if (const auto there = output.look_at(end.value()); !there.ok()) return wrong(there.error());
  output.read(std::chrono::seconds(3));
  output.finish();
  const auto jobs = flock.jobs();
  if (!jobs) return wrong(jobs.error());
  const auto drained = flock.drain({ServerId{0}, true, false, 0});
  if (!drained) return wrong(drained.error());
  const auto used = flock.drain({ServerId{0}, false, false, 0});
  if (!used) return wrong(used.error());
  std::printf("%zu jobs, %zu agents do not answer\n", jobs.value().jobs.size(), jobs.value().silent.size());
  return end.value().phase == JobPhase::finished ? 0 : 1;
}
CPP
cmake -S "$work/user" -B "$work/user/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/user/build" >"$work/build.log" || { cat "$work/build.log" >&2; exit 1; }
"$work/user/build/user"

export STARLING_FLOCK=$work/flock TMPDIR=$work
"$work/prefix/bin/starling" topology generate flat --servers 1 --gpus 2 -o "$work/one.yaml" 2>/dev/null
trap '"$work/prefix/bin/starling" down >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
"$work/prefix/bin/starling" up --topology "$work/one.yaml" --agents 1 --detach >"$work/up.log" 2>&1 || { cat "$work/up.log" >&2; exit 1; }
"$work/user/build/client" "$work/flock" >"$work/client.out" || { cat "$work/client.out" >&2; exit 1; }
diff "$work/client.out" - <<'OUT' || { echo "FAILED: what a client of an installed Starling says" >&2; exit 1; }
from here
1 jobs, 0 agents do not answer
OUT
