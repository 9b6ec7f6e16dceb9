#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What each shell that is installed offers after some words, by the scripts of `starling completion`.
#   launch/command_line/completion_test.sh PROGRAM
set -uo pipefail
starling=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
fail() { echo "FAILED: $1" >&2; failures=$((failures + 1)); }

# offered SHELL WORD...: what may follow `starling WORD...`, a line each
cat >offered.bash <<'END'
source script.bash
COMP_WORDS=(starling "$@" "") COMP_CWORD=$(($# + 1))
_starling_complete
printf '%s\n' "${COMPREPLY[@]}"
END
# A terminal's completion cannot be asked from here: compadd and _files tell what they are given.
cat >offered.zsh <<'END'
autoload -Uz compinit && compinit -D -u
source script.zsh
[[ $_comps[starling] == _starling ]] || print not registered
compadd() { shift; offered=("$@"); (($#)) }
_files() { offered=(files) }
words=(starling "$@" "") CURRENT=$#words
_starling
print -l -- $offered
END
cat >offered.fish <<'END'
source script.fish
complete -C "starling $argv " | string replace -r '\t.*' ''
complete -C "starling $argv -" | string replace -r '\t.*' ''
END
offered() {
  case $1 in
    bash) bash --norc offered.bash "${@:2}" ;;
    zsh) zsh -f offered.zsh "${@:2}" ;;
    fish) fish --no-config offered.fish "${@:2}" ;;
  esac
}
# offers SHELL WORD PATH...: after PATH comes WORD
offers() {
  offered "$1" "${@:3}" >offered.txt
  grep -qxe "$2" offered.txt || fail "$1 does not offer $2 after '${*:3}': $(head -20 offered.txt)"
}

for shell in bash zsh fish; do
  "$starling" completion $shell >script.$shell || fail "no script for $shell"
  command -v $shell >/dev/null || { echo "$shell is not installed: not run" >&2; continue; }
  $shell -n script.$shell || fail "$shell does not read its script"
  offers $shell topology
  offers $shell draw topology
  offers $shell --vl2-aggregation-ports topology generate vl2
  offers $shell --constants fit
  offers $shell zsh completion
  offered $shell fit >offered.txt
  grep -qx draw offered.txt && fail "$shell offers a command that is another's"
done
"$starling" completion tcsh 2>/dev/null && fail "a script for an unknown shell"

[ $failures -eq 0 ] && echo "all right"
exit $((failures > 0))
