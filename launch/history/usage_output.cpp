// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "launch/history/usage.h"
#include "launch/jobs/job_dates.h"
#include "launch/system/text.h"
#include "workload/text/csv.h"

namespace starling {
namespace {

using Row = std::vector<std::string>;

std::string figure(double value) { return fmt::format("{:.2f}", value); }
std::string guessed(double value, bool exact) { return (exact ? "" : "~") + figure(value); }
std::string known(const std::optional<double>& value) { return value ? figure(*value) : "-"; }

std::string csv_line(const Row& row) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : ",") + csv_field(row[i]);
  return line + "\n";
}

std::string precise(double value) { return fmt::format("{:.6f}", value); }

std::string dumped(const nlohmann::json& json) {
  return json.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::json names_of(const std::vector<AgentId>& silent) {
  nlohmann::json names = nlohmann::json::array();
  for (const AgentId agent : silent) names.push_back("agent-" + std::to_string(agent.value));
  return names;
}

}  // namespace

std::string usage_text(const std::vector<Usage>& usages, Date now) {
  std::vector<Row> rows{{"job", "state", "user", "queue", "GPUs", "type", "submitted", "waited h",
                         "held h", "GPU h", "kWh"}};
  double gpu_h = 0;
  for (const Usage& u : usages) {
    rows.push_back({to_string(u.state.job), name_of(u.state.phase), u.user.empty() ? "-" : u.user,
                    u.queue.empty() ? "-" : u.queue, std::to_string(u.gpus), u.type,
                    date_text(u.submitted, now), figure(u.waited_h), figure(u.held_h),
                    guessed(u.gpu_h, u.exact), known(u.energy_kwh)});
    gpu_h += u.gpu_h;
  }
  return table_text(std::move(rows)) +
         fmt::format("{}, {:.2f} GPU hours\n", counted(usages.size(), "job"), gpu_h);
}

std::string usage_csv(const std::vector<Usage>& usages) {
  std::string text = csv_line({"job", "name", "state", "user", "queue", "gpus", "gpu_type",
                               "submitted", "started", "ended", "waited_h", "held_h", "gpu_h",
                               "exact", "energy_kwh", "attempts", "preemptions", "exit_code"});
  for (const Usage& u : usages) {
    const JobState& s = u.state;
    text += csv_line({to_string(s.job), s.ask == nullptr ? "" : s.ask->name, name_of(s.phase),
                      u.user, u.queue, std::to_string(u.gpus), u.type, date_json(u.submitted),
                      date_json(u.started), date_json(u.ended), precise(u.waited_h),
                      precise(u.held_h), precise(u.gpu_h), u.exact ? "true" : "false",
                      u.energy_kwh ? precise(*u.energy_kwh) : "", std::to_string(s.attempts),
                      std::to_string(s.preemptions),
                      terminal(s.phase) ? std::to_string(s.exit.code) : ""});
  }
  return text;
}

std::string usage_json(const std::vector<Usage>& usages, const std::vector<AgentId>& silent) {
  nlohmann::json jobs = nlohmann::json::array();
  for (const Usage& u : usages) {
    const JobState& s = u.state;
    nlohmann::json job{{"job", to_string(s.job)},   {"name", s.ask == nullptr ? "" : s.ask->name},
                       {"state", name_of(s.phase)}, {"user", u.user},
                       {"queue", u.queue},          {"gpus", u.gpus},
                       {"gpu_type", u.type},        {"submitted", date_json(u.submitted)},
                       {"waited_h", u.waited_h},    {"held_h", u.held_h},
                       {"gpu_h", u.gpu_h},          {"exact", u.exact},
                       {"attempts", s.attempts},    {"preemptions", s.preemptions}};
    if (u.started) job["started"] = date_json(u.started);
    if (u.ended) job["ended"] = date_json(u.ended);
    if (u.energy_kwh) job["energy_kwh"] = *u.energy_kwh;
    if (terminal(s.phase)) job["exit_code"] = s.exit.code;
    jobs.push_back(std::move(job));
  }
  return dumped({{"schema", 1}, {"jobs", jobs}, {"silent", names_of(silent)}});
}

std::string sums_text(const std::vector<UsageSum>& sums, const std::vector<std::string>& by) {
  std::vector<Row> rows{by};
  for (const char* title : {"jobs", "failed", "GPU h", "mean wait h", "longest", "kWh"})
    rows.front().emplace_back(title);
  UsageSum all;
  for (const UsageSum& sum : sums) {
    Row row = sum.keys;
    row.push_back(std::to_string(sum.jobs));
    row.push_back(std::to_string(sum.failed));
    row.push_back(guessed(sum.gpu_h, sum.exact));
    row.push_back(figure(sum.waited_h / static_cast<double>(sum.jobs)));
    row.push_back(figure(sum.longest_wait_h));
    row.push_back(sum.energy_known ? figure(sum.energy_kwh) : "-");
    rows.push_back(std::move(row));
    all.gpu_h += sum.gpu_h;
  }
  return table_text(std::move(rows)) + fmt::format("{:.2f} GPU hours in all\n", all.gpu_h);
}

std::string sums_csv(const std::vector<UsageSum>& sums, const std::vector<std::string>& by) {
  Row heading = by;
  for (const char* title : {"jobs", "finished", "failed", "cancelled", "gpu_h", "exact", "waited_h",
                            "longest_wait_h", "energy_kwh"})
    heading.emplace_back(title);
  std::string text = csv_line(heading);
  for (const UsageSum& sum : sums) {
    Row row = sum.keys;
    for (const std::uint64_t count : {sum.jobs, sum.finished, sum.failed, sum.cancelled})
      row.push_back(std::to_string(count));
    row.push_back(precise(sum.gpu_h));
    row.emplace_back(sum.exact ? "true" : "false");
    row.push_back(precise(sum.waited_h));
    row.push_back(precise(sum.longest_wait_h));
    row.push_back(sum.energy_known ? precise(sum.energy_kwh) : "");
    text += csv_line(row);
  }
  return text;
}

std::string sums_json(const std::vector<UsageSum>& sums, const std::vector<std::string>& by,
                      const std::vector<AgentId>& silent) {
  nlohmann::json rows = nlohmann::json::array();
  for (const UsageSum& sum : sums) {
    nlohmann::json row{{"jobs", sum.jobs},         {"finished", sum.finished},
                       {"failed", sum.failed},     {"cancelled", sum.cancelled},
                       {"gpu_h", sum.gpu_h},       {"exact", sum.exact},
                       {"waited_h", sum.waited_h}, {"longest_wait_h", sum.longest_wait_h}};
    for (std::size_t i = 0; i < by.size(); ++i) row[by[i]] = sum.keys[i];
    if (sum.energy_known) row["energy_kwh"] = sum.energy_kwh;
    rows.push_back(std::move(row));
  }
  return dumped({{"schema", 1}, {"by", by}, {"rows", rows}, {"silent", names_of(silent)}});
}

}  // namespace starling
