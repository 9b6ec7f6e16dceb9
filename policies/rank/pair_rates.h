// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "scheduling/policy.h"
#include "topology/shape.h"

namespace starling {

/// What two jobs keep of their speed on the same GPUs, as parts of what each has there alone.
struct PairRate {
  double one = 0, other = 0;  ///< both 0: they must not share
};

/// PairRate by the speed model, on the placement that the empty partition has. Remembered by kinds
/// of jobs until the model has learned. Jobs whose memory does not fit together must not share, nor
/// those that do not make at least kLeastSum of one job's speed together, nor those whose workers
/// differ in size.
class PairRates {
 public:
  static constexpr double kLeastSum = 1.1;

  /// Where pairs are asked about: the empty partition, and by which model.
  struct Where {
    const SpeedModel& speed;
    const Shape& shape;
    const Occupancy& empty;
  };
  /// In every call, before anything else. Forgets all that another model has said, and all once it
  /// is too much.
  void refresh(const SpeedModel& speed);
  /// A number for what the job's speed depends on beside its size; holds until version() grows.
  [[nodiscard]] std::uint32_t kind_of(const JobSpec& job);
  /// `where`: of the model that refresh() had last, which is checked.
  [[nodiscard]] PairRate of(const Where& where, std::uint32_t one, std::uint32_t other,
                            std::uint32_t type, std::uint32_t gpus);
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  using Kind = std::tuple<std::string, std::uint32_t, std::uint32_t, double, RunDetails>;
  struct Asked {
    std::uint32_t one, other, type, gpus;
    bool operator==(const Asked&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Asked& a) const noexcept {
      std::uint64_t h = a.one;
      for (const std::uint64_t word : {a.other, a.type, a.gpus})
        h = (h ^ word) * 0x9E3779B97F4A7C15ULL + (h >> 29U);
      return h;
    }
  };
  [[nodiscard]] PairRate ask(const Where& where, const Asked& asked) const;

  std::map<Kind, std::uint32_t> kinds_;
  std::vector<JobSpec> specs_;  // one of each kind
  std::unordered_map<Asked, PairRate, Hash> known_;
  std::optional<std::uint64_t> model_;  // version that was asked
  std::uint64_t version_ = 1;
};

}  // namespace starling
