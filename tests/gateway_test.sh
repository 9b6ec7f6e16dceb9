#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flock over HTTP, on real processes: jobs, roles, events, figures, hostile callers, TLS, a Unix socket.
#   tests/gateway_test.sh PATH/TO/starling
set -u
. "$(dirname "${BASH_SOURCE[0]}")/flock.sh"
. "$(dirname "${BASH_SOURCE[0]}")/certs.sh"
monitoring=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../launch/gateway/monitoring")
logs=('flock/nodes/agent-*/log' up.log gateway*.log)
begin "$1"
command -v curl >/dev/null || { echo "curl is not installed: skipped"; exit 77; }
"$starling" topology generate flat --servers 3 --gpus 2 -o three.yaml 2>/dev/null || fail "no topology"
up_ready --topology three.yaml --agents 2 --launcher process

# serve NAME OPTIONS...: a gateway whose address is `at`
serve() {
  local name=$1
  "$starling" gateway "${@:2}" >"$name.out" 2>"$name.log" &
  gateway=$!
  started+=($gateway)
  wait_for 10 . "$name.out"
  at=$(head -1 "$name.out")
}
# call STATUS METHOD PATH TOKEN [CURL OPTIONS...]: the answer is in `body`
call() {
  local got
  got=$(curl -s -m 60 -o body.json -w '%{http_code}' -X "$2" ${4:+-H "Authorization: Bearer $4"} "${@:5}" "$at$3")
  body=$(cat body.json)
  [ "$got" = "$1" ] || fail "$2 $3 answers $got, not $1: $(head -c 400 body.json)"
}
json=(-H 'Content-Type: application/json')
field() { python3 -c 'import json,sys; print(eval("d" + sys.argv[1], {"d": json.load(sys.stdin)}))' "$1" <<<"$body"; }
fresh_id() { printf "%08x%08x%08x%08x" $RANDOM $RANDOM $RANDOM $RANDOM; }
# wait_state JOB " STATES " SECONDS
wait_state() {
  for _ in $(seq $(($3 * 5 * patience))); do
    call 200 GET "/v1/jobs/$1" "$user"
    [[ $2 == *" $(field '["state"]') "* ]] && return
    sleep 0.2
  done
  fail "job $1 is $(field '["state"]'), not$2"
}

echo "-- tokens: made, listed, revoked; only their digests are kept"
viewer=$("$starling" gateway token new vera --role viewer) || fail "no token"
me=$(id -un)  # a flock of root's runs jobs as their users, so it has to be one that there is
user=$("$starling" gateway token new "$me") || fail "no token"
other=$("$starling" gateway token new bob) || fail "no token"
chief=$("$starling" gateway token new olga --role operator) || fail "no token"
short=$("$starling" gateway token new sam --expires 1s) || fail "no token"
[ "$(stat -c %a flock/gateway-tokens.json)" = 600 ] || fail "others can read the tokens"
grep -q "${user#starling_}" flock/gateway-tokens.json && fail "a token is in the file"
makers=()
for n in 1 2 3 4 5 6; do "$starling" gateway token new "many$n" >/dev/null & makers+=($!); done
wait "${makers[@]}"
[ "$("$starling" gateway token list | grep -c ' many[1-6] ')" = 6 ] || fail "tokens made at once are lost: $("$starling" gateway token list)"
"$starling" gateway token new eve --role root 2>err.txt && fail "a role that there is not"
grep -q "viewer, user or operator" err.txt || fail "$(cat err.txt)"
"$starling" gateway token new '' 2>err.txt && fail "a token without a user"
"$starling" gateway token list >/dev/null || fail "the file of tokens is wrong now"
"$starling" gateway --listen 0.0.0.0:0 2>err.txt && fail "tokens go in plain over the network"
grep -q -- "--tls-cert" err.txt || fail "$(cat err.txt)"

serve gateway --listen 127.0.0.1:0 --rate 10000 --burst 10000
for _ in $(seq $((50 * patience))); do curl -s "$at/readyz" | grep -q '^ready$' && break; sleep 0.2; done
call 200 GET /readyz ""
call 200 GET /healthz ""
call 200 GET /v1/openapi.json ""
call 200 GET / ""
grep -q '<title>Starling' <<<"$body" || fail "no page"

echo "-- who may what"
call 401 GET /v1/jobs ""
call 401 GET /v1/jobs starling_wrong
sleep 1.1
call 401 GET /v1/jobs "$short"
call 200 GET /v1/me "$viewer"
[ "$(field '["role"]')" = viewer ] || fail "who is it: $body"
call 403 POST /v1/jobs "$viewer" "${json[@]}" -d '{"command": "true"}'
call 403 PUT /v1/servers/0/drain "$user"
grep -q "role operator" <<<"$body" || fail "$body"

