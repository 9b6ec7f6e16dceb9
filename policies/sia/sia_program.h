// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "policies/programs/integer.h"
#include "topology/demand.h"

namespace starling {

/// The program that Sia (SOSP 2023, section 3.4) solves at each round: which job runs by which
/// configuration, which is a number of GPUs of one type.
struct SiaProblem {
  /// What there is of a GPU type.
  struct Type {
    std::uint32_t gpus = 0;
    Demand beside = {};                               ///< CPUs and memory left on its servers
    bool counts_cpus = false, counts_memory = false;  ///< all of its servers say what they have
  };
  /// One configuration of a job.
  struct Choice {
    std::size_t type = 0;
    std::uint32_t gpus = 1;
    double goodput = 0;  ///< above 0; in a unit that is the same for all choices of a job
    friend bool operator==(const Choice&, const Choice&) = default;
  };
  struct Row {
    std::vector<Choice> choices;
    std::optional<std::size_t> now;  ///< of `choices`: how it runs
    double restart = 1;              ///< what all others keep of their goodput: it has to stop
    std::uint32_t least = 1;         ///< GPUs of its smallest size
    Demand each = {};                ///< that it needs with each GPU
    std::int32_t priority = 0;
  };
  std::vector<Type> types;
  std::vector<Row> rows;  ///< in the order in which equal ones go
};

/// What is minimised: the sum over jobs of (restart factor x goodput)^power, goodputs of a job in
/// units in which the lowest of its row is its `least`, and `idle` for each that does not run.
struct SiaObjective {
  double power = -0.5;  ///< below 0; Sia's p
  double idle = 1.1;    ///< above 1; Sia's lambda
};

struct SiaAnswer {
  std::vector<std::optional<std::size_t>> taken;  ///< by row, of its choices; nothing: it waits
  bool proven = true;  ///< within kSiaGap; false: the search was cut off (IntegerAnswer)
};

/// As Sia's own solver was told: a hundredth of a percent.
inline constexpr double kSiaGap = 1e-4;
/// Of branch and bound: about a millisecond each where there are 300 jobs and 512 GPUs.
inline constexpr std::uint32_t kSiaNodes = 50;

/// What a choice adds to the objective. Not above kMostSiaCost.
inline constexpr double kMostSiaCost = 3000;
[[nodiscard]] double sia_cost(const SiaProblem::Row& row, std::size_t choice,
                              const SiaObjective& objective);

/// solve_integer(), or for tests another.
using IntegerSolver =
    std::function<Result<IntegerAnswer>(const LinearProgram&, const IntegerSearch&)>;

/// One choice for each row or none, no more of any type than there is, at the least cost: for the
/// rows of the highest priority first, for others with what those leave. Rows that are equal in all
/// but their place are served in turn, each no worse than the next. Fails as the solver does.
[[nodiscard]] Result<SiaAnswer> solve_sia(const SiaProblem& problem, const SiaObjective& objective,
                                          const IntegerSolver& solver = solve_integer);

}  // namespace starling
