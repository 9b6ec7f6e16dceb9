#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several people in one flock that root has brought up: who a job runs as, who may change what, whom a key lets in, and
# what each is told. Then a flock of a user who is not root.
#   tests/users_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
ann=daemon bob=games stranger=nobody  # users that systems have anyway
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root can start jobs of other users"; exit 77; }
command -v runuser >/dev/null || { echo "skipped: there is no runuser"; exit 77; }
for user in $ann $bob $stranger; do id "$user" >/dev/null 2>&1 || { echo "skipped: there is no user $user"; exit 77; }; done
logs=('flock/nodes/*/log' up.log)
begin "$1"
chmod 755 "$work"
umask 022
# as USER COMMAND...
as() {
  local user=$1
  shift
  runuser -u "$user" -- env TMPDIR=/tmp "$@"
}
as $ann test -x "$starling" || { cp "$starling" program && starling=$work/program; }
as $ann "$starling" --version >/dev/null || { echo "skipped: other users cannot run the program"; exit 77; }
# refused USER TEXT COMMAND...: it fails, and says so
refused() {
  local user=$1 text=$2
  shift 2
  as "$user" "$@" >out.txt 2>err.txt && fail "$user: $* is not refused: $(cat out.txt)"
  grep -q -- "$text" err.txt || fail "$user: $*: '$text' is not said: $(cat err.txt)"
}
# running JOB: waits until it does
running() {
  for _ in $(seq $((40 * patience))); do
    "$starling" jobs "$1" | grep -q ' running ' && return
    sleep 0.25
  done
  fail "job $1 does not run: $("$starling" explain "$1")"
}
processes() { pgrep -cf -- "$1"; }

"$starling" topology generate flat --servers 2 --gpus 2 -o two.yaml 2>/dev/null || fail "no topology"
up_ready --topology two.yaml --servers-per-executor 1
grep -q 'one user' up.log && fail "a flock of root's is said to be of one user"

echo "-- a stranger is told which file it is, and who helps"
refused $stranger "flock/nodes/client-0/keys.json is not readable for user '$stranger'" "$starling" jobs
grep -q "starling keys grant $stranger --flock $work/flock" err.txt || fail "no help: $(cat err.txt)"
refused $stranger "flock/flock.json is not writable for user '$stranger'; it is changed by who brought the flock up" "$starling" keys grant $stranger
refused root "there is no user 'no-such-user'" "$starling" keys grant no-such-user
refused root "give --operator" "$starling" keys grant root

echo "-- who may not stop, change or copy it is told who may, at once, and nothing happens"
for command in down "down --remove" restart "configure --policy fifo" "configure --topology two.yaml" "backup /tmp/copy-$$" "restore nothing" up "accept-loss --all"; do
  refused $stranger "^starling: ${command%% *}: the flock in $work/flock is of 'root', who brought it up, and only root may do that, not '$stranger'; ask them, or say 'sudo -u root starling ${command%% *} --flock $work/flock'$" timeout 5 "$starling" $command
  [ "$(wc -l <err.txt)" -eq 1 ] || fail "more than one sentence: $(cat err.txt)"
done
as $stranger "$starling" configure >/dev/null || fail "any user may look at what it is"
kill -0 $up && [ ! -e /tmp/copy-$$ ] || fail "it has happened all the same"

echo "-- two users are let in while the flock runs"
for user in $ann $bob; do "$starling" keys grant $user >granted.txt || fail "keys grant $user"; done
grep -q "export STARLING_FLOCK=$work/flock" granted.txt || fail "$(cat granted.txt)"
"$starling" keys show >keys.txt
grep -q "^client-0 .*  user 'root', operator$" keys.txt && grep -q "^user-$ann .*  user '$ann'$" keys.txt || fail "keys show: $(cat keys.txt)"
[ "$(stat -c '%U %a' "flock/nodes/user-$ann" "flock/nodes/user-$ann/keys.json" | tr '\n' ,)" = "$ann 700,$ann 600," ] || fail "modes: $(stat -c '%n %U %a' flock/nodes/user-*)"
refused root "'$ann' has a place already" "$starling" keys grant $ann

echo "-- a job runs as who submitted it"
job=$(as $ann "$starling" submit --wait --directory / -- sh -c 'id -un; id -G; echo $USER:$HOME; umask; echo out >/dev/stdout' 2>/dev/null) || fail "submit: $("$starling" explain "$job")"
printf '%s\n%s\n%s\n0077\nout\n' $ann "$(id -G $ann)" "$ann:$(getent passwd $ann | cut -d: -f6)" >expected.txt
as $ann "$starling" logs "$job" >said.txt || fail "logs"
diff expected.txt said.txt || fail "who the job is"
[ "$("$starling" submit --wait -- id -un >root.id 2>/dev/null; "$starling" logs "$(cat root.id)")" = root ] || fail "root's own job"

