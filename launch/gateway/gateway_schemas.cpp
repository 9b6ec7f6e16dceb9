// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "base/limits.h"
#include "launch/gateway/gateway_routes.h"
#include "workload/job.h"
#include "workload/queue_tree.h"

namespace starling {
namespace {

using Json = nlohmann::json;

Json text() { return {{"type", "string"}}; }
Json text_up_to(std::size_t most) { return {{"type", "string"}, {"maxLength", most}}; }
Json flag() { return {{"type", "boolean"}}; }
Json number() { return {{"type", "number"}}; }
Json whole() { return {{"type", "integer"}}; }
Json whole_in(std::int64_t least, std::int64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}
Json amount() { return {{"type", "number"}, {"minimum", 0}, {"maximum", 1e9}}; }
Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json named(const char* name) { return {{"$ref", std::string("#/components/schemas/") + name}}; }
Json maybe(const char* type) { return {{"type", {type, "null"}}}; }
/// All of `required` are there; others may come with later versions.
Json object(Json properties) {
  Json required = Json::array();
  for (const auto& [name, ignored] : properties.items()) required.push_back(name);
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", required}};
}

/// As a job file has it (workload/job_file.h), but for what is the command line's business.
Json job_request() {
  const Limits limits;
  const auto name = text_up_to(limits.name_bytes);
  const Json count = whole_in(1, limits.gpus_per_job);
  const Json word = {{"type", "string"}, {"maxLength", limits.command_bytes}};
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties",
           {{"name", name},
            {"queue", name},
            {"model", name},
            {"command",
             {{"anyOf",
               {word, {{"type", "array"}, {"items", word}, {"minItems", 1}, {"maxItems", 4096}}}},
              {"description", "a shell line, or program and arguments"}}},
            {"duration_s",
             {{"type", "number"},
              {"minimum", 0.001},
              {"maximum", 1e9},
              {"description", "of an emulated job, in place of a command"}}},
            {"workers", count},
            {"gpus_per_worker", count},
            {"min_workers", count},
            {"max_workers", count},
            {"cpus", amount()},
            {"memory_gib", amount()},
            {"gpu_types", {{"type", "array"}, {"items", name}, {"maxItems", 64}}},
            {"max_servers", whole_in(1, RunDetails::kMost)},
            {"server_cpus", amount()},
            {"batch", whole_in(1, RunDetails::kMost)},
            {"max_batch", whole_in(1, RunDetails::kMost)},
            {"copies", flag()},
            {"save_s", amount()},
            {"restore_s", amount()},
            {"priority", whole_in(INT32_MIN, INT32_MAX)},
            {"requeue", flag()},
            {"hold", flag()},
            {"begin", text_up_to(64)},
            {"retries", whole_in(0, JobTerms::kMostRetries)},
            {"retry_after_s", amount()},
            {"time_limit", text_up_to(64)},
            {"signal", text_up_to(64)},
            {"directory", {{"type", "string"}, {"pattern", "^/"}, {"maxLength", 4096}}},
            {"environment",
             {{"type", "object"}, {"additionalProperties", word}, {"maxProperties", 4096}}}}}};
}

Json job() {
  Json j = object({{"job", text()},
                   {"state",
                    {{"type", "string"},
                     {"enum",
                      {"waiting", "held", "starting", "running", "draining", "finished", "failed",
                       "timeout", "cancelled"}}}},
                   {"agent", whole()},
                   {"host", text()},
                   {"queued_s", number()},
                   {"elapsed_s", number()},
                   {"service_s", number()},
                   {"attempts", whole()},
                   {"forwards", whole()},
                   {"preemptions", whole()},
                   {"placement", text()},
                   {"servers", list_of(text())},
                   {"last_servers", list_of(text())},
                   {"exit_code", maybe("integer")},
                   {"submitted", maybe("string")},
                   {"started", maybe("string")},
                   {"ended", maybe("string")}});
  // Not there where its home has not said them, or only where one job is asked for.
  j["properties"].update(Json{{"log_tail", text()},
                              {"name", text()},
                              {"user", text()},
                              {"queue", text()},
                              {"warnings", list_of(text())},
                              {"command", text()},
                              {"workers", whole()},
                              {"min_workers", whole()},
                              {"max_workers", whole()},
                              {"gpus_per_worker", whole()},
                              {"gpu_types", list_of(text())},
                              {"cpus", number()},
                              {"memory_gib", number()},
                              {"priority", whole()},
                              {"allocation", {{"type", "object"}}},
                              {"run", {{"type", "object"}}},
                              {"terms", {{"type", "object"}}},
                              {"failures", whole()},
                              {"reason", text()},
                              {"until_s", number()}});
  return j;
}

