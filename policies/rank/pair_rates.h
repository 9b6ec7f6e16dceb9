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

  /// At every call, first. `view`, `shape` and `empty` must stay valid until the last look at them.
  void begin(const View& view, const Shape& shape, const Occupancy& empty);
  /// A number for what the job's speed depends on beside its size; holds until version() grows.
  [[nodiscard]] std::uint32_t kind_of(const JobSpec& job);
  [[nodiscard]] PairRate of(std::uint32_t one, std::uint32_t other, std::uint32_t type,
                            std::uint32_t gpus);
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
  [[nodiscard]] PairRate ask(const Asked& asked) const;

  const View* view_ = nullptr;
  const Shape* shape_ = nullptr;
  const Occupancy* empty_ = nullptr;
  std::map<Kind, std::uint32_t> kinds_;
  std::vector<JobSpec> specs_;  // one of each kind
  std::unordered_map<Asked, PairRate, Hash> known_;
  std::uint64_t model_ = 0, version_ = 1;
};

}  // namespace starling