echo "-- submit, show, list, explain, logs"
curl -sN -m 120 -H "Authorization: Bearer $viewer" "$at/v1/events" >events.txt & started+=($!)
wait_for 5 'life' events.txt
call 200 POST /v1/jobs "$user" "${json[@]}" -d '{"command": ["sh", "-c", "echo hello; echo there"], "name": "greets"}'
job=$(field '["job"]')
[ "$(field '["user"]')" = "$me" ] || fail "whose job is it: $body"
wait_state "$job" " finished " 30
call 200 GET "/v1/jobs/$job/logs" "$viewer"
[ "$body" = $'hello\nthere' ] || fail "logs: $body"
call 200 GET "/v1/jobs/$job/explain" "$viewer"
call 200 GET "/v1/jobs?user=me&state=ended&name=gre*" "$user"
[ "$(field '["total"]')" = 1 ] || fail "list: $body"
call 200 GET "/v1/jobs?user=bob" "$viewer"
[ "$(field '["total"]')" = 0 ] || fail "list: $body"
call 404 GET "/v1/jobs/$(fresh_id)" "$viewer"

echo "-- submitted twice under one id is one job; another job of that id is a conflict"
twice=$(fresh_id)
call 200 PUT "/v1/jobs/$twice" "$user" "${json[@]}" -d '{"command": "sleep 300", "workers": 2}'
call 200 PUT "/v1/jobs/$twice" "$user" "${json[@]}" -d '{"command": "sleep 300", "workers": 2}'
call 409 PUT "/v1/jobs/$twice" "$user" "${json[@]}" -d '{"command": "sleep 301", "workers": 2}'
[ "$("$starling" jobs --state open | grep -c "^$twice")" = 1 ] || fail "not one job: $("$starling" jobs)"
call 422 POST /v1/jobs "$user" "${json[@]}" -d '{"command": "true", "workers": 8000}'
call 200 GET '/v1/jobs?limit=1' "$viewer"
next=$(field '["next"]')
call 200 GET "/v1/jobs?limit=1&after=$next" "$viewer"
[ "$(field '["jobs"][0]["job"]')" = "$job" ] || fail "the second page: $body"
call 200 POST /v1/jobs "$user" "${json[@]}" -d '{"command": "true", "gpu_types": ["V100", "A9000"]}'
[ "$(field '["warnings"]')" = "['it asks for GPUs of type A9000, too, of which the data centre has none; it has V100']" ] || fail "a type that is not there: $body"

echo "-- logs that are followed come while it runs, and end with it"
call 200 POST /v1/jobs "$user" "${json[@]}" -d '{"command": "echo one; sleep 2; echo two"}'
follow=$(field '["job"]')
curl -sN -m 60 -H "Authorization: Bearer $user" "$at/v1/jobs/$follow/logs?follow=true" >follow.txt || fail "the stream breaks"
[ "$(cat follow.txt)" = $'one\ntwo' ] || fail "followed: $(cat follow.txt)"

echo "-- others' jobs are not to be cancelled, but by an operator"
call 403 DELETE "/v1/jobs/$twice" "$other"
wait_state "$twice" " running " 30
got=$(curl -s -o body.json -w '%{http_code}' -X DELETE -H "Authorization: Bearer $chief" "$at/v1/jobs/$twice")
[[ $got == 200 || $got == 202 ]] || fail "cancel answers $got: $(cat body.json)"
wait_state "$twice" " cancelled " 30

echo "-- a server is drained and used again; members are etcd's business"
call 200 PUT /v1/servers/1/drain "$chief"
call 404 PUT /v1/servers/nowhere/drain "$chief"
"$starling" top | grep -q agent-0 || fail "top"
for _ in $(seq $((25 * patience))); do call 200 GET /v1/servers "$viewer"; [ "$(field '["servers"][1]["drained"]')" = True ] && break; sleep 0.2; done
[ "$(field '["servers"][1]["drained"]')" = True ] || fail "not drained: $body"
call 200 DELETE /v1/servers/1/drain "$chief"
call 200 GET /v1/queues "$viewer"
[ "$(field '["tree"]["queues"]')" = "[]" ] || fail "queues: $body"
call 403 PUT /v1/queues "$user" "${json[@]}" -d '{"queues": [{"name": "all"}], "default": "all"}'
call 422 PUT /v1/queues "$chief" "${json[@]}" -d '{"queues": [{"name": "all"}], "default": "none"}'
call 200 PUT /v1/queues "$chief" "${json[@]}" -d '{"queues": [{"name": "all"}], "default": "all"}'
[ "$(field '["version"]')" = 1 ] || fail "queues: $body"
call 200 PUT /v1/queues "$chief" "${json[@]}" -d '{"queues": [{"name": "all"}], "default": "all"}'
[ "$(field '["version"]')" = 1 ] || fail "the same queues again: $body"
call 200 PUT /v1/queues "$chief" "${json[@]}" -d '{"queues": []}'
call 409 GET /v1/members "$viewer"
call 200 GET /v1/agents "$viewer"
[ "$(field '["agents"].__len__()')" = 2 ] || fail "agents: $body"
call 200 GET /v1/topology "$viewer"
[ "$(field '["servers"].__len__()')" = 3 ] || fail "topology: $body"

