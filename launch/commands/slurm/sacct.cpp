// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/lower_case.h"
#include "launch/commands/slurm/slurm_jobs.h"
#include "launch/commands/slurm/slurm_options.h"
#include "launch/system/dates.h"
#include "launch/system/text.h"
#include "workload/job_number.h"

namespace starling {
namespace {

using Takes = SlurmOption::Takes;
constexpr SlurmOption kKnown[] = {{'j', "jobs", Takes::value},
                                  {'o', "format", Takes::value},
                                  {'P', "parsable2"},
                                  {'p', "parsable"},
                                  {'n', "noheader"},
                                  {'X', "allocations"},
                                  {'u', "user", Takes::value},
                                  {'a', "allusers"},
                                  {'s', "state", Takes::value},
                                  {'S', "starttime", Takes::value},
                                  {'b', "brief"},
                                  {0, "delimiter", Takes::value}};

/// A field of a job, with the width that it has where none is said; below zero: to the left.
struct Field {
  const char* name;
  int width;
  std::string (*text)(const JobState& state, const JobAsk& ask, const Topology& topology, Date now);
};

std::string exit_text(const JobState& s) {
  const int code = s.exit.code;
  const bool has = s.phase == JobPhase::failed || s.phase == JobPhase::finished;
  if (!has) return "0:0";
  if (code < 0) return "0:" + std::to_string(-code);
  return std::to_string(code == 0 && s.phase == JobPhase::failed ? 1 : code) + ":0";
}

// clang-format off
constexpr Field kFields[] = {
    {"JobID", -12, [](const JobState& s, const JobAsk&, const Topology&, Date) { return slurm_id(s); }},
    {"JobIDRaw", -12, [](const JobState& s, const JobAsk&, const Topology&, Date) { return job_number(s.job); }},
    {"JobName", 10, [](const JobState&, const JobAsk& a, const Topology&, Date) { return a.name; }},
    {"Partition", 10, [](const JobState&, const JobAsk& a, const Topology&, Date) {
       return a.queue.empty() ? std::string("all") : a.queue; }},
    {"Account", 10, [](const JobState&, const JobAsk&, const Topology&, Date) { return std::string(); }},
    {"User", 9, [](const JobState&, const JobAsk& a, const Topology&, Date) { return a.user; }},
    {"AllocCPUS", 10, [](const JobState&, const JobAsk& a, const Topology&, Date) {
       return std::to_string(std::max(a.workers, static_cast<std::uint32_t>(a.workers * a.cpus_per_worker))); }},
    {"NTasks", 8, [](const JobState&, const JobAsk& a, const Topology&, Date) { return std::to_string(a.workers); }},
    {"NNodes", 8, [](const JobState& s, const JobAsk&, const Topology& t, Date) {
       return std::to_string(std::max<std::size_t>(nodes_of(s, t).size(), 1)); }},
    {"AllocTRES", 10, [](const JobState&, const JobAsk& a, const Topology&, Date) {
       return "gres/gpu=" + std::to_string(a.workers * a.gpus_per_worker); }},
    {"State", 10, [](const JobState& s, const JobAsk&, const Topology&, Date) { return slurm_state(s, false); }},
    {"ExitCode", 8, [](const JobState& s, const JobAsk&, const Topology&, Date) { return exit_text(s); }},
    {"Reason", 22, [](const JobState& s, const JobAsk&, const Topology&, Date) { return slurm_reason(s); }},
    {"NodeList", 15, [](const JobState& s, const JobAsk&, const Topology& t, Date) {
       const std::string nodes = host_list(nodes_of(s, t));
       return nodes.empty() ? std::string("None assigned") : nodes; }},
    {"Submit", 19, [](const JobState& s, const JobAsk&, const Topology&, Date n) { return slurm_date(dates_of(s, n).submitted); }},
    {"Start", 19, [](const JobState& s, const JobAsk&, const Topology&, Date n) { return slurm_date(dates_of(s, n).started); }},
    {"End", 19, [](const JobState& s, const JobAsk&, const Topology&, Date n) { return slurm_date(dates_of(s, n).ended); }},
    {"Elapsed", 10, [](const JobState& s, const JobAsk&, const Topology&, Date) { return slurm_span(ran_for(s), true); }},
    {"ElapsedRaw", 10, [](const JobState& s, const JobAsk&, const Topology&, Date) {
       return std::to_string(std::chrono::floor<std::chrono::seconds>(ran_for(s)).count()); }},
    {"Timelimit", 10, [](const JobState&, const JobAsk& a, const Topology&, Date) {
       return a.terms.time_limit > Duration{0} ? slurm_span(a.terms.time_limit, true) : std::string("UNLIMITED"); }},
    {"Priority", 10, [](const JobState&, const JobAsk& a, const Topology&, Date) { return std::to_string(a.priority); }},
};
// clang-format on
constexpr const char* kUsual = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";

struct Column {
  const Field* field;
  int width;
};

/// "JobID%20,State"; `invalid`: a field that is not known here.
Result<std::vector<Column>> columns_of(const Words& asked) {
  std::vector<Column> columns;
  for (const std::string& one : asked) {
    const std::size_t percent = one.find('%');
    const std::string name = one.substr(0, percent);
    const Field* found = nullptr;
    std::string all;
    for (const Field& field : kFields) {
      if (lower_case(name) == lower_case(field.name)) found = &field;
      all += (all.empty() ? "" : ",") + std::string(field.name);
    }
    if (found == nullptr)
      return {Errc::invalid, "field '" + name + "' is not understood here; there are " + all};
    int width = found->width;
    if (percent != std::string::npos) {
      std::string number = one.substr(percent + 1);
      const bool left = number.starts_with('-');
      const auto n = parse_whole(left ? number.substr(1) : number);
      if (!n || *n < 1 || *n > 1000) return {Errc::invalid, "'" + one + "' has no width"};
      width = static_cast<int>(*n) * (left ? -1 : 1);
    }
    columns.push_back({found, width});
  }
  return columns;
}

std::string fixed(const std::string& text, int width) {
  const auto size = static_cast<std::size_t>(std::abs(width));
  std::string cell = text.size() > size ? text.substr(0, size - 1) + "+" : text;
  const std::string room(size - cell.size(), ' ');
  return width < 0 ? cell + room : room + cell;
}

void print_row(const Words& cells, const std::vector<Column>& columns, const SlurmSaid& said) {
  std::string line;
  const bool two = said.has("parsable2"), one = said.has("parsable");
  const std::string between = said.has("delimiter") ? said.text("delimiter") : "|";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (two || one) {
      line += (i > 0 && two ? between : "") + cells[i] + (one && !two ? between : "");
    } else {
      line += fixed(cells[i], columns[i].width) + " ";
    }
  }
  std::printf("%s\n", line.c_str());
}

}  // namespace

