// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "policies/elastic/elastic_jobs_test.h"
#include "policies/rank/rank.h"
#include "policies/testing/policy_rig.h"

namespace starling {

/// For tests of `rank`: a partition of it, which believes users unless it is told otherwise.
struct RankRig : PolicyRig {
  explicit RankRig(const Topology& of, RankOptions options = {.believes = true})
      : PolicyRig(of, std::make_unique<RankPolicy>(options)) {}
  RankRig(const Topology& of, IndexRange mine, RankOptions options)
      : PolicyRig(of, std::make_unique<RankPolicy>(options), mine) {}
  [[nodiscard]] std::size_t gpus_of(std::size_t i) const { return jobs[i].placement.size(); }
  [[nodiscard]] std::string why(std::size_t i) const {
    std::string all;
    for (const std::string& line : policy->explain(jobs[i].spec->id)) all += line + '\n';
    return all;
  }
};

inline JobSpec elastic_spec(std::uint32_t most, double seconds_long) {
  return elastic(1, 0, most, seconds_long).spec;
}
inline JobSpec rigid_spec(std::uint32_t gpus, double seconds_long) {
  JobSpec job;
  job.workers = gpus;
  job.duration = from_seconds(seconds_long);
  return job;
}
inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
/// A third of the speed over several servers.
struct ApartIsSlow final : SpeedModel {
  explicit ApartIsSlow(const Topology& of) : topology(of) {}
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours&) const override {
    return {topology.tier_of(placement) >= Tier::rack ? 0.33 : 1.0, 0};
  }
  Topology topology;
};

}  // namespace starling
