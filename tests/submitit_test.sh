#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# submitit (PyPI) with its Slurm executor as it is, on a flock by Slurm's names. The environment, BUILD/submitit-venv,
# stays for the next time. Skipped (77) where it cannot be had.
#   tests/submitit_test.sh PATH/TO/starling BUILD
set -u
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$source/flock.sh"
logs=('flock/nodes/*/log' up.log 'logs/*')
build=$(realpath "$2")
python3=${STARLING_PYTHON3:-python3}
venv=$build/submitit-venv
if ! "$venv/bin/python" -c 'import submitit' 2>/dev/null; then
  "$python3" -m venv --clear "$venv" >"$build/submitit-venv.log" 2>&1 &&
    "$venv/bin/python" -m pip install -q --disable-pip-version-check 'submitit==1.5.4' >>"$build/submitit-venv.log" 2>&1 ||
    { echo "skipped: submitit cannot be had: $(tail -1 "$build/submitit-venv.log")"; exit 77; }
fi
begin "$1"
"$starling" topology generate flat --servers 2 --gpus 2 -o two.yaml 2>/dev/null || fail "no topology"
up_ready --topology two.yaml --agents 2
"$starling" slurm links names >/dev/null || fail "no links"
export PATH=$work/names:$PATH
timeout $((150 * patience)) "$venv/bin/python" "$source/submitit_test.py" || fail "submitit: $(squeue; sacct -a)"
echo "done"
