#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What tests/systemd_test.sh has done inside the machine that it boots, as a unit of that machine, at each boot:
#   systemd_guest.sh FOLDER
# FOLDER lives through reboots: `boots` counts them, `verdict` says how it ended, `notes` what happened.
set -u
folder=$1
cd "$folder" || exit 1
exec >>notes 2>&1
state=/var/lib/starling
flock=$state/blue
unit=starling@blue
patience=${STARLING_PATIENCE:-4}
as_user() { setpriv --reuid starling --regid starling --clear-groups env HOME=$state USER=starling STARLING_FLOCK=$flock "$@"; }
starling() { as_user /usr/bin/starling "$@"; }
over() {
  echo "$*" >verdict
  sync
  systemctl --no-block poweroff
  exit 0
}
fail() {
  echo "FAILED: $*"
  systemctl --no-pager status $unit
  systemd-cgls --no-pager -a
  journalctl --no-pager -b -u $unit | tail -60
  tail -n 40 $flock/nodes/*/log
  over "FAILED: $*"
}
say() { echo "-- $(date +%T) $*"; }
# until_true SECONDS COMMAND...
until_true() {
  local left=$(($1 * 5 * patience))
  shift
  for _ in $(seq $left); do
    "$@" && return 0
    sleep 0.2
  done
  return 1
}
# job NAME COMMAND [OPTIONS...]: its number. Each start is a line of NAME.starts, two at once are told in `twice`.
job() {
  local name=$1 command=$2
  shift 2
  starling submit --name "$name" "$@" -- sh -c "exec 9>$state/$name.\$RANK.lock; flock -n 9 || echo $name >>$state/twice; echo \$\$ >>$state/$name.starts; $command"
}
starts() { cat $state/"$1".starts 2>/dev/null | wc -l; }
pid_of() { tail -1 $state/"$1".starts; }
started() { [ "$(starts "$1")" -ge "${2:-1}" ]; }
phase() { starling jobs "$1" --json 2>/dev/null | grep -q "\"$2\""; }
main_pid() { systemctl show -p MainPID --value $unit; }
daemon() { pgrep -f -- "--config $flock/nodes/$1/"; }
own_cgroup() { sed -n 's/^0:://p' /proc/"$1"/cgroup; }
# same NAME PID WHEN: the job goes on, in its first life
same() {
  kill -0 "$2" 2>/dev/null || fail "the job $1 has ended $3"
  [ "$(starts "$1")" -eq 1 ] || fail "the job $1 was started $(starts "$1") times $3"
  until_true 30 phase "$(cat "$1.id")" running || fail "the job $1 is not known to run $3: $(starling jobs)"
  case $(own_cgroup "$2") in */starling@blue.service/*/starling-*|*/starling@blue.service/starling-*) ;; *) fail "the job $1 is in $(own_cgroup "$2") $3" ;; esac
}
controllers() { grep -q memory /sys/fs/cgroup/cgroup.controllers; }
# limited NAME WHEN: what the kernel holds the job to
limited() {
  controllers || return 0
  local group
  group=/sys/fs/cgroup$(own_cgroup "$(pid_of "$1")")
  [ "$(cat "$group/memory.max")" = 67108864 ] || fail "$1 may use $(cat "$group/memory.max") bytes $2, not 64 MiB"
  [ "$(cat "$group/cpu.max")" = "50000 100000" ] || fail "$1 may use $(cat "$group/cpu.max") of CPU $2, not a half"
}
# kept_to_half NAME: a job of that name that wants more CPU than it asked for
kept_to_half() {
  local busy group
  controllers || return 0
  busy=$(job "$1" 'while :; do :; done' --cpus 0.5)
  until_true 30 started "$1" || fail "no job $1: $(starling explain "$busy")"
  group=/sys/fs/cgroup$(own_cgroup "$(pid_of "$1")")
  until_true 30 grep -q '^nr_throttled [1-9]' "$group/cpu.stat" || fail "$1 is not kept to its half: $(cat "$group/cpu.stat")"
  starling cancel "$busy"
  until_true 30 eval '! [ -d "$group" ]' || fail "the cgroup of $1 stays"
}
up_again() {  # WHEN: the unit is active with another main process than $before
  until_true 60 eval '[ "$(systemctl is-active $unit)" = active ] && [ "$(main_pid)" != "$before" ]' || fail "the unit is $(systemctl is-active $unit) $1"
}

boots=$(($(cat boots 2>/dev/null || echo 0) + 1))
echo $boots >boots

