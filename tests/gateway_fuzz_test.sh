#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Schemathesis reads the gateway's description, makes requests of it, right and wrong, and holds every answer to it:
#   tests/gateway_fuzz_test.sh PATH/TO/starling [SECONDS]
# So long at most (90). Skipped (77) where Schemathesis cannot be had: it is installed into a
# virtual environment of the test, or STARLING_SCHEMATHESIS names the program.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
logs=(up.log gateway.log fuzz.log)
begin "$1"
limit=${2:-90}
program=${STARLING_SCHEMATHESIS:-}
if [ -z "$program" ]; then
  python3 -m venv venv >/dev/null 2>&1 && timeout 120 venv/bin/pip -q install 'schemathesis>=4,<5' >pip.log 2>&1 ||
    { echo "Schemathesis cannot be installed ($(tail -1 pip.log 2>/dev/null)): skipped; STARLING_SCHEMATHESIS=PROGRAM names one"; exit 77; }
  program=venv/bin/schemathesis
fi
"$starling" topology generate flat --servers 3 --gpus 2 -o three.yaml 2>/dev/null || fail "no topology"
up_ready --topology three.yaml --agents 2 --launcher emulated --speedup 1000
token=$("$starling" gateway token new olga --role operator) || fail "no token"
"$starling" gateway --listen 127.0.0.1:0 --rate 100000 --burst 100000 >gateway.out 2>gateway.log &
gateway=$!
started+=($gateway)
wait_for 10 . gateway.out
at=$(head -1 gateway.out)
for _ in $(seq $((50 * patience))); do curl -s "$at/readyz" | grep -q '^ready$' && break; sleep 0.2; done
"$starling" submit --id 1 --duration 5 >/dev/null 2>&1  # so that some examples find a job

# A body that is wrong and too large as well is 413.
cat >schemathesis.toml <<'TOML'
[checks]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415", "422", "429", "503"]
TOML
# Events and followed output do not end by themselves, and so say nothing within a fuzzer's patience; not to be ready is
# a right answer of a busy machine's flock.
checks=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance
checks=$checks,response_schema_conformance,negative_data_rejection,unsupported_method,ignored_auth
timeout $((2 * limit + 120)) "$program" --config-file schemathesis.toml run "$at/v1/openapi.json" -H "Authorization: Bearer $token" --max-time "$limit" --phases coverage,fuzzing \
  --checks "$checks" --exclude-operation-id watch --exclude-operation-id jobLogs --exclude-operation-id ready --request-timeout 20 --seed 1 --generation-database none --no-color \
  --workers 2 >fuzz.log 2>&1
status=$?
kill -0 $gateway 2>/dev/null || fail "the gateway has ended"
[ "$(curl -s "$at/healthz")" = ok ] || fail "the gateway does not answer any more"
"$starling" top >top.txt 2>&1 || fail "an agent does not answer any more: $(cat top.txt)"
[ $status -ne 124 ] || fail "it does not end"
[ $status -eq 0 ] || { grep -v '^$' fuzz.log | head -150 >&2; fail "the fuzzer has found something"; }
grep -qE '[0-9]+ generated' fuzz.log || { cat fuzz.log >&2; fail "the fuzzer has tried nothing"; }
grep -E '[0-9]+ generated' fuzz.log | tail -1
echo "gateway_fuzz_test: ok"