echo "-- all see all"
as $bob "$starling" jobs --user $ann | grep -q "^$job .* $ann " || fail "jobs --user: $(as $bob "$starling" jobs)"
as $bob "$starling" jobs --user me | grep -q "^$job" && fail "jobs --user me shows another's"
as $ann "$starling" jobs --user me | grep -q "^$job" || fail "jobs --user me"
as $bob "$starling" explain "$job" >/dev/null && as $bob "$starling" logs "$job" | diff - said.txt && as $bob "$starling" top >/dev/null || fail "$bob does not see $ann's job"

echo "-- no user says to be another"
printf 'name: liar\nuser: root\ncommand: [id]\n' >liar.yaml
refused $ann "is said to be of user 'root', and this is the key of '$ann'; only root submits for others" "$starling" submit liar.yaml
printf 'name: for-another\nuser: %s\ncommand: [id, -un]\n' $bob >for.yaml
job=$("$starling" submit --wait for.yaml 2>/dev/null) || fail "root for $bob"
[ "$("$starling" logs "$job")" = $bob ] || fail "root's job for $bob is of $("$starling" logs "$job")"
printf 'name: lost\nuser: no-such-user\ncommand: [id]\n' >lost.yaml
"$starling" submit --wait lost.yaml >lost.id 2>/dev/null && fail "a job of no user"
"$starling" explain "$(cat lost.id)" | grep -q "there is no user 'no-such-user' on $(hostname)" || fail "no user: $("$starling" explain "$(cat lost.id)")"
"$starling" jobs "$(cat lost.id)" | grep -q ' failed ' || fail "$("$starling" jobs)"

