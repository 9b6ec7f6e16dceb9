#!/usr/bin/env bash
# The gate of every test run: seeds 1 to 1000 of `starling chaos sim`, all kinds of faults, and every kind of message has met each
# of them twenty times.
#   tests/chaos_gate.sh PROGRAM
set -uo pipefail
starling=$1
exec "$starling" chaos sim --first-seed 1 --seeds 1000 --jobs 2 --shrink 20 --quiet --frames-each 20
