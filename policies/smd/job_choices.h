// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "policies/elastic/division.h"
#include "policies/smd/task_counts.h"

namespace starling {

/// In what sizes SMD's outer problem may have a job, and how fast it is in each: the inner problem
/// of every kind of job, solved once.
///
/// A job with RunDetails::max_servers runs at LayeredSteps, whatever its place: SMD's abstract says
/// nothing of placement. Of any other the workers alone are chosen, and it is as fast as the speed
/// model says of their best place.
class JobChoices {
 public:
  struct Options {
    bool menu = false;     ///< several sizes of a job may be chosen among, not one
    bool largest = false;  ///< its limit is what its largest size needs, not the size asked for
    double grid_eps = 0;   ///< of best_tasks_on_grid(); 0: best_tasks()
  };
  /// Above so many counts of a kind the grid is taken in any case, with kFineEps.
  static constexpr std::uint64_t kMostEnumerated = 4096;
  static constexpr double kFineEps = 0.01;
  /// Of a menu.
  static constexpr std::size_t kMostInMenu = 12;
  static constexpr double kMenuEps = 0.25;

  explicit JobChoices(const Options& options) : options_(options) {}

  /// Sizes within the job's limit; without parameter servers `servers` is 0. Empty: none is.
  [[nodiscard]] const std::vector<TaskCounts>& sizes(const ElasticCall& call, const JobSpec& job);
  /// Seconds until what is left of the job is done in that size.
  [[nodiscard]] double rest_s(const Division& division, const ElasticCall& call,
                              const ElasticShare& share, TaskCounts size);
  /// What a size occupies of GPUs and CPUs.
  [[nodiscard]] static std::vector<double> needs(const JobSpec& job, TaskCounts size);
  /// What the job's limit is of them.
  [[nodiscard]] std::vector<double> limit(const JobSpec& job) const;
  /// The number of servers that suits so many workers; 0: the job has none.
  [[nodiscard]] std::uint32_t servers_for(const ElasticCall& call, const JobSpec& job,
                                          std::uint32_t workers);

 private:
  struct Kind {
    std::optional<LayeredSteps> steps;  // with parameter servers
    TaskLimits limits;
    double asked_s = 1;  // of a step at the size asked for
    std::vector<TaskCounts> sizes;
  };
  [[nodiscard]] Kind& kind_of(const ElasticCall& call, const JobSpec& job);
  [[nodiscard]] Kind make_kind(const ElasticCall& call, const JobSpec& job) const;
  [[nodiscard]] TaskLimits limits_of(const JobSpec& job) const;

  /// Model, workers asked for, fewest, most, GPUs and CPUs of each, GPU types, what it says of
  /// itself.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                         double, std::vector<std::string>, RunDetails>;
  Options options_;
  std::map<Key, Kind> kinds_;
  ElasticSpeeds speeds_;
};

}  // namespace starling
