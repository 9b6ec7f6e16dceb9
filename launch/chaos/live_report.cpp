// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/live_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "launch/chaos/scenario/fault_kinds.h"
#include "launch/report/page.h"
#include "launch/system/amount.h"
#include "launch/system/text.h"
#include "workload/stats.h"

namespace starling::chaos_live {
namespace {

using Json = nlohmann::ordered_json;

struct Kind {
  std::uint64_t happened = 0, skipped = 0;
};
std::map<std::string, Kind> by_kind(const LiveReport& r) {
  std::map<std::string, Kind> kinds;
  for (const FaultRecord& f : r.faults)
    ++(f.skipped ? kinds[name_of(f.kind)].skipped : kinds[name_of(f.kind)].happened);
  return kinds;
}

/// Times of recovery, by what they are times of.
std::map<std::string, std::vector<double>> times(const LiveReport& r) {
  std::map<std::string, std::vector<double>> all;
  for (const auto& c : r.recoveries) {
    const std::string who = c.takeover()                    ? "taken over by another agent"
                            : c.kind == LiveFaultKind::stop ? "frozen, then itself again"
                                                            : "its own agent again";
    const std::string how = c.disturbed ? ", disturbed" : "";
    all[who + how + ": answers"].push_back(c.answered);
    all[who + how + ": accepts a job"].push_back(c.accepted);
    all[who + how + ": all GPUs known"].push_back(c.reconciled);
  }
  for (const auto& a : r.answers)
    all[a.excused ? "submit to answer, during faults" : "submit to answer, without faults"]
        .push_back(a.took);
  return all;
}

std::string seconds_text(double s) { return s < 0 ? "-" : human_seconds(s); }

/// The faults that lasted or happened in the ten seconds before `at`.
std::string around(const LiveReport& r, double at) {
  std::string text;
  for (const FaultRecord& f : r.faults) {
    if (f.skipped || f.at > at || std::max(f.until, f.at) < at - 10) continue;
    char line[64];
    std::snprintf(line, sizeof line, "    %8.3f s to %8.3f s  ", f.at, f.until);
    text += line + std::string(name_of(f.kind)) + " " + f.whom + "\n";
  }
  return text.empty() ? "    (no fault in the 10 s before)\n" : text;
}

/// How many are up to each bound and above the one before.
constexpr double kBounds[] = {0.01, 0.1, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 30, 60, 1e9};

Json histogram(const std::vector<double>& values) {
  Json bins = Json::array();
  double below = -1;
  for (const double bound : kBounds) {
    const auto n = std::count_if(values.begin(), values.end(),
                                 [&](double v) { return v > below && v <= bound; });
    bins.push_back({{"up_to_s", bound}, {"count", n}});
    below = bound;
  }
  return bins;
}

Json quantiles_json(const std::vector<double>& values) {
  const Quantiles q = quantiles(values);
  return {{"count", values.size()}, {"p50_s", q.p50}, {"p90_s", q.p90},
          {"p99_s", q.p99},         {"max_s", q.max}, {"histogram", histogram(values)}};
}

Json faults_json(const LiveReport& r) {
  Json list = Json::array();
  for (const FaultRecord& f : r.faults)
    list.push_back({{"at_s", f.at},
                    {"until_s", f.until},
                    {"fault", name_of(f.kind)},
                    {"whom", f.whom},
                    {"skipped", f.skipped}});
  return list;
}

Json as_json(const LiveReport& r) {
  Json kinds = Json::object(), all = Json::object(), violations = Json::array();
  for (const auto& [name, kind] : by_kind(r))
    kinds[name] = {{"happened", kind.happened}, {"skipped", kind.skipped}};
  for (const auto& [name, values] : times(r)) all[name] = quantiles_json(values);
  for (const Violation& v : r.violations)
    violations.push_back({{"at_s", v.at}, {"rule", v.rule}, {"message", v.message}});
  const Audit::Totals& t = r.totals;
  return {{"schema", 1},
          {"scenario", r.scenario.name},
          {"seed", r.scenario.seed},
          {"state", r.scenario.flock.state},
          {"agents", r.scenario.flock.agents},
          {"executors", r.scenario.flock.executors},
          {"faults_s", r.faults_s},
          {"recovered_s", r.recovered_s},
          {"wall_s", r.wall_s},
          {"faults", kinds},
          {"left_out", r.impossible},
          {"jobs",
           {{"submitted", t.submitted},
            {"accepted", t.accepted},
            {"finished", t.finished},
            {"cancelled", t.cancelled},
            {"failed", t.failed},
            {"refused", t.refused},
            {"attempts", t.attempts},
            {"work_repeated", t.work_repeated}}},
          {"answers_checked", t.answers},
          {"takeovers", r.takeovers},
          {"times", all},
          {"agent_rss_mib", r.rss_mib},
          {"started_per_s_before_takeover", r.throughput_before},
          {"started_per_s_after_takeover", r.throughput_after},
          {"link_connections", r.link_connections},
          {"link_bytes", r.link_bytes},
          {"link_bits_flipped", r.link_corrupted},
          {"violations", violations},
          {"again", r.again},
          {"kept_in", r.dir.string()}};
}

}  // namespace

std::string report_text(const LiveReport& r) {
  const Audit::Totals& t = r.totals;
  std::string text = "scenario " + r.scenario.name + ", seed " + std::to_string(r.scenario.seed) +
                     ": " + counted(r.scenario.flock.agents, "agent") + ", " +
                     counted(r.scenario.flock.executors, "executor") + ", state in " +
                     r.scenario.flock.state + "; faults for " + human_seconds(r.faults_s) +
                     ", all over " + human_seconds(r.recovered_s) + " after healing\n\n";
  std::vector<std::vector<std::string>> rows{
      {"fault", "happened", "did not: nothing to hit, or left out"}};
  for (const auto& [name, kind] : by_kind(r))
    rows.push_back({name, with_commas(kind.happened), with_commas(kind.skipped)});
  text += table_text(rows) + "\n";
  for (const auto& [name, why] : r.impossible) text += "left out: " + name + ": " + why + "\n";
  rows = {{"jobs", ""}};
  for (const auto& [name, n] : std::vector<std::pair<std::string, std::uint64_t>>{
           {"submitted", t.submitted},
           {"accepted", t.accepted},
           {"finished", t.finished},
           {"cancelled by the client", t.cancelled},
           {"failed", t.failed},
           {"attempts that ran", t.attempts},
           {"work done again after a lost end", t.work_repeated},
           {"answers checked", t.answers},
           {"partitions taken over", r.takeovers}})
    rows.push_back({name, with_commas(n)});
  text += table_text(rows) + "\n";
  rows = {{"time", "count", "p50", "p90", "p99", "most"}};
  for (const auto& [name, values] : times(r)) {
    const Quantiles q = quantiles(values);
    rows.push_back({name, with_commas(values.size()), seconds_text(q.p50), seconds_text(q.p90),
                    seconds_text(q.p99), seconds_text(q.max)});
  }
  text += table_text(rows) + "\n";
  char line[200];
  std::snprintf(line, sizeof line,
                "an agent had at most %.0f MiB of memory; links: %s connections, %s bytes\n",
                r.rss_mib, with_commas(r.link_connections).c_str(),
                with_commas(r.link_bytes).c_str());
  text += line;
  if (r.scenario.expect.throughput > 0) {
    std::snprintf(
        line, sizeof line,
        "jobs started a second: %.1f before the first takeover, %.1f 15 to 30 s after it\n",
        r.throughput_before, r.throughput_after);
    text += line;
  }
  text += amount(r.violations.size(), "violation") + "\n";
  constexpr std::size_t kMostOfARule = 3;
  std::map<std::string, std::size_t> told;
  for (const Violation& v : r.violations) {
    if (++told[v.rule] > kMostOfARule) continue;
    std::snprintf(line, sizeof line, "  %.3f s, rule '%s': ", v.at, v.rule.c_str());
    text += line + v.message + "\n" + around(r, v.at);
  }
  for (const auto& [rule, count] : told) {
    if (count > kMostOfARule)
      text += "  rule '" + rule + "': " + std::to_string(count - kMostOfARule) + " more\n";
  }
  if (!r.good()) {
    text += "all that happened, in order: " + (r.dir / "timeline.txt").string() + "\n";
    if (!r.again.empty()) text += "the same faults again: " + r.again + "\n";
  }
  return text;
}

std::string report_json(const LiveReport& r) {
  return as_json(r).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_page(const LiveReport& r) {
  Json data = as_json(r);
  data["page"] = "chaos";
  data["timeline"] = faults_json(r);
  Json cases = Json::array(), jobs = Json::array();
  for (const auto& c : r.recoveries)
    cases.push_back({{"agent", c.agent},
                     {"host", c.host},
                     {"at_s", c.since - r.began},
                     {"fault", name_of(c.kind)},
                     {"answered_s", c.answered},
                     {"accepted_s", c.accepted},
                     {"reconciled_s", c.reconciled},
                     {"disturbed", c.disturbed}});
  constexpr std::size_t kMostJobs = 4000;
  for (std::size_t i = 0; i < std::min(kMostJobs, r.jobs.size()); ++i) {
    const Audit::Job& job = r.jobs[i];
    const auto at = [&](double t) { return t < 0 ? -1 : t - r.began; };
    jobs.push_back(
        {at(job.submitted), at(job.accepted), at(job.started), at(job.ended), job.attempts.size()});
  }
  data["recoveries"] = cases;
  data["job_rows"] = jobs;
  return fill_page(kChaosPage, data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace starling::chaos_live
