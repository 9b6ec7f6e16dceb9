// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/gateway_routes.h"

#include <sstream>

#include "launch/gateway/gateway_handlers.h"

namespace starling {
namespace {

using Json = nlohmann::json;

Json text_schema(std::size_t most) {
  return {{"type", "string"}, {"minLength", 1}, {"maxLength", most}};
}
Json job_id_schema() {
  return {{"type", "string"}, {"pattern", "^[0-9a-fA-F]{1,32}$"}, {"maxLength", 32}};
}
Json whole_schema(std::uint64_t least, std::uint64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}
Json flag_schema() { return {{"type", "boolean"}}; }

RouteParameter job_parameter() { return {"job", job_id_schema(), "its id", true}; }
RouteParameter server_parameter() {
  return {"server", text_schema(256), "its name, or its number in the topology", true};
}
RouteParameter agent_parameter() { return {"agent", text_schema(32), "its name or number", true}; }

std::vector<RouteParameter> list_parameters() {
  return {{"user", text_schema(256), "only theirs, with commas; me: who asks"},
          {"state", text_schema(256),
           "waiting, starting, running, draining, finished, failed, cancelled; open, ended"},
          {"name", text_schema(256), "only of such names, as train-*"},
          {"queue", text_schema(256), "only in such queues"},
          {"since", text_schema(64), "submitted since then: 2h, 3d, 2026-11-23"},
          {"limit", whole_schema(1, 1000), "so many at most (100)"},
          {"after", job_id_schema(), "go on behind this one: `next` of the answer before"}};
}

std::vector<GatewayRoute> job_routes() {
  const std::pair<unsigned, std::string> no_job{404, "no agent knows the job"};
  return {
      {.method = "GET",
       .path = "/v1/jobs",
       .id = "listJobs",
       .summary = "Jobs, the newest first",
       .parameters = list_parameters(),
       .answer = "JobList",
       .handler = list_jobs},
      {.method = "POST",
       .path = "/v1/jobs",
       .id = "submitJob",
       .summary = "Submit a job; it gets an id. Who may have to repeat it gives one: PUT",
       .role = CallerRole::user,
       .body = "JobRequest",
       .answer = "Job",
       .others = {{422, "the flock cannot run it, and why"}},
       .handler = submit_job},
      {.method = "GET",
       .path = "/v1/jobs/{job}",
       .id = "showJob",
       .summary = "How a job is",
       .parameters = {job_parameter()},
       .answer = "Job",
       .others = {no_job},
       .handler = show_job},
      {.method = "PUT",
       .path = "/v1/jobs/{job}",
       .id = "submitJobAs",
       .summary = "Submit a job under an id of one's own, 128 random bits: said twice is said once",
       .role = CallerRole::user,
       .parameters = {job_parameter()},
       .body = "JobRequest",
       .answer = "Job",
       .others = {{409, "another job has that id"}, {422, "the flock cannot run it, and why"}},
       .handler = submit_job},
      {.method = "DELETE",
       .path = "/v1/jobs/{job}",
       .id = "cancelJob",
       .summary = "End a job, wherever it is: one's own, or as an operator any user's",
       .role = CallerRole::user,
       .parameters = {job_parameter()},
       .answer = "Job",
       .others = {{202, "it is being ended, which takes a while"}, no_job},
       .handler = cancel_job},
      {.method = "GET",
       .path = "/v1/jobs/{job}/explain",
       .id = "explainJob",
       .summary = "Why a job waits, or what it does",
       .parameters = {job_parameter()},
       .answer = "Explanation",
       .others = {no_job},
       .handler = explain_job},
      {.method = "GET",
       .path = "/v1/jobs/{job}/logs",
       .id = "jobLogs",
       .summary = "What a job prints, or has printed, as it comes",
       .parameters = {job_parameter(),
                      {"rank", whole_schema(0, 8191), "of that worker alone"},
                      {"tail", whole_schema(1, 16U << 20U),
                       "only so many bytes from the end, of each server (65536)"},
                      {"follow", flag_schema(), "go on until it has ended"}},
       .type = "text/plain; charset=utf-8",
       .others = {no_job},
       .handler = job_logs},
  };
}

std::vector<GatewayRoute> flock_routes() {
  return {
      {.method = "GET",
       .path = "/v1/me",
       .id = "whoAmI",
       .summary = "Whom the gateway takes the caller for",
       .answer = "Me",
       .handler = who_am_i},
      {.method = "GET",
       .path = "/v1/agents",
       .id = "listAgents",
       .summary = "The agents and what they do, as `starling top` says",
       .answer = "Agents",
       .handler = list_agents},
      {.method = "GET",
       .path = "/v1/topology",
       .id = "showTopology",
       .summary = "The data centre down to GPUs, and which agent owns which server",
       .answer = "Topology",
       .handler = show_topology},
      {.method = "GET",
       .path = "/v1/servers",
       .id = "listServers",
       .summary = "What each server has on it, and whether it is in use",
       .answer = "Servers",
       .handler = list_servers},
      {.method = "PUT",
       .path = "/v1/servers/{server}/drain",
       .id = "drainServer",
       .summary = "Place nothing new on a server",
       .role = CallerRole::operator_,
       .parameters = {server_parameter(),
                      {"evict", flag_schema(),
                       "requeue what runs there, instead of letting it end"}},
       .answer = "Drain",
       .others = {{404, "there is no such server"}, {409, "the servers have changed meanwhile"}},
       .handler = drain_server},
      {.method = "DELETE",
       .path = "/v1/servers/{server}/drain",
       .id = "undrainServer",
       .summary = "Use a server again",
       .role = CallerRole::operator_,
       .parameters = {server_parameter()},
       .answer = "Drain",
       .others = {{404, "there is no such server"}, {409, "the servers have changed meanwhile"}},
       .handler = undrain_server},
      {.method = "GET",
       .path = "/v1/queues",
       .id = "showQueues",
       .summary = "How many GPUs each queue and user may have, and has",
       .answer = "Queues",
       .others = {{409, "an agent that is older knows no queues"}},
       .handler = show_queues},
      {.method = "PUT",
       .path = "/v1/queues",
       .id = "setQueues",
       .summary = "Put other queues into force: all of them are in the body. Said twice is said "
                  "once",
       .role = CallerRole::operator_,
       .body = "QueueTree",
       .answer = "Queues",
       .others = {{409, "another client has set others meanwhile, or an agent knows no queues"},
                  {422, "they make no sense, and why"}},
       .handler = change_queues},
      {.method = "GET",
       .path = "/v1/events",
       .id = "watch",
       .summary = "What changes, as server-sent events: job, gone, jobs, agents, servers, "
                  "topology, resync",
       .type = "text/event-stream",
       .handler = watch_events},
  };
}

std::vector<GatewayRoute> member_routes() {
  const std::pair<unsigned, std::string> no_etcd{409, "the flock's state is not in etcd"};
  return {
      {.method = "GET",
       .path = "/v1/members",
       .id = "listMembers",
       .summary = "Which agents serve which partitions",
       .answer = "Members",
       .others = {no_etcd},
       .handler = list_members},
      {.method = "PUT",
       .path = "/v1/members/{agent}",
       .id = "addMember",
       .summary = "Make an agent a member: partitions move to it",
       .role = CallerRole::operator_,
       .parameters = {agent_parameter()},
       .answer = "MembersChange",
       .others = {{404, "there is no such agent"},
                  {409, "it is one already, or the flock's state is not in etcd"}},
       .handler = add_member},
      {.method = "DELETE",
       .path = "/v1/members/{agent}",
       .id = "removeMember",
       .summary = "Make an agent no member any more: its partitions go to the others",
       .role = CallerRole::operator_,
       .parameters = {agent_parameter()},
       .answer = "MembersChange",
       .others = {{404, "there is no such agent"},
                  {409, "it is none, or the last one, or the flock's state is not in etcd"}},
       .handler = remove_member},
  };
}

std::vector<GatewayRoute> other_routes() {
  return {
      {.method = "GET",
       .path = "/v1/openapi.json",
       .id = "describe",
       .summary = "This description",
       .role = CallerRole::anonymous,
       .answer = "Description",
       .handler = describe},
      {.method = "GET",
       .path = "/healthz",
       .id = "health",
       .summary = "The gateway is alive",
       .role = CallerRole::anonymous,
       .type = "text/plain; charset=utf-8",
       .handler = healthz},
      {.method = "GET",
       .path = "/readyz",
       .id = "ready",
       .summary = "The gateway hears the flock",
       .role = CallerRole::anonymous,
       .type = "text/plain; charset=utf-8",
       .others = {{503, "it does not, and why"}},
       .handler = readyz},
      {.method = "GET",
       .path = "/metrics",
       .id = "metrics",
       .summary = "Figures for Prometheus: OpenMetrics where it is asked for, else its older text",
       .type = "application/openmetrics-text; version=1.0.0; charset=utf-8",
       .handler = metrics},
      {.method = "GET",
       .path = "/",
       .id = "page",
       .summary = "A page for people",
       .role = CallerRole::anonymous,
       .type = "text/html; charset=utf-8",
       .handler = page},
      {.method = "GET",
       .path = "/page.css",
       .id = "pageStyle",
       .summary = "How it looks",
       .role = CallerRole::anonymous,
       .type = "text/css; charset=utf-8",
       .handler = page_style},
      {.method = "GET",
       .path = "/page.js",
       .id = "pageScript",
       .summary = "What it does",
       .role = CallerRole::anonymous,
       .type = "text/javascript; charset=utf-8",
       .handler = page_script},
  };
}

}  // namespace

const std::vector<GatewayRoute>& gateway_routes() {
  static const std::vector<GatewayRoute> routes = [] {
    std::vector<GatewayRoute> all;
    for (auto part : {job_routes(), flock_routes(), member_routes(), other_routes()})
      std::move(part.begin(), part.end(), std::back_inserter(all));
    return all;
  }();
  return routes;
}

}  // namespace starling
