// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "policies/hadar/gang_job.h"
#include "scheduling/policy.h"

namespace starling {

/// TypePaces of every kind of job in a partition, of what the speed model says of representative
/// places in it while it is empty, asked once for each kind.
class GangPaces {
 public:
  /// Valid until forget().
  [[nodiscard]] const TypePaces& of(const View& view, const Occupancy& empty, const JobSpec& job);
  /// When the speed model has learned something.
  void forget() { kinds_.clear(); }

 private:
  /// Model, workers, GPUs and CPUs of each, memory of each, GPU types, what it says of itself.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, double, double,
                         std::vector<std::string>, RunDetails>;
  std::map<Key, TypePaces> kinds_;
};

}  // namespace starling
