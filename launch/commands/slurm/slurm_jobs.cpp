// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/slurm/slurm_jobs.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <set>

#include "launch/commands/open_flock.h"
#include "launch/commands/slurm/slurm_options.h"
#include "launch/system/text.h"
#include "workload/job_number.h"

namespace starling {
namespace {

struct Named {
  const char *full, *shortly;
};

Named named(const JobState& state) {
  switch (state.phase) {
    case JobPhase::starting:
      return {"CONFIGURING", "CF"};
    case JobPhase::running:
      return {"RUNNING", "R"};
    case JobPhase::draining:
      return {"COMPLETING", "CG"};
    case JobPhase::finished:
      return {"COMPLETED", "CD"};
    case JobPhase::cancelled:
      return {"CANCELLED", "CA"};
    case JobPhase::failed:
      if (state.exit.timed_out) return {"TIMEOUT", "TO"};
      if (state.exit.lost) return {"NODE_FAIL", "NF"};
      return {"FAILED", "F"};
    default:
      return {"PENDING", "PD"};
  }
}

/// A name's beginning and the number at its end, as it is written.
std::pair<std::string, std::string> split_number(const std::string& name) {
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  return {name.substr(0, at), name.substr(at)};
}

std::string padded(std::uint64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

}  // namespace

std::string slurm_state(const JobState& state, bool shortly) {
  return shortly ? named(state).shortly : named(state).full;
}

std::string slurm_reason(const JobState& state) {
  if (state.phase == JobPhase::failed) {
    if (state.reason == JobReason::dependency_never) return "DependencyNeverSatisfied";
    return state.exit.timed_out ? "TimeLimit" : "NonZeroExitCode";
  }
  if (state.phase != JobPhase::waiting) return "None";
  switch (state.reason) {
    case JobReason::held:
      return "JobHeldUser";
    case JobReason::begin:
    case JobReason::retry:
      return "BeginTime";
    case JobReason::dependency:
      return "Dependency";
    case JobReason::array_limit:
      return "JobArrayTaskLimit";
    case JobReason::quota:
      return "AssocGrpGRES";
    default:
      return "Resources";
  }
}

std::string slurm_id(const JobState& state) {
  if (state.ask == nullptr || !state.ask->terms.of_array()) return job_number(state.job);
  return job_number(state.ask->terms.array) + "_" + std::to_string(state.ask->terms.task);
}

std::string slurm_span(Duration span, bool full) {
  const auto all =
      std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(span).count(), 0);
  const auto days = all / 86'400, hours = all / 3600 % 24, minutes = all / 60 % 60, rest = all % 60;
  char text[64];
  if (days > 0) {
    std::snprintf(text, sizeof text, "%lld-%02lld:%02lld:%02lld", static_cast<long long>(days),
                  static_cast<long long>(hours), static_cast<long long>(minutes),
                  static_cast<long long>(rest));
  } else if (full || hours > 0) {
    std::snprintf(text, sizeof text, full ? "%02lld:%02lld:%02lld" : "%lld:%02lld:%02lld",
                  static_cast<long long>(hours), static_cast<long long>(minutes),
                  static_cast<long long>(rest));
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(minutes),
                  static_cast<long long>(rest));
  }
  return text;
}

std::string slurm_date(const std::optional<Date>& date) {
  if (!date) return "Unknown";
  const std::time_t at = std::chrono::system_clock::to_time_t(*date);
  std::tm parts{};
  char text[32];
  if (::localtime_r(&at, &parts) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts) == 0)
    return "Unknown";
  return text;
}

Duration ran_for(const JobState& state) {
  if (!state.begun) return Duration{0};
  return std::max(state.elapsed - state.queued - state.requeued, Duration{0});
}