echo "-- a job cannot read the keys of nodes and others, nor write where the flock writes"
job=$(as $ann "$starling" submit --wait --directory / -- sh -c "cd '$work/flock/nodes'; for f in agent-0 executor-0 executor-1 client-0 user-$bob; do cat \$f/keys.json && echo read; done
  touch agent-0/x executor-0/parts/x ../flock.json && echo wrote; echo over" 2>/dev/null) || fail "the job that pries"
"$starling" logs "$job" >pried.txt
grep -q '^over$' pried.txt && ! grep -q -e secret -e '^read$' -e '^wrote$' pried.txt || fail "it could: $(cat pried.txt)"

echo "-- people cancel their own jobs, operators all"
job=$(as $ann "$starling" submit --directory / -- sleep 1000)
running "$job"
refused $bob "job $job is of '$ann', and this is the key of '$bob': people change their own jobs, operators of the flock all" "$starling" cancel "$job"
refused $bob "is of '$ann'" "$starling" cancel --all
"$starling" jobs "$job" | grep -q ' running ' || fail "$bob has ended it"
as $ann "$starling" cancel "$job" | grep -q cancelled || fail "own cancel"
job=$(as $ann "$starling" submit --directory / -- sleep 1000)
"$starling" cancel "$job" | grep -q cancelled || fail "root's cancel"
refused $bob "this is the key of '$bob', who is no operator" "$starling" drain 1 --evict
for kind in '' '' --operator; do  # each time another place, which agents do not take for an earlier life of the last one
  "$starling" keys revoke $bob >/dev/null && "$starling" keys grant $bob $kind >/dev/null || fail "grant $bob again $kind"
  as $bob timeout 20 "$starling" jobs >/dev/null || fail "$bob is not heard"
done
as $bob "$starling" drain 1 | grep -q 'is drained' && as $bob "$starling" drain 1 --undo | grep -q 'in use again' || fail "an operator's drain"

echo "-- a job of another user dies whole, also one that an earlier executor started"
job=$(as $ann "$starling" submit --directory / -- sh -c "trap '' TERM; setsid sh -c \"trap '' TERM; sleep 98761\" & sleep 98761; sleep 98761")
running "$job"
kill -9 "$(pgrep -f -- "--config $work/flock/nodes/executor-0/")" "$(pgrep -f -- "--config $work/flock/nodes/executor-1/")"
sleep 1
[ "$(processes 'sleep 98761')" -gt 0 ] || fail "it died with its executor"
as $ann "$starling" cancel "$job" | grep -q cancelled || fail "cancel: $("$starling" explain "$job")"
[ "$(pgrep -u $ann -f 'sleep 98761' | wc -l)" -eq 0 ] || fail "left: $(pgrep -u $ann -af 'sleep 98761')"

echo "-- who is let in no more is told so; the job goes on"
job=$(as $ann "$starling" submit --directory / -- sleep 1000)
running "$job"
"$starling" keys revoke $ann | grep -q "starling cancel --user $ann" || fail "revoke"
refused $ann "not readable for user '$ann'" "$starling" jobs
[ -e "flock/nodes/user-$ann" ] && fail "the place is left"
"$starling" jobs "$job" | grep -q ' running ' || fail "the job ended"
"$starling" cancel --user $ann | grep -q "$job cancelled" || fail "cancel --user"
refused root "has no place in this flock" "$starling" keys revoke $ann
refused root "brought the flock up" "$starling" keys revoke root

echo "-- a copy for elsewhere"
mkdir home && chown $stranger home
refused root "as '$ann'" "$starling" keys grant $ann --out home/copy
"$starling" keys grant $stranger --out home/copy >/dev/null || fail "grant --out"
[ "$(stat -c '%U %a' home/copy home/copy/nodes/user-$stranger/keys.json | tr '\n' ,)" = "$stranger 700,$stranger 600," ] || fail "the copy: $(ls -lR home)"
refused $stranger "home/copy is a user's place in a flock that is elsewhere" "$starling" down --remove --flock home/copy
job=$(as $stranger "$starling" submit --flock home/copy --directory / --wait -- id -un 2>/dev/null) || fail "with a copy"
[ "$("$starling" logs "$job")" = $stranger ] || fail "the job is of $("$starling" logs "$job")"
"$starling" keys revoke $stranger >/dev/null || fail "revoke a copy"
as $stranger timeout 20 "$starling" submit --flock home/copy --directory / -- true >/dev/null 2>&1 && fail "a revoked copy lets in"

echo "-- a flock of before there were users: its keys are operators', a job's user is a name"
kill "$up"
wait "$up" 2>/dev/null
python3 -c '
import json
flock = json.load(open("flock/flock.json"))
for member in flock["members"]:
    member.pop("user", None), member.pop("operator", None)
json.dump(flock, open("flock/flock.json", "w"))'
grep -q '"user"' flock/flock.json && fail "users are left: $(cat flock/flock.json)"
up_ready
job=$("$starling" submit --wait lost.yaml 2>/dev/null) || fail "a job with a name for its user: $("$starling" explain "$job")"
"$starling" logs "$job" | grep -q 'uid=0(root)' && "$starling" jobs "$job" | grep -q no-such-user || fail "it is of $("$starling" logs "$job")"
"$starling" drain 1 | grep -q 'is drained' && "$starling" drain 1 --undo >/dev/null || fail "drain"
"$starling" keys grant $ann >/dev/null || fail "grant in an old flock"
refused $ann "job $job is an operator's\|has already finished" "$starling" cancel "$job"
job=$(as $ann "$starling" submit --wait --directory / -- id -un 2>/dev/null) || fail "a user in an old flock"
[ "$("$starling" logs "$job")" = $ann ] || fail "the job is of $("$starling" logs "$job")"

echo "-- a flock of who is not root is of one user, and says so"
kill "$up"
wait "$up" 2>/dev/null
cp two.yaml home
as $stranger "$starling" up --flock home/own --topology home/two.yaml >own.log 2>&1 &
started+=($!)
wait_for 30 "^one user: all jobs run as '$stranger'" own.log
refused $stranger "this is a one-user flock: '$stranger' brought it up" "$starling" keys grant $ann --flock home/own
"$starling" keys grant $ann --flock home/own >/dev/null 2>&1 && fail "root lets others into a one-user flock"
job=$(as $stranger "$starling" submit --flock home/own --directory / --wait -- id -un 2>/dev/null) || fail "a job of its own"
[ "$(as $stranger "$starling" logs --flock home/own "$job")" = $stranger ] || fail "the job is another's"
refused $stranger "is said to be of user '$bob'" "$starling" submit --flock home/own --directory / for.yaml
printf 'user: %s\ncommand: id\n' $bob >home/nameless.yaml
refused $stranger "submit: it is said to be of user '$bob'" "$starling" submit --flock home/own home/nameless.yaml
chmod 711 home/own
refused $bob "'$stranger' has brought the flock up: on one machine it is theirs alone" "$starling" jobs --flock home/own
as $stranger "$starling" down --flock home/own || fail "down"
