// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/job_table.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "agents/exit_code.h"
#include "base/short_number.h"
#include "launch/system/text.h"
#include "topology/placement_text.h"
#include "workload/terms_text.h"
#include "workload/text/csv.h"

namespace starling {
namespace {

using Row = std::vector<std::string>;

std::string agent_name(AgentId agent) { return "agent-" + std::to_string(agent.value); }

/// "2x4 V100": two workers with four GPUs each; "4 (2-8) x1": elastic, from two to eight of them.
std::string asked(const JobAsk& ask) {
  std::string text = ask.workers > 1 ? std::to_string(ask.workers) + "x" : "";
  if (ask.max_workers > 0)
    text = std::to_string(ask.workers) + " (" + std::to_string(ask.min_workers) + "-" +
           std::to_string(ask.max_workers) + ") x";
  text += std::to_string(ask.gpus_per_worker);
  for (std::size_t i = 0; i < ask.gpu_types.size(); ++i)
    text += (i == 0 ? " " : "|") + ask.gpu_types[i];
  return text;
}

/// Where it is, or has ended; of one that waits, nowhere, though it has run.
const Placement& place_of(const JobState& s) {
  static const Placement nowhere;
  return s.phase == JobPhase::waiting ? nowhere : s.placement;
}
/// Of one that waits again: where it was last.
const Placement& last_place_of(const JobState& s) {
  static const Placement nowhere;
  return s.phase == JobPhase::waiting ? s.placement : nowhere;
}

std::string cell(const std::string& text) { return text.empty() ? "-" : text; }

std::string csv_row(const Row& row) {
  std::string line;
  for (const std::string& field : row) {
    if (&field != &row.front()) line += ',';
    line += csv_field(field);
  }
  return line + "\n";
}

/// What a job says of them; nothing where it says nothing.
void add_terms(nlohmann::json& j, const JobTerms& terms) {
  if (!terms.any()) return;
  nlohmann::json out = nlohmann::json::object();
  if (terms.hold) out["hold"] = true;
  if (terms.begin > Duration{0}) out["begin_s"] = seconds(terms.begin);
  for (const After& after : terms.after)
    out["after"].push_back({{"how", name_of(after.how)}, {"job", to_string(after.job)}});
  if (terms.retries > 0) out["retries"] = terms.retries;
  if (terms.time_limit > Duration{0}) out["time_limit_s"] = seconds(terms.time_limit);
  if (terms.signal > 0)
    out["signal"] = {{"number", terms.signal}, {"before_s", seconds(terms.signal_before)}};
  if (terms.of_array()) {
    out["array"] = {{"id", to_string(terms.array)},
                    {"task", terms.task},
                    {"tasks", terms.tasks},
                    {"at_once", terms.at_once}};
  }
  j["terms"] = std::move(out);
}

std::string dumped(const nlohmann::json& j, int indent) {
  return j.dump(indent, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Row JobTable::servers(const Placement& placement) const {
  Row names;
  for (const GpuId gpu : placement) {
    if (gpu.value >= topology.gpu_count()) continue;
    const std::string& name = topology.server(topology.server_of(gpu)).name;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

/// The tasks of one array that are in one state, in the place of the first of them.
std::vector<JobTable::Fold> JobTable::folded(const std::vector<ListedJob>& jobs) const {
  std::vector<Fold> folds;
  std::map<std::pair<JobId, std::string>, std::size_t> at;
  for (const ListedJob& job : jobs) {
    const JobAsk* ask = job.state.ask.get();
    if (tasks || ask == nullptr || !ask->terms.of_array()) {
      folds.push_back({&job, {}});
      continue;
    }
    const auto [known, first] =
        at.try_emplace({ask->terms.array, state_name(job.state)}, folds.size());
    if (first) folds.push_back({&job, {}});
    folds[known->second].tasks.push_back(ask->terms.task);
  }
  for (Fold& fold : folds) std::ranges::sort(fold.tasks);
  return folds;
}

std::string JobTable::text(const std::vector<ListedJob>& jobs) const {
  std::vector<Row> rows{{"job", "state", "name", "user", "queue", "GPUs", "submitted", "started",
                         "ended", "attempts", "servers", "runs by", "exit"}};
  for (const Fold& fold : folded(jobs)) {
    const JobState& s = fold.first->state;
    const JobAsk nothing, &ask = s.ask == nullptr ? nothing : *s.ask;
    JobDates dates = dates_of(s, now);
    const bool many = fold.tasks.size() > 1;
    if (many) dates.started = dates.ended = std::nullopt;
    const Row on = many ? Row{} : servers(place_of(s));
    std::string where = on.empty() ? "-" : on.front();
    if (on.size() == 2) where += "," + on[1];
    if (on.size() > 2) where += " and " + std::to_string(on.size() - 1) + " more";
    std::string id = to_string(s.job);
    if (ask.terms.of_array())
      id = to_string(ask.terms.array) + "_" +
           (many ? "[" + tasks_text(fold.tasks) + "]" : std::to_string(ask.terms.task));
    rows.push_back({std::move(id), state_name(s), cell(ask.name), cell(ask.user), cell(ask.queue),
                    s.ask == nullptr ? "-" : asked(ask), date_text(dates.submitted, now),
                    date_text(dates.started, now), date_text(dates.ended, now),
                    std::to_string(s.attempts), where, cell(allocation_text(s.allocation)),
                    has_exit_code(s) && !many ? std::to_string(s.exit.code) : "-"});
  }
  for (std::size_t column = rows.front().size(); column-- > 0;) {
    const auto& heading = rows.front()[column];
    if (heading != "queue" && heading != "runs by") continue;
    const bool empty = std::all_of(rows.begin() + 1, rows.end(),
                                   [&](const Row& row) { return row[column] == "-"; });
    if (!empty) continue;
    for (Row& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return table_text(rows);
}

std::string JobTable::csv(const std::vector<ListedJob>& jobs) const {
  std::string text = csv_row(
      {"job",       "state",           "name",        "user",        "queue",      "command",
       "workers",   "gpus_per_worker", "gpu_types",   "cpus",        "memory_gib", "priority",
       "submitted", "started",         "ended",       "queued_s",    "elapsed_s",  "service_s",
       "attempts",  "preemptions",     "forwards",    "agent",       "host",       "placement",
       "servers",   "last_servers",    "min_workers", "max_workers", "exit_code",  "allocation",
       "run",       "array",           "task",        "reason",      "failures"});
  for (const ListedJob& job : jobs) {
    const JobState& s = job.state;
    const JobAsk nothing, &ask = s.ask == nullptr ? nothing : *s.ask;
    const JobDates dates = dates_of(s, now);
    std::string types;
    for (const std::string& type : ask.gpu_types) types += (types.empty() ? "" : " ") + type;
    const bool known = s.ask != nullptr;
    const auto if_known = [&](const std::string& field) { return known ? field : std::string(); };
    text += csv_row({to_string(s.job),
                     state_name(s),
                     ask.name,
                     ask.user,
                     ask.queue,
                     ask.command,
                     if_known(std::to_string(ask.workers)),
                     if_known(std::to_string(ask.gpus_per_worker)),
                     types,
                     if_known(short_number(ask.cpus_per_worker)),
                     if_known(short_number(ask.memory_gib_per_worker)),
                     if_known(std::to_string(ask.priority)),
                     date_json(dates.submitted),
                     date_json(dates.started),
                     date_json(dates.ended),
                     short_number(seconds(s.queued + s.requeued)),
                     short_number(seconds(s.elapsed)),
                     short_number(seconds(s.served)),
                     std::to_string(s.attempts),
                     std::to_string(s.preemptions),
                     std::to_string(s.forwards),
                     agent_name(s.home),
                     job.host,
                     placement_text(place_of(s)),
                     joined(servers(place_of(s)), " "),
                     joined(servers(last_place_of(s)), " "),
                     if_known(std::to_string(ask.min_workers)),
                     if_known(std::to_string(ask.max_workers)),
                     has_exit_code(s) ? std::to_string(s.exit.code) : "",
                     allocation_text(s.allocation),
                     run_details_text(ask.run),
                     ask.terms.of_array() ? to_string(ask.terms.array) : "",
                     ask.terms.of_array() ? std::to_string(ask.terms.task) : "",
                     s.reason == JobReason::none ? "" : name_of(s.reason),
                     std::to_string(s.failures)});
  }
  return text;
}

nlohmann::json JobTable::object(const ListedJob& job) const {
  const JobState& s = job.state;
  const JobDates dates = dates_of(s, now);
  nlohmann::json j{{"job", to_string(s.job)},
                   {"state", state_name(s)},
                   {"agent", s.home.value},
                   {"host", job.host},
                   {"queued_s", seconds(s.queued + s.requeued)},
                   {"elapsed_s", seconds(s.elapsed)},
                   {"service_s", seconds(s.served)},
                   {"attempts", s.attempts},
                   {"forwards", s.forwards},
                   {"preemptions", s.preemptions},
                   {"placement", placement_text(place_of(s))},
                   {"servers", servers(place_of(s))},
                   {"last_servers", servers(last_place_of(s))},
                   {"exit_code", has_exit_code(s) ? nlohmann::json(s.exit.code) : nullptr},
                   {"failures", s.failures},
                   {"log_tail", s.exit.log_tail}};
  if (s.reason != JobReason::none) j["reason"] = name_of(s.reason);
  if (s.until > Duration{0}) j["until_s"] = seconds(s.until);
  if (const Allocation& how = s.allocation; !how.as_asked()) {
    j["allocation"] = {{"workers", how.workers},
                       {"servers", how.servers},
                       {"local_batch", how.local_batch},
                       {"accumulation", how.accumulation},
                       {"averaged", how.averaged}};
  }
  if (s.ask != nullptr) {
    j.update(nlohmann::json{{"name", s.ask->name},
                            {"user", s.ask->user},
                            {"queue", s.ask->queue},
                            {"command", s.ask->command},
                            {"workers", s.ask->workers},
                            {"min_workers", s.ask->min_workers},
                            {"max_workers", s.ask->max_workers},
                            {"gpus_per_worker", s.ask->gpus_per_worker},
                            {"gpu_types", s.ask->gpu_types},
                            {"cpus", s.ask->cpus_per_worker},
                            {"memory_gib", s.ask->memory_gib_per_worker},
                            {"priority", s.ask->priority}});
    add_terms(j, s.ask->terms);
    if (const RunDetails& run = s.ask->run; run.any()) {
      j["run"] = {{"max_servers", run.max_servers},
                  {"server_cpus", run.server_cpus},
                  {"batch", run.batch},
                  {"max_batch", run.max_batch},
                  {"copies", run.copies},
                  {"save_s", seconds(run.save)},
                  {"restore_s", seconds(run.restore)}};
    }
  }
  for (const auto& [name, date] : {std::pair{"submitted", dates.submitted},
                                   {"started", dates.started},
                                   {"ended", dates.ended}}) {
    j[name] = date ? nlohmann::json(date_json(date)) : nlohmann::json(nullptr);
  }
  return j;
}

std::string JobTable::json(const ListedJob& job) const { return dumped(object(job), -1); }

std::string JobTable::json(const std::vector<ListedJob>& jobs,
                           const std::vector<AgentId>& silent) const {
  nlohmann::json list = nlohmann::json::array(), missing = nlohmann::json::array();
  for (const ListedJob& job : jobs) list.push_back(object(job));
  for (const AgentId agent : silent) missing.push_back(agent.value);
  return dumped({{"schema", 1}, {"silent", missing}, {"jobs", list}}, 1);
}

int shell_status(const JobState& state) {
  if (state.phase == JobPhase::finished) return 0;
  if (state.phase == JobPhase::cancelled) return 128 + 15;
  const int code = state.exit.code < 0 ? 128 - state.exit.code : state.exit.code;
  return code > 0 && code < 256 ? code : 1;
}

}  // namespace starling