Words nodes_of(const JobState& state, const Topology& topology) {
  Words names;
  if (state.phase == JobPhase::waiting) return names;
  for (const GpuId gpu : state.placement) {
    if (gpu.value >= topology.gpu_count()) continue;
    const std::string& name = topology.server(topology.server_of(gpu)).name;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

std::string host_list(const Words& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    const auto [stem, number] = split_number(names[i]);
    std::string ranges;
    std::size_t many = 0;
    while (i < names.size()) {
      const auto [other, first] = split_number(names[i]);
      if (other != stem || (first.empty() && many > 0)) break;
      std::size_t last = i;
      const auto value = parse_whole(first);
      while (value && last + 1 < names.size()) {
        const auto [next_stem, next] = split_number(names[last + 1]);
        if (next_stem != stem || next != padded(*value + (last + 1 - i), first.size())) break;
        ++last;
      }
      ranges += (many > 0 ? "," : "") + first;
      if (last > i) ranges += "-" + split_number(names[last]).second;
      many += last - i + 1;
      i = last + 1;
      if (first.empty()) break;
    }
    text += (text.empty() ? "" : ",") + stem + (many > 1 ? "[" + ranges + "]" : ranges);
  }
  return text;
}

std::optional<Words> hosts_in(const std::string& list) {
  Words all;
  for (std::size_t i = 0; i < list.size();) {
    const std::size_t open = list.find('[', i), comma = list.find(',', i);
    if (open == std::string::npos || comma < open) {
      all.push_back(list.substr(i, comma == std::string::npos ? comma : comma - i));
      i = comma == std::string::npos ? list.size() : comma + 1;
      continue;
    }
    const std::size_t close = list.find(']', open);
    if (close == std::string::npos) return std::nullopt;
    const std::string stem = list.substr(i, open - i);
    for (std::size_t at = open + 1; at < close;) {
      const std::size_t end = std::min(list.find(',', at), close);
      const std::string range = list.substr(at, end - at);
      const std::size_t dash = range.find('-');
      const std::string from = range.substr(0, dash);
      const auto first = parse_whole(from);
      const auto last = dash == std::string::npos ? first : parse_whole(range.substr(dash + 1));
      if (!first || !last || *last < *first || *last - *first > 100'000) return std::nullopt;
      for (std::uint64_t n = *first; n <= *last; ++n) all.push_back(stem + padded(n, from.size()));
      at = end + 1;
    }
    i = close + 1;
    if (i < list.size() && list[i] == ',') ++i;
  }
  return all;
}

Result<std::string> slurm_line(const std::string& format, const Letters& letters) {
  std::string line;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      line += format[i];
      continue;
    }
    ++i;
    const bool right = i < format.size() && format[i] == '.';
    if (right) ++i;
    std::size_t width = 0;
    while (i < format.size() && format[i] >= '0' && format[i] <= '9')
      width = std::min<std::size_t>(width * 10 + static_cast<std::size_t>(format[i++] - '0'), 1000);
    const auto text = i < format.size() ? letters(format[i]) : std::nullopt;
    if (!text) {
      return {Errc::invalid, "'%" +
                                 (i < format.size() ? std::string(1, format[i]) : std::string()) +
                                 "' of the format is not understood here"};
    }
    std::string cell = width > 0 ? text->substr(0, width) : *text;
    const std::string room(width > cell.size() ? width - cell.size() : 0, ' ');
    line += right ? room + cell : cell + room;
  }
  return line;
}

std::unique_ptr<FlockClient> slurm_flock(const char* command) {
  auto flock = connected_flock("");
  if (flock) return std::move(flock).value();
  slurm_error(command, flock.error().message);
  return nullptr;
}

std::optional<std::vector<JobState>> slurm_jobs(const char* command, FlockClient& flock,
                                                const Words& ids) {
  std::vector<JobState> found;
  if (ids.empty()) {
    auto all = flock.jobs();
    if (!all) return slurm_error(command, all.error().message), std::nullopt;
    if (const std::string silent = silence_text(all.value().silent); !silent.empty())
      slurm_error(command, silent + "; what lives there is missing here");
    return std::move(all.value().jobs);
  }
  std::set<JobId> seen;
  for (const std::string& id : ids) {
    auto named = flock.jobs_named(id.substr(0, id.find('.')), true);
    if (!named && named.error().code == Errc::not_found) continue;
    if (!named) return slurm_error(command, named.error().message), std::nullopt;
    for (JobState& state : named.value()) {
      if (seen.insert(state.job).second) found.push_back(std::move(state));
    }
  }
  return found;
}

}  // namespace starling