if [ $boots -eq 1 ]; then
  say "boot 1: $(systemctl --version | head -1), $(uname -r), controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
  if [ -x ./guardian_test ]; then
    ./guardian_test -tc='*cgroup*,*kernel*' >unit.txt 2>&1 || { cat unit.txt; fail "unit tests on this kernel"; }
    controllers && grep 'skipped:' unit.txt && fail "a unit test was skipped where there are controllers"
  fi
  starling up --flock $flock --topology "$folder/cluster.yaml" --agents 2 --servers-per-executor 1 --detach || fail "up --detach"
  starling down --flock $flock || fail "down"
  systemctl enable --now $unit || fail "enable --now"
  job long 'sleep 100000' --cpus 0.5 --memory-gib 0.0625 >long.id || fail "submit"
  until_true 30 started long || fail "no job starts: $(starling explain "$(cat long.id)")"
  pid=$(pid_of long)
  same long "$pid" "at first"
  limited long "at first"

  if controllers; then
    say "a job that uses more than its memory, and one that wants more CPU"
    hog=$(job hog 'tail /dev/zero' --memory-gib 0.0625)
    until_true 60 phase "$hog" failed || fail "the hog lives: $(starling jobs)"
    starling explain "$hog" | grep -q "used more than its memory_gib" || fail "why did it fail? $(starling explain "$hog")"
    kept_to_half at_first
  fi

  say "jobs that leave what is found only by their cgroup"
  left=$(job left 'setsid env -i sh -c "sleep 100001 & exec sleep 100002" & exit 0')
  until_true 30 phase "$left" finished || fail "it does not finish"
  pgrep -f 'sleep 10000[12]' && fail "what it left lives on"

  for _ in 1 2; do
    before=$(main_pid)
    say "systemctl restart"
    systemctl restart $unit || fail "restart"
    [ "$(main_pid)" != "$before" ] || fail "it is the same process after restart"
    same long "$pid" "after restart"
    limited long "after restart"
  done
  kept_to_half after_restart
  before=$(main_pid)
  say "the package is installed again, as for an upgrade"
  dpkg -i "$folder/starling.deb" || fail "dpkg -i"
  up_again "after the upgrade"
  same long "$pid" "after the upgrade"
  limited long "after the upgrade"
  say "systemctl reload"
  systemctl reload $unit || fail "reload"
  same long "$pid" "after reload"

  for name in executor-0 executor-1 agent-0 agent-1; do
    say "kill -9 of $name"
    killed=$(daemon $name) || fail "no $name"
    kill -9 "$killed"
    until_true 30 eval 'now=$(daemon $name) && [ "$now" != "$killed" ]' || fail "$name is not started again"
    sleep 2
    same long "$pid" "after kill -9 of $name"
    limited long "after kill -9 of $name"
  done
  before=$(main_pid)
  say "kill -9 of the main process"
  kill -9 "$before"
  up_again "after kill -9 of its main process"
  same long "$pid" "after kill -9 of the main process"
  limited long "after kill -9 of the main process"
  before=$(main_pid)
  say "kill -9 of all processes of the flock but those of jobs"
  kill -9 "$before" $(pgrep -f -- "--config $flock/nodes/")
  up_again "after kill -9 of all"
  same long "$pid" "after kill -9 of all"
  limited long "after kill -9 of all"

  say "systemctl stop and start"
  systemctl stop $unit || fail "stop"
  [ "$(systemctl is-active $unit)" = inactive ] || fail "it is $(systemctl is-active $unit) after stop"
  kill -0 "$pid" 2>/dev/null && fail "the job runs on after stop"
  pgrep -u starling . && fail "left after stop: $(pgrep -u starling -a .)"
  systemctl start $unit || fail "start after stop"
  until_true 60 started long 2 || fail "the job is lost by stop: $(starling jobs)"

  say "reboot with a running, a waiting and an ended job"
  ended=$(job ended true) && echo "$ended" >ended.id
  until_true 30 phase "$ended" finished || fail "it does not finish"
  job wide "sleep 1" --workers 4 >wide.id || fail "submit"  # waits for what `long` has
  sync
  systemctl --no-block reboot
  exit 0
fi

say "boot $boots"
until_true 60 eval '[ "$(systemctl is-active $unit)" = active ]' || fail "the unit is $(systemctl is-active $unit) after the reboot"
until_true 60 started long 3 || fail "the job is lost by the reboot: $(starling jobs)"
limited long "after the reboot"
phase "$(cat ended.id)" finished || fail "an ended job is not remembered: $(starling jobs)"
[ "$(starts ended)" -eq 1 ] || fail "an ended job ran $(starts ended) times"
phase "$(cat wide.id)" waiting || fail "the waiting job: $(starling jobs)"
starling cancel "$(cat long.id)" || fail "cancel"
until_true 60 phase "$(cat wide.id)" finished || fail "the waiting job does not run: $(starling jobs)"
[ "$(starts wide)" -eq 4 ] || fail "the four workers of the waiting job were started $(starts wide) times"
[ "$(starts long)" -eq 3 ] || fail "the long job ran $(starts long) times"
[ ! -s $state/twice ] || fail "twice at once: $(cat $state/twice)"
starling down --flock $flock || fail "starling down"
until_true 30 eval '[ "$(systemctl is-active $unit)" = inactive ]' || fail "the unit is $(systemctl is-active $unit) after starling down"
systemctl list-units --failed --no-legend --no-pager | grep starling && fail "a unit has failed"
over "all right: no job lost, none twice"
