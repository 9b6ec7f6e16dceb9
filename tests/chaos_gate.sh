#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The gate of every test run: seeds 1 to 1600 of `starling chaos sim`, all kinds of faults, and every kind of message has met each
# of them a hundred times.
#   tests/chaos_gate.sh PROGRAM
set -uo pipefail
starling=$1
exec "$starling" chaos sim --first-seed 1 --seeds 1600 --jobs 2 --shrink 20 --quiet --frames-each 100
