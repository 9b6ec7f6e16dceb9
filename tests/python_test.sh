#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package as users get it: a wheel is built and imported in a virtual environment, its tests run there with
# third-party packages and a real flock, and its examples. The environment, BUILD/python-venv, and BUILD/python-prefix
# stay where they are, so that the next time compiles no more than what is new.
#   tests/python_test.sh BUILD PATH/TO/starling
# The wheel takes the libraries of BUILD, which therefore has to be position independent, as the preset check is; with
# STARLING_WHOLE=1 it builds them all, in build/python, as `pip install .` does. Skipped (77) where neither holds, and
# where no virtual environment with the packages can be made.
set -euo pipefail
build=$(realpath "$1") starling=$(realpath "$2")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ "${STARLING_WHOLE:-}" != 1 ] && ! grep -q '^CMAKE_POSITION_INDEPENDENT_CODE:[A-Z]*=ON' "$build/CMakeCache.txt"; then
  echo "skipped: the libraries of $build are not position independent; those of the preset check are, or say STARLING_WHOLE=1"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3=${STARLING_PYTHON3:-/usr/bin/python3}
venv=$build/python-venv
if ! "$venv/bin/python" -c 'import pip' 2>/dev/null && ! "$python3" -m venv --clear "$venv" >"$work/venv.log" 2>&1; then
  echo "skipped: $python3 makes no virtual environment: $(tail -1 "$work/venv.log"); launch/setup --python installs what it needs"
  exit 77
fi
python=$venv/bin/python
if ! "$python" -m pip install -q --disable-pip-version-check -r "$source/python/requirements.txt" >"$work/pip.log" 2>&1; then
  echo "skipped: the packages of python/requirements.txt cannot be had: $(grep -i error "$work/pip.log" | tail -1)"
  exit 77
fi

echo "-- a wheel, and what it is with nothing of this tree around it"
choices=()
if [ "${STARLING_WHOLE:-}" != 1 ]; then
  prefix=$build/python-prefix
  rm -rf "$prefix"
  cmake --install "$build" --prefix "$prefix" >/dev/null
  choices=("--config-settings=build-dir=$build/python-wheel" "--config-settings=cmake.define.starling_DIR=$prefix/lib/cmake/starling"
    "--config-settings=cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1")
fi
"$python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$work/wheels" ${choices[@]+"${choices[@]}"} "$source" ||
  { echo "FAILED: no wheel" >&2; exit 1; }
"$python" -m pip uninstall -q -y starling 2>/dev/null
"$python" -m pip install -q --disable-pip-version-check --no-deps "$work"/wheels/starling-*.whl
cd "$work"
"$python" - <<'PYTHON'
import os, sys, starling
assert starling.__file__.startswith(sys.prefix), starling.__file__
assert os.path.exists(os.path.join(os.path.dirname(starling.__file__), "py.typed"))
PYTHON

echo "-- its tests"
export STARLING_PROGRAM=$starling TMPDIR=$work PYTHONDONTWRITEBYTECODE=1
"$python" -m pytest -q -p no:cacheprovider "$source/python/tests"

echo "-- its examples"
mkdir -p "$work/examples"
for example in "$source"/python/examples/*.py; do
  [ "${example##*/}" != decider.py ] || continue  # it answers others
  echo "   ${example##*/}"
  (cd "$work/examples" && STARLING_QUICK=1 "$python" "$example")
done
for notebook in "$source"/python/examples/*.ipynb; do
  echo "   ${notebook##*/}"
  (cd "$work/examples" && "$python" - "$notebook" <<'PYTHON'
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not kept in the tree"
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
shown = [out for cell in notebook.cells for out in cell.get("outputs", [])]
assert sum("image/png" in out.get("data", {}) for out in shown) >= 1, "no plot was drawn"
PYTHON
  )
done

echo "-- a decider of another process"
flatc=$(command -v flatc || true)
if [ -z "$flatc" ]; then
  echo "skipped: flatc is not here; flatbuffers-compiler has it"
else
  "$flatc" --python -o "$work/generated" "$source/bus/decider/decider.fbs"
  PYTHONPATH=$work/generated "$python" "$source/python/examples/decider.py" "ipc://$work/decider" &
  decider=$!
  trap 'kill "$decider" 2>/dev/null || true; rm -rf "$work"' EXIT
  "$starling" topology generate leaf-spine --servers 4 --gpus 8 --rack 2 -o "$work/t.yaml" 2>/dev/null
  "$starling" workload generate --jobs 100 --gpus 32 --load 1.1 --max-duration 3600 -o "$work/w.csv" 2>/dev/null
  for try in one two; do
    "$starling" sim --topology "$work/t.yaml" --trace "$work/w.csv" --quiet --json \
      --policy "external:endpoint=ipc://$work/decider,wait=yes,timeout=5000" >"$work/$try.json"
  done
  kill "$decider"
  grep -q '"jobs_finished": 100' "$work/one.json" || { echo "FAILED: not all jobs finished: $(cat "$work/one.json")" >&2; exit 1; }
  hash_of() { grep -o '"trace_hash": *"[0-9a-f]*"' "$1"; }
  [ "$(hash_of "$work/one.json")" = "$(hash_of "$work/two.json")" ] || { echo "FAILED: the same decider, another run" >&2; exit 1; }
fi
echo "python: all right"
