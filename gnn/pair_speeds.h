// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "interference/speed.h"
#include "topology/topology.h"

namespace starling {

/// What two jobs do to each other on GPUs of one type with no other job on their servers, asked
/// once and kept for all roll-outs. Not to be shared among threads.
class PairSpeeds {
 public:
  struct Pair {
    bool fits = false;   ///< the memory of the GPU holds both
    float own = 1;       ///< speed of the newcomer
    float loss = 0;      ///< GPU speeds that the other loses
    float slower = 0;    ///< of the other: 1 / after - 1 / before
    float gain = 0;      ///< GPU speeds that the newcomer adds, net of the loss
    float slowdown = 0;  ///< of both, as Candidate::slowdown, as a number
  };
  /// Both must outlive this.
  PairSpeeds(const Topology& topology, const SpeedModel& speed);

  /// A newcomer on the first GPUs of the other's.
  [[nodiscard]] const Pair& pair(const JobProfile& newcomer, const JobProfile& other,
                                 GpuTypeId type);
  /// Speed on so many GPUs of the type that are next to one another; 0: there are fewer.
  [[nodiscard]] double alone(const JobProfile& job, GpuTypeId type);
  void forget();

 private:
  [[nodiscard]] Placement first_gpus(GpuTypeId type, std::uint32_t count) const;

  const Topology& topology_;
  const SpeedModel& speed_;
  std::vector<Placement> gpus_;  // by type
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::unordered_map<std::uint64_t, double> alone_;
};

}  // namespace starling
