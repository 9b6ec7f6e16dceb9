// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/published_runs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "interference/fit/data_table.h"
#include "sim/published/inputs.h"

namespace starling {
namespace {

constexpr const char* kRuns = "conformance/shockwave_120.json.gz";
constexpr const char* kSchedule = "conformance/shockwave_120_schedule.csv.gz";
constexpr double kMost = 1e6;  // of a number of a job or a round

using Runs = std::map<std::string, PublishedRounds>;

Status read_run(const nlohmann::json& from, std::size_t jobs, PublishedRounds& run) {
  const auto number = [&](const char* key, double& to) {
    const bool there = from.contains(key) && from[key].is_number();
    if (there) to = from[key];
    return there;
  };
  if (!number("makespan_s", run.makespan_s) || !number("mean_jct_s", run.mean_jct_s) ||
      !number("worst_ftf", run.worst_ratio) || !number("unfair_share", run.unfair_share))
    return {Errc::invalid, "makespan_s, mean_jct_s, worst_ftf or unfair_share is missing"};
  const nlohmann::json jct = from.value("jct_s", nlohmann::json::array());
  const auto is_number = [](const nlohmann::json& j) { return j.is_number(); };
  if (jct.size() != jobs || !std::all_of(jct.begin(), jct.end(), is_number))
    return {Errc::invalid, "jct_s is not of " + std::to_string(jobs) + " jobs"};
  run.jct_s = jct.get<std::vector<double>>();
  return done();
}

Status add_row(const DataTable& table, std::size_t row, Runs& runs) {
  const auto run = runs.find(table.text(row, "run"));
  if (run == runs.end()) return done();
  const auto round = table.number(row, "round"), job = table.number(row, "job");
  if (!round) return round.error();
  if (!job) return job.error();
  if (!(round.value() >= 0 && round.value() < kMost && job.value() >= 0 && job.value() < kMost))
    return {Errc::invalid, "row " + std::to_string(row + 1) + ": no such round or job"};
  auto& rounds = run->second.rounds;
  const auto at = static_cast<std::size_t>(round.value());
  if (rounds.size() <= at) rounds.resize(at + 1);
  std::istringstream gpus(table.text(row, "gpus"));
  auto& held = rounds[at][static_cast<std::size_t>(job.value())];
  for (std::uint32_t gpu = 0; gpus >> gpu;) held.push_back(gpu);
  return done();
}

}  // namespace

Result<Runs> read_published_rounds(const std::filesystem::path& data, std::size_t jobs) {
  const auto json = published_json(data, kRuns);
  if (!json) return json.error();
  const nlohmann::json all = json.value().value("runs", nlohmann::json::object());
  Runs runs;
  for (const auto& [name, from] : all.items()) {
    if (name.find(" pair ") != std::string::npos) continue;
    if (Status read = read_run(from, jobs, runs[name]); !read)
      return {Errc::invalid, (data / kRuns).string() + ": " + name + ": " + read.error().message};
  }
  const auto file = published_file(data, kSchedule);
  if (!file) return file.error();
  const auto table = DataTable::read(file.value(), {"run", "round", "job", "gpus"});
  if (!table) return table.error();
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    if (Status added = add_row(table.value(), row, runs); !added)
      return {Errc::invalid, file.value().string() + ": " + added.error().message};
  }
  return runs;
}

std::vector<double> finish_time_ratios(const std::vector<ShockwaveJob>& jobs,
                                       const std::vector<double>& jct_s, std::uint32_t gpus) {
  const double crowd = std::max(1.0, static_cast<double>(jobs.size()) / gpus);
  std::vector<double> ratios;
  for (std::size_t j = 0; j < jobs.size(); ++j)
    ratios.push_back(std::round(jct_s[j] / (jobs[j].alone_s() * crowd) * 1e5) / 1e5);
  return ratios;
}

bool same_jobs(const RoundPlaces& a, const RoundPlaces& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

std::uint64_t misplaced(const std::vector<RoundPlaces>& rounds,
                        const std::vector<ShockwaveJob>& jobs, std::uint32_t gpus) {
  std::uint64_t wrong = 0;
  for (const RoundPlaces& round : rounds) {
    std::set<std::uint32_t> held;
    for (const auto& [job, where] : round) {
      wrong += job >= jobs.size() || where.size() != jobs[job].gpus ? 1 : 0;
      for (const std::uint32_t gpu : where)
        wrong += gpu >= gpus || !held.insert(gpu).second ? 1 : 0;
    }
  }
  return wrong;
}

}  // namespace starling
