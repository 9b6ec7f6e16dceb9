// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/contention.h"
#include "interference/pairs/pair_data.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// Sharing as it was measured, pair by pair, in one campaign of a file with the columns of
/// gavel/colocated.csv; by the fitted form for jobs, pairs and GPU types that it has not, and for
/// what several others cost together. For the simulated world: nothing that was trained is in it.
class MeasuredContention final : public Contention {
 public:
  MeasuredContention(const PairData& data, const std::string& campaign);

  [[nodiscard]] double on_gpu(const ModelProfile& own, std::span<const ModelProfile* const> others,
                              GpuKind kind) const noexcept override;
  [[nodiscard]] double on_host(const ModelProfile& own, double ratio) const noexcept override;

  /// Was a pair of models of these jobs measured on a GPU type that is there? If not, no run of
  /// them differs from one without the file.
  [[nodiscard]] bool measures(const Topology& topology, const Trace& jobs) const;

 private:
  [[nodiscard]] std::size_t at(std::size_t kind, std::size_t own, std::size_t other) const {
    return (kind * types_ + own) * types_ + other;
  }
  [[nodiscard]] double measured(std::int16_t own, std::int16_t other, GpuKind kind) const noexcept;

  std::size_t types_;
  std::vector<double> speeds_;  ///< 0: not given
};

/// Of "FILE", Gavel's campaign of 2020, or "FILE@CAMPAIGN", any other in the file. `io` or
/// `invalid` names file and line, or the campaigns there are.
[[nodiscard]] Result<std::shared_ptr<const MeasuredContention>> read_measured_contention(
    const std::string& pairs);

/// The message where it `measures` nothing.
[[nodiscard]] Error measures_nothing(const std::string& pairs);

}  // namespace starling
