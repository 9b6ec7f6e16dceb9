#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The gateway's page in Chromium, of a real flock:  tests/gateway_page_test.sh PATH/TO/starling [PICTURES]
# Skipped (77) where Chromium or Playwright cannot be had: it is installed into a virtual environment of the test, or
# STARLING_PLAYWRIGHT names a python that has it.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
look=$(realpath "$(dirname "${BASH_SOURCE[0]}")/gateway_page.py")
logs=(up.log gateway.log)
pictures=${2:+$(realpath "$2")}
begin "$1"
command -v chromium >/dev/null || { echo "chromium is not installed: skipped"; exit 77; }
python=${STARLING_PLAYWRIGHT:-}
if [ -z "$python" ]; then
  python3 -m venv venv >/dev/null 2>&1 && timeout 120 venv/bin/pip -q install 'playwright>=1.40,<2' >pip.log 2>&1 ||
    { echo "Playwright cannot be installed ($(tail -1 pip.log 2>/dev/null)): skipped; STARLING_PLAYWRIGHT=PYTHON names one that has it"; exit 77; }
  python=venv/bin/python
fi
"$starling" topology generate leaf-spine --servers 4 --gpus 2 -o four.yaml 2>/dev/null || fail "no topology"
up_ready --topology four.yaml --agents 2 --launcher emulated
chief=$("$starling" gateway token new "$(id -un)" --role operator) || fail "no token"
viewer=$("$starling" gateway token new vera --role viewer) || fail "no token"
"$starling" gateway --listen 127.0.0.1:0 >gateway.out 2>gateway.log & started+=($!)
wait_for 10 . gateway.out
at=$(head -1 gateway.out)
for _ in $(seq $((50 * patience))); do curl -s "$at/readyz" | grep -q '^ready$' && break; sleep 0.2; done
"$python" "$look" "$at" "$chief" "$viewer" ${pictures:+"$pictures"} || fail "the page is wrong"
echo "gateway_page_test: ok"