echo "-- the events told of all that"
for what in "\"job\":\"$job\".*\"state\":\"finished\"" "\"job\":\"$twice\".*\"state\":\"cancelled\"" '^event: servers' '"drained":true'; do
  wait_for 10 "$what" events.txt || fail "no event of $what: $(tail -5 events.txt)"
done
last=$(grep '^id: ' events.txt | head -1 | cut -c5-)
curl -sN -m 2 -H "Authorization: Bearer $viewer" -H "Last-Event-ID: $last" "$at/v1/events" >again.txt
grep -q "\"job\":\"$job\".*\"state\":\"finished\"" again.txt || fail "who comes back hears nothing of what it has missed: $(head -5 again.txt)"
curl -sN -m 1 -H "Authorization: Bearer $viewer" -H "Last-Event-ID: 1-1" "$at/v1/events" | grep -q '^event: resync' || fail "no resync"

echo "-- what is hostile gets one answer, and the gateway goes on"
call 400 GET '/v1/jobs?limit=x' "$viewer"
call 404 GET /v1/nothing "$viewer"
call 405 PATCH /v1/jobs "$viewer"
call 415 POST /v1/jobs "$user" -H 'Content-Type: text/plain' -d '{}'
call 400 POST /v1/jobs "$user" "${json[@]}" -d '{"wokers": 1}'
grep -q "did you mean 'workers'" <<<"$body" || fail "$body"
call 400 POST /v1/jobs "$user" "${json[@]}" -d "{\"user\": \"root\", \"command\": \"true\"}"
head -c 300000 /dev/zero | tr '\0' ' ' >large.txt
call 413 POST /v1/jobs "$user" "${json[@]}" --data-binary @large.txt
call 431 GET /healthz "" -H "X-Large: $(head -c 20000 large.txt | tr ' ' x)"
hostport=${at#http://}
for text in 'nonsense\r\n\r\n' 'GET / HTTP/9.9\r\n\r\n' 'GET http://x/ HTTP/1.1\r\n\r\n' 'POST /v1/jobs HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\n' '\x16\x03\x01\x02\x00\x01'; do
  { printf "$text"; sleep 0.3; } | timeout 5 bash -c "exec 3<>/dev/tcp/${hostport%:*}/${hostport##*:}; cat >&3; cat <&3" >hostile.txt 2>/dev/null
  grep -q ' 200 ' hostile.txt && fail "'$text' is answered: $(head -3 hostile.txt)"
done
call 200 GET /healthz ""

echo "-- figures, as Prometheus reads them"
call 401 GET /metrics ""
call 200 GET /metrics "$viewer" -H 'Accept: application/openmetrics-text'
tail -1 body.json | grep -q '^# EOF$' || fail "no OpenMetrics"
call 200 GET /metrics "$viewer"
for line in 'starling_gpus 6' 'starling_agent_up{agent="0"} 1' 'starling_gateway_ready 1' 'starling_queue_cancelled 1'; do
  grep -qF "$line" body.json || fail "no '$line' in $(head -40 body.json)"
done
if command -v promtool >/dev/null; then
  promtool check metrics <body.json >promtool.txt 2>&1 || fail "promtool: $(cat promtool.txt)"
  promtool check rules "$monitoring/starling-alerts.yml" >promtool.txt 2>&1 || fail "promtool: $(cat promtool.txt)"
  echo "-- a real Prometheus scrapes it, and evaluates the alerts"
  cp "$monitoring/starling-alerts.yml" .
  printf '%s' "$viewer" >starling-token
  sed "s/127.0.0.1:8750/$hostport/; s/scrape_interval: 15s/scrape_interval: 1s/" "$monitoring/prometheus.yml" >prometheus.yml
  prometheus_port=$(etcd_host=127.0.0.1 free_ports 1)
  prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb --web.listen-address="127.0.0.1:$prometheus_port" >prometheus.log 2>&1 & started+=($!)
  query() { curl -s "http://127.0.0.1:$prometheus_port/api/v1/query" --data-urlencode "query=$1"; }
  for _ in $(seq $((60 * patience))); do query 'starling_gpus' | grep -q '"6"' && break; sleep 0.5; done
  query 'starling_gpus' | grep -q '"6"' || fail "Prometheus has no figures: $(tail -3 prometheus.log) $(curl -s "http://127.0.0.1:$prometheus_port/api/v1/targets" | head -c 600)"
  query 'up{job="starling"}' | grep -q '"1"' || fail "Prometheus finds it down"
  [ "$(curl -s "http://127.0.0.1:$prometheus_port/api/v1/rules" | grep -o '"health":"[a-z]*"' | sort -u)" != '"health":"err"' ] || fail "the alerts cannot be evaluated"
  # Every figure that the dashboard asks for is there, or has no sample because no job waits or runs.
  python3 - "$monitoring/starling-dashboard.json" "http://127.0.0.1:$prometheus_port" <<'PY' || fail "the dashboard asks for what there is not"
import json, re, sys, urllib.parse, urllib.request
board, at = json.load(open(sys.argv[1])), sys.argv[2]
names = {n for p in board["panels"] for t in p["targets"] for n in re.findall(r"starling_\w+", t["expr"])}
known = set(json.load(urllib.request.urlopen(at + "/api/v1/label/__name__/values"))["data"])
missing = {n for n in names - known if not n.startswith("starling_user_")}
sys.exit(f"missing: {missing}" if missing else 0)
PY
fi

echo "-- a token that is revoked holds no longer, on connections that are open, too"
digest=$(printf '%s' "$other" | sha256sum | cut -c1-8)
"$starling" gateway token list | grep -q "^$digest *bob" || fail "list: $("$starling" gateway token list)"
call 200 GET /v1/me "$other"
curl -sN -m 100 -H "Authorization: Bearer $other" "$at/v1/events" >others.txt &
watcher=$!
started+=($watcher)
wait_for 5 'life' others.txt
"$starling" gateway token revoke "$digest" || fail "revoke"
sleep 0.5
call 401 GET /v1/me "$other"
for _ in $(seq $((25 * patience))); do kill -0 $watcher 2>/dev/null || break; sleep 0.2; done
kill -0 $watcher 2>/dev/null && fail "who is revoked hears events still"
chmod 644 flock/gateway-tokens.json
sleep 0.5
call 401 GET /v1/me "$user"
chmod 600 flock/gateway-tokens.json
sleep 0.5
call 200 GET /v1/me "$user"

echo "-- an agent is silent: what is known is shown, and readiness says so"
kill -STOP "$(agent_pid 1)"
started+=("$(agent_pid 1)")
for _ in $(seq $((40 * patience))); do call 200 GET /v1/agents "$viewer"; [ "$(field '["silent"]')" = '[1]' ] && break; sleep 0.5; done
[ "$(field '["silent"]')" = '[1]' ] || fail "no agent is silent: $body"
kill -CONT "$(agent_pid 1)"
kill $gateway
wait $gateway 2>/dev/null
[ $? -eq 0 ] || fail "the gateway ends with an error: $(tail -3 gateway.log)"

echo "-- limits: requests a second"
serve limited --listen 127.0.0.1:0 --rate 1 --burst 5
many=0
for _ in $(seq 12); do
  [ "$(curl -s -o body.json -D head.txt -w '%{http_code}' -H "Authorization: Bearer $viewer" "$at/v1/me")" = 429 ] || continue
  many=$((many + 1))
  cp head.txt refused.txt
done
[ $many -ge 5 ] || fail "only $many of 12 requests are too many"
grep -qi '^retry-after: ' refused.txt || fail "no Retry-After"
kill $gateway

echo "-- TLS, and a Unix socket where the system says who it is"
make_ca ca
make_certificate gateway ca IP:127.0.0.1
serve tls --listen 127.0.0.1:0 --tls-cert gateway.pem --tls-key gateway.key --socket "$work/gateway.sock"
[[ $at == https://* ]] || fail "where is it: $at"
call 200 GET /v1/me "$viewer" --cacert ca.pem
curl -s -m 5 "$at/v1/me" && fail "a certificate of a stranger is taken"
curl -s -m 5 "${at/https/http}/v1/me" && fail "it is answered without TLS"
curl -s -m 5 --tls-max 1.1 --cacert ca.pem "$at/healthz" && fail "TLS 1.1 is taken"
curl -s --unix-socket gateway.sock http://localhost/v1/me >body.json || fail "no socket"
grep -q "\"role\":\"operator\",\"user\":\"$(id -un)\"" body.json || fail "who am I on the socket: $(cat body.json)"
chmod 644 gateway.key
"$starling" gateway --listen 127.0.0.1:0 --tls-cert gateway.pem --tls-key gateway.key 2>err.txt && fail "a key that all can read"
grep -q "chmod 600" err.txt || fail "$(cat err.txt)"
echo "gateway_test: ok"
