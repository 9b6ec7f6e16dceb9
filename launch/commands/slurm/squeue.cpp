// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/short_number.h"
#include "launch/commands/slurm/slurm_jobs.h"
#include "launch/commands/slurm/slurm_options.h"
#include "launch/system/dates.h"
#include "workload/job_number.h"
#include "workload/terms_text.h"

namespace starling {
namespace {

using Takes = SlurmOption::Takes;
constexpr SlurmOption kKnown[] = {{'u', "user", Takes::value},
                                  {0, "me"},
                                  {'j', "jobs", Takes::value},
                                  {'t', "states", Takes::value},
                                  {'n', "name", Takes::value},
                                  {'p', "partition", Takes::value},
                                  {'o', "format", Takes::value},
                                  {'h', "noheader"},
                                  {'r', "array"},
                                  {'l', "long"},
                                  {'a', "all"}};

constexpr const char* kUsual = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
constexpr const char* kLong = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";

/// One line: a job, or tasks of an array that are alike.
struct Line {
  const JobState* state;
  std::vector<std::uint32_t> tasks;
};

std::string line_id(const Line& line) {
  if (line.tasks.size() < 2) return slurm_id(*line.state);
  const JobTerms& terms = line.state->ask->terms;
  return job_number(terms.array) + "_[" + tasks_text(line.tasks) +
         (terms.at_once > 0 ? "%" + std::to_string(terms.at_once) : "") + "]";
}

std::optional<std::string> cell(const Line& line, char letter, const Topology& topology, Date now) {
  const JobState& s = *line.state;
  const JobAsk nothing, &ask = s.ask == nullptr ? nothing : *s.ask;
  const Words nodes = nodes_of(s, topology);
  const JobTerms& terms = ask.terms;
  switch (letter) {
    case 'i':
      return line_id(line);
    case 'A':
      return job_number(s.job);
    case 'F':
      return job_number(terms.of_array() ? terms.array : s.job);
    case 'K':
      return terms.of_array() ? std::to_string(terms.task) : "N/A";
    case 'P':
      return ask.queue.empty() ? "all" : ask.queue;
    case 'j':
      return ask.name;
    case 'u':
      return ask.user;
    case 't':
      return slurm_state(s, true);
    case 'T':
      return slurm_state(s, false);
    case 'M':
      return slurm_span(ran_for(s), false);
    case 'l':
      return terms.time_limit > Duration{0} ? slurm_span(terms.time_limit, false) : "UNLIMITED";
    case 'L':
      return terms.time_limit > Duration{0} ? slurm_span(terms.time_limit - ran_for(s), false)
                                            : "UNLIMITED";
    case 'D':
      return std::to_string(std::max<std::size_t>(nodes.size(), 1));
    case 'C':
      return std::to_string(std::max<std::uint32_t>(
          static_cast<std::uint32_t>(ask.workers * ask.cpus_per_worker), ask.workers));
    case 'b':
      return "gres:gpu:" + std::to_string(ask.workers * ask.gpus_per_worker);
    case 'm':
      return short_number(ask.memory_gib_per_worker * ask.workers) + "G";
    case 'Q':
      return std::to_string(ask.priority);
    case 'V':
      return slurm_date(dates_of(s, now).submitted);
    case 'S':
      return slurm_date(dates_of(s, now).started);
    case 'N':
      return host_list(nodes);
    case 'r':
      return slurm_reason(s);
    case 'R':
      return s.phase == JobPhase::waiting ? "(" + slurm_reason(s) + ")" : host_list(nodes);
    case 'o':
      return ask.command;
    default:
      return std::nullopt;
  }
}

const std::map<char, const char*>& headings() {
  static const std::map<char, const char*> all{{'i', "JOBID"},         {'A', "JOBID"},
                                               {'F', "ARRAY_JOB_ID"},  {'K', "ARRAY_TASK_ID"},
                                               {'P', "PARTITION"},     {'j', "NAME"},
                                               {'u', "USER"},          {'t', "ST"},
                                               {'T', "STATE"},         {'M', "TIME"},
                                               {'l', "TIME_LIMIT"},    {'L', "TIME_LEFT"},
                                               {'D', "NODES"},         {'C', "CPUS"},
                                               {'b', "TRES_PER_NODE"}, {'m', "MIN_MEMORY"},
                                               {'Q', "PRIORITY"},      {'V', "SUBMIT_TIME"},
                                               {'S', "START_TIME"},    {'N', "NODELIST"},
                                               {'r', "REASON"},        {'R', "NODELIST(REASON)"},
                                               {'o', "COMMAND"}};
  return all;
}

bool is_in(const Words& all, const std::string& one) {
  return all.empty() || std::ranges::find(all, one) != all.end();
}

/// Those that are asked for; without states the ones that are not over.
bool is_meant(const SlurmSaid& said, const JobState& state, const std::string& me) {
  const JobAsk nothing, &ask = state.ask == nullptr ? nothing : *state.ask;
  Words users = said.list("user");
  if (said.has("me")) users.push_back(me);
  if (!is_in(users, ask.user) || !is_in(said.list("name"), ask.name)) return false;
  if (!is_in(said.list("partition"), ask.queue.empty() ? "all" : ask.queue)) return false;
  const Words states = said.list("states");
  if (states.empty()) return !terminal(state.phase);
  return std::ranges::any_of(states, [&](std::string one) {
    for (char& c : one) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return one == "ALL" || one == slurm_state(state, true) || one == slurm_state(state, false);
  });
}

/// Tasks of an array that wait are one line, as Slurm has them.
std::vector<Line> lines_of(const std::vector<JobState>& jobs, bool each) {
  std::vector<Line> lines;
  std::map<std::pair<JobId, std::string>, std::size_t> at;
  for (const JobState& state : jobs) {
    const JobAsk* ask = state.ask.get();
    if (each || ask == nullptr || !ask->terms.of_array() || state.phase != JobPhase::waiting) {
      lines.push_back({&state, {}});
      continue;
    }
    // The limit of an array is of all that wait.
    const bool limited = state.reason == JobReason::array_limit || state.reason == JobReason::none;
    const auto [known, first] =
        at.try_emplace({ask->terms.array, limited ? "" : slurm_reason(state)}, lines.size());
    if (first) lines.push_back({&state, {}});
    lines[known->second].tasks.push_back(ask->terms.task);
  }
  for (Line& line : lines) std::ranges::sort(line.tasks);
  return lines;
}

}  // namespace

int run_squeue(const Words& words) {
  const auto said = read_slurm_words("squeue", kKnown, words);
  if (!said) return slurm_error("squeue", said.error().message);
  if (!said.value().words.empty())
    return slurm_error("squeue", "'" + said.value().words.front() + "' is not expected");
  std::string format = said.value().has("long") ? kLong : kUsual;
  if (said.value().has("format")) format = said.value().text("format");
  const auto heading = slurm_line(format, [](char letter) -> std::optional<std::string> {
    const auto at = headings().find(letter);
    return at == headings().end() ? std::nullopt : std::optional<std::string>(at->second);
  });
  if (!heading) return slurm_error("squeue", heading.error().message);
  const auto flock = slurm_flock("squeue");
  if (flock == nullptr) return 1;
  auto jobs = slurm_jobs("squeue", *flock, said.value().list("jobs"));
  if (!jobs) return 1;
  if (said.value().has("jobs") && jobs->empty() && !said.value().list("jobs").empty())
    return slurm_error("squeue", "Invalid job id specified");
  const std::string me = flock->user();
  std::erase_if(*jobs, [&](const JobState& s) { return !is_meant(said.value(), s, me); });
  const Date now = std::chrono::system_clock::now();
  std::ranges::stable_sort(
      *jobs, {}, [&](const JobState& s) { return dates_of(s, now).submitted.value_or(Date{}); });
  if (!said.value().has("noheader")) std::printf("%s\n", heading.value().c_str());
  for (const Line& line : lines_of(*jobs, said.value().has("array"))) {
    const auto text =
        slurm_line(format, [&](char letter) { return cell(line, letter, flock->topology(), now); });
    std::printf("%s\n", text.value().c_str());
  }
  return 0;
}

}  // namespace starling
