// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// GPUs of a gang on each of its nodes, in the order of its list of nodes; none is 0.
using NodeCounts = std::vector<std::uint32_t>;

/// Seconds of one step of an application, and of them those of its exchange.
struct MeasuredStep {
  double step_s = 0, sync_s = 0;
  [[nodiscard]] double grad_s() const noexcept { return step_s - sync_s; }
};

/// Step times of one application as Pollux' simulator looks them up: measured placements linear in
/// the local batch; for the others what `pollux_interpolated.csv.gz` gives, which is what its
/// Delaunay triangulation gave; and what is in neither (its search asks for any place) linear
/// between the measured places of as many GPUs a node on fewer and on more nodes.
class StepTables {
 public:
  /// From placements.csv.
  void add_placement(const std::string& placement, std::uint32_t local_batch, MeasuredStep step);
  /// From scalability.csv.
  void add_scaling(std::uint32_t nodes, std::uint32_t replicas, std::uint32_t local_batch,
                   MeasuredStep step);
  void add_interpolated(std::uint32_t nodes, std::uint32_t replicas, std::uint32_t local_batch,
                        MeasuredStep step);
  /// After the last add_*(): averages placements by nodes and replicas.
  void finish();

  /// At least one placement, and a batch of at least 1.
  [[nodiscard]] MeasuredStep step(const NodeCounts& placement, std::uint32_t local_batch) const;
  [[nodiscard]] std::uint32_t least_local() const noexcept { return least_; }
  [[nodiscard]] std::uint32_t most_local() const noexcept { return most_; }

 private:
  using Curve = std::map<std::uint32_t, MeasuredStep>;  // by local batch
  using Place = std::array<std::uint32_t, 2>;           // nodes, replicas
  struct Sum {
    MeasuredStep sum;
    std::uint32_t count = 0;
  };
  [[nodiscard]] MeasuredStep between_places(double nodes, double replicas, double local) const;

  std::map<std::string, Curve> placements_;
  std::map<Place, std::map<std::uint32_t, Sum>> sums_;
  std::map<Place, Curve> interpolated_;
  std::map<std::uint32_t, std::map<std::uint32_t, Curve>> grid_;  // by nodes, then replicas
  std::uint32_t least_ = 0, most_ = 0;
};

/// By application, of pollux/placements.csv, pollux/scalability.csv and
/// conformance/pollux_interpolated.csv.gz.
[[nodiscard]] Result<std::map<std::string, StepTables>> read_step_tables(
    const std::filesystem::path& data);

}  // namespace starling
