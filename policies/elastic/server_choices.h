// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "scheduling/policy.h"

namespace starling {

/// The number of parameter servers with which a job gets on best on its GPUs: of 1 to
/// RunDetails::max_servers the smallest one of the highest SpeedModel::pace(). Optimus (EuroSys
/// 2018) adds them one by one beside workers; here the workers are given, for GPUs are what is
/// scarce, and servers stop to pay where they leave the workers too few CPUs.
///
/// Jobs that do not train by parameter servers, or do not say how many at most, run as they ask.
class ServerChoices {
 public:
  /// Remembered by kind of job and shape of the placement, so of equal ones the first counts.
  [[nodiscard]] Allocation best(const View& view, const JobSpec& job, const Placement& placement);

 private:
  /// Model, GPUs per worker, GPUs that it asks for and has, the most on one server, CPUs, type of
  /// the first GPU, and what the job says of itself.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                         double, std::uint16_t, RunDetails>;
  std::map<Key, Allocation> known_;
};

}  // namespace starling