int run_sacct(const Words& words) {
  auto read = read_slurm_words("sacct", kKnown, words);
  if (!read) return slurm_error("sacct", read.error().message);
  SlurmSaid& said = read.value();
  if (!said.words.empty())
    return slurm_error("sacct", "'" + said.words.front() + "' is not expected");
  if (said.has("brief")) said.options["format"] = {"JobID,State,ExitCode"};
  if (!said.has("format")) said.options["format"] = {kUsual};
  const auto columns = columns_of(said.list("format"));
  if (!columns) return slurm_error("sacct", columns.error().message);
  const Date now = std::chrono::system_clock::now();
  std::optional<Date> since;
  if (said.has("starttime")) {
    since = parse_date(said.text("starttime"), now);
    if (!since) return slurm_error("sacct", "--starttime is no date; 2026-11-27T18:00 is one");
  }
  const auto flock = slurm_flock("sacct");
  if (flock == nullptr) return 1;
  auto jobs = slurm_jobs("sacct", *flock, said.list("jobs"));
  if (!jobs) return 1;
  Words users = said.list("user");
  if (users.empty() && !said.has("allusers") && !said.has("jobs")) users.push_back(flock->user());
  Words states = said.list("state");
  std::erase_if(*jobs, [&](const JobState& s) {
    const bool theirs =
        users.empty() || (s.ask != nullptr && std::ranges::find(users, s.ask->user) != users.end());
    const bool state = states.empty() || std::ranges::any_of(states, [&](const std::string& one) {
                         const std::string word = lower_case(one);
                         return word == lower_case(slurm_state(s, true)) ||
                                word == lower_case(slurm_state(s, false));
                       });
    const bool old = since && dates_of(s, now).ended && *dates_of(s, now).ended < *since;
    return !theirs || !state || old;
  });
  std::ranges::stable_sort(
      *jobs, {}, [&](const JobState& s) { return dates_of(s, now).submitted.value_or(Date{}); });
  if (!said.has("noheader")) {
    Words names, lines;
    for (const Column& column : columns.value()) {
      names.emplace_back(column.field->name);
      lines.emplace_back(static_cast<std::size_t>(std::abs(column.width)), '-');
    }
    print_row(names, columns.value(), said);
    if (!said.has("parsable") && !said.has("parsable2")) print_row(lines, columns.value(), said);
  }
  for (const JobState& state : *jobs) {
    const JobAsk nothing, &ask = state.ask == nullptr ? nothing : *state.ask;
    Words cells;
    for (const Column& column : columns.value())
      cells.push_back(column.field->text(state, ask, flock->topology(), now));
    print_row(cells, columns.value(), said);
  }
  return 0;
}

}  // namespace starling