Json agent() {
  Json properties{{"host", text()},
                  {"troubles", list_of(text())},
                  {"drained_servers", list_of(text())},
                  {"bad_gpus", list_of(whole())},
                  {"speed", {{"type", "object"}}}};
  for (const char* name : {"agent",
                           "epoch",
                           "gpus",
                           "free",
                           "quarantined",
                           "drained",
                           "waiting",
                           "running",
                           "accepted",
                           "finished",
                           "failed",
                           "forwards",
                           "cross_partition_gangs",
                           "preemptions",
                           "resizes",
                           "decisions",
                           "decision_p50_us",
                           "decision_p99_us",
                           "messages",
                           "refused_frames",
                           "suspected",
                           "cut_off",
                           "patience",
                           "protocol",
                           "other_topology"})
    properties[name] = whole();
  return object(properties);
}

Json topology() {
  const Json type = object({{"name", text()}, {"memory_gib", number()}});
  const Json subtree = object({{"level", text()},
                               {"name", text()},
                               {"parent", whole()},
                               {"first_server", whole()},
                               {"end_server", whole()}});
  const Json server = object({{"name", text()},
                              {"agent", whole()},
                              {"first_gpu", whole()},
                              {"gpus", whole()},
                              {"gpus_per_island", whole()},
                              {"gpu_type", maybe("string")},
                              {"cpus", number()},
                              {"memory_gib", number()},
                              {"nic_gbps", number()}});
  return object({{"name", text()},
                 {"generation", whole()},
                 {"gpu_types", list_of(type)},
                 {"subtrees", list_of(subtree)},
                 {"servers", list_of(server)}});
}

Json servers() {
  const Json held = object({{"job", text()}, {"gpus", list_of(whole())}});
  const Json server = object({{"server", text()},
                              {"drained", flag()},
                              {"bad_gpus", list_of(whole())},
                              {"jobs", list_of(held)}});
  return object({{"as_of", text()},
                 {"generation", whole()},
                 {"silent", list_of(whole())},
                 {"servers", list_of(server)}});
}

Json members() {
  const Json member = object({{"agent", whole()},
                              {"member", flag()},
                              {"should_serve", list_of(whole())},
                              {"serves", list_of(whole())}});
  return object({{"silent", list_of(whole())}, {"agents", list_of(member)}});
}

Json queue_name() { return {{"type", "string"}, {"minLength", 1}, {"maxLength", 256}}; }
Json queue_list() {
  return {{"type", "array"}, {"items", named("Queue")}, {"maxItems", QueueTree::kMost}};
}
/// As a file of queues has it (workload/queue_file.h).
Json queue() {
  const Json gpus = whole_in(0, 1'000'000'000);
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"name"}},
          {"properties",
           {{"name", queue_name()},
            {"guaranteed", gpus},
            {"most", gpus},
            {"most_per_user", gpus},
            {"weight", whole_in(1, 1'000'000)},
            {"users", {{"type", "array"}, {"items", queue_name()}, {"maxItems", 4096}}},
            {"queues", queue_list()}}}};
}
Json queue_tree() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"queues"}},
          {"properties", {{"default", queue_name()}, {"queues", queue_list()}}}};
}

Json queues() {
  Json use = object({{"queue", text()}, {"may", whole()}, {"used", whole()}, {"wanted", whole()}});
  use["properties"]["user"] = text();  // of a row for one user
  return object({{"version", whole()},
                 {"tree", named("QueueTree")},
                 {"uses", list_of(use)},
                 {"unaware", list_of(whole())}});
}

}  // namespace

const Json& gateway_schemas() {
  static const Json schemas{
      {"Problem", object({{"status", whole()}, {"code", text()}, {"message", text()}})},
      {"JobRequest", job_request()},
      {"Job", job()},
      {"JobList", object({{"as_of", text()},
                          {"silent", list_of(whole())},
                          {"total", whole()},
                          {"next", maybe("string")},
                          {"jobs", list_of(named("Job"))}})},
      {"Explanation",
       object({{"job", text()}, {"lines", list_of(text())}, {"silent", list_of(whole())}})},
      {"Me", object({{"user", text()},
                     {"role", {{"type", "string"}, {"enum", {"viewer", "user", "operator"}}}}})},
      {"Agent", agent()},
      {"Agents", object({{"as_of", text()},
                         {"silent", list_of(whole())},
                         {"troubles", list_of(text())},
                         {"agents", list_of(named("Agent"))}})},
      {"Topology", topology()},
      {"Servers", servers()},
      {"Drain", object({{"server", text()}, {"drained", flag()}, {"attempts", whole()}})},
      {"Queue", queue()},
      {"QueueTree", queue_tree()},
      {"Queues", queues()},
      {"Members", members()},
      {"MembersChange",
       object({{"agent", whole()},
               {"moves",
                list_of(object({{"partition", whole()}, {"from", whole()}, {"to", whole()}}))}})},
      {"Description", {{"type", "object"}}}};
  return schemas;
}

}  // namespace starling
