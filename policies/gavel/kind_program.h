// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "policies/gavel/gavel_allocation.h"
#include "policies/programs/lp.h"

namespace starling {

/// The linear program of a GavelProblem over kinds of jobs: how long each kind runs alone, and each
/// pair of kinds together, on each type. Its rows at first say that no type has more GPUs than it
/// has and no job more time than there is; goals add theirs. `problem` outlives it.
class KindProgram {
 public:
  struct Kind {
    std::uint32_t gpus = 1;
    const std::vector<double>* speed = nullptr;
    std::vector<std::size_t> rows;  ///< of the problem
    [[nodiscard]] auto jobs() const { return static_cast<double>(rows.size()); }
  };
  struct Packed {
    const GavelProblem::Pair* pair;
    std::size_t a, b;  ///< in kinds
    double gain;       ///< over one job alone
  };
  /// Time of each kind alone, and of each pair of kinds, by type: in jobs, and in pairs of jobs.
  struct Times {
    std::vector<std::vector<double>> alone, together;
  };

  explicit KindProgram(const GavelProblem& problem);

  /// factor * speed of all jobs of a kind, as a row that must be at least `low`.
  LinearProgram::Row& speed_at_least(std::size_t kind, double factor, double low);
  /// The gain is the sum of all speeds, each in units of the job's fastest alone, times its GPUs.
  void maximise_throughput();
  /// Speed alone on its fastest type.
  [[nodiscard]] double best(std::size_t kind) const;
  /// Nothing: no times satisfy all rows.
  [[nodiscard]] std::optional<Times> solve();

  std::vector<Kind> kinds;
  std::vector<Packed> pairs;  ///< those with most to gain, if there are very many
  LinearProgram lp;
  std::vector<double> values;  ///< of the last solve()

 private:
  [[nodiscard]] std::uint32_t alone(std::size_t kind, std::size_t type) const {
    return static_cast<std::uint32_t>(kind * types_ + type);
  }
  [[nodiscard]] std::uint32_t together(std::size_t pair, std::size_t type) const {
    return static_cast<std::uint32_t>((kinds.size() + pair) * types_ + type);
  }
  [[nodiscard]] double weight(std::size_t kind) const {
    return best(kind) > 0 ? kinds[kind].gpus / best(kind) : 0;
  }
  void build();

  const GavelProblem& problem_;
  std::size_t types_;
};

}  // namespace starling
