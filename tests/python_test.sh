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
for example in "$source"/python/examples/*.py; do
  echo "   ${example##*/}"
  mkdir -p "$work/examples"
  (cd "$work/examples" && STARLING_QUICK=1 "$python" "$example")
done
echo "python: all right"
