// SPDX-License-Identifier: Apache-2.0
#include "sim/published/pollux/cluster.h"

#include <algorithm>

#include "base/check.h"
#include "interference/fit/data_table.h"

namespace starling {
namespace {

bool spans(const NodeList& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](std::uint32_t node) { return node != nodes.front(); });
}

/// Nodes on which two gangs or more exchange with other nodes.
std::vector<bool> contended_nodes(const PolluxCluster& cluster, std::span<const PolluxJob> jobs) {
  std::vector<std::uint32_t> gangs(cluster.nodes, 0);
  for (const PolluxJob& job : jobs) {
    if (!spans(job.nodes())) continue;
    std::vector<bool> on(cluster.nodes, false);
    for (const std::uint32_t node : job.nodes()) on[node] = true;
    for (std::uint32_t node = 0; node < cluster.nodes; ++node) gangs[node] += on[node] ? 1 : 0;
  }
  std::vector<bool> out;
  out.reserve(gangs.size());
  for (const std::uint32_t count : gangs) out.push_back(count > 1);
  return out;
}

void check_capacity(const PolluxCluster& cluster, const std::vector<NodeList>& lists) {
  std::vector<std::uint32_t> used(cluster.nodes, 0);
  for (const NodeList& nodes : lists) {
    for (const std::uint32_t node : nodes) STARLING_CHECK(++used[node] <= cluster.gpus_per_node);
  }
}

}  // namespace

std::vector<std::int64_t> run_pollux_cluster(const PolluxCluster& cluster,
                                             std::vector<PolluxJob> jobs,
                                             PolluxScheduler& scheduler,
                                             const std::function<void(std::size_t)>& rounds) {
  scheduler.prepare(jobs);
  std::size_t done = 0;
  for (std::int64_t now_s = 0; done < jobs.size();) {
    const std::vector<bool> contended = contended_nodes(cluster, jobs);
    for (PolluxJob& job : jobs) {
      const bool slowed =
          spans(job.nodes()) && std::any_of(job.nodes().begin(), job.nodes().end(),
                                            [&](std::uint32_t node) { return contended[node]; });
      job.advance(cluster.interval_s, slowed ? cluster.interference : 0);
    }
    now_s += cluster.interval_s;
    std::vector<PolluxJob*> present;
    done = 0;
    for (PolluxJob& job : jobs) {
      if (job.completed_s()) {
        if (!job.nodes().empty()) job.place({});
        ++done;
      } else if (job.asked().submit_s <= now_s) {
        present.push_back(&job);
      }
    }
    if (rounds) rounds(done);
    if (present.empty()) continue;
    const std::vector<const PolluxJob*> seen(present.begin(), present.end());
    const std::vector<NodeList> lists = scheduler.decide(now_s, seen);
    STARLING_CHECK(lists.size() == present.size());
    check_capacity(cluster, lists);
    for (std::size_t i = 0; i < present.size(); ++i) {
      if (lists[i] != present[i]->nodes()) present[i]->place(lists[i]);
    }
  }
  std::vector<std::int64_t> jct_s;
  jct_s.reserve(jobs.size());
  for (const PolluxJob& job : jobs) jct_s.push_back(*job.completed_s() - job.asked().submit_s);
  return jct_s;
}

Result<std::vector<PolluxJob>> read_pollux_workload(
    const std::filesystem::path& file,
    const std::map<std::string, PolluxApplication>& applications) {
  const auto read =
      DataTable::read(file, {"name", "time", "application", "num_replicas", "batch_size"});
  if (!read) return read.error();
  std::vector<PolluxJob> jobs;
  for (std::size_t row = 0; row < read.value().size(); ++row) {
    const std::string where = file.string() + ": row " + std::to_string(row + 1) + ": ";
    std::array<double, 3> values{};
    constexpr std::array<std::string_view, 3> kColumns = {"time", "num_replicas", "batch_size"};
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      const auto value = read.value().number(row, kColumns[i]);
      if (!value) return value.error();
      values[i] = value.value();
    }
    const auto known = applications.find(read.value().text(row, "application"));
    if (known == applications.end())
      return {Errc::invalid, where + "there is no application '" +
                                 read.value().text(row, "application") + "' in validation.csv.gz"};
    const BatchLimits& limits = known->second.limits();
    if (!(values[0] >= 0 && values[0] < 1e9 && values[1] >= 1 && values[1] <= 64 &&
          values[2] >= limits.own && values[2] <= limits.largest))
      return {Errc::invalid, where +
                                 "a time, 1 to 64 replicas and a batch between the least and "
                                 "the largest of validation.csv.gz are needed"};
    jobs.emplace_back(
        PolluxJob::Asked{read.value().text(row, "name"), static_cast<std::int64_t>(values[0]),
                         static_cast<std::uint32_t>(values[1]),
                         static_cast<std::uint32_t>(values[2])},
        known->second);
  }
  return jobs;
}

}  // namespace starling
