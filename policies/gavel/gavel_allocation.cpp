// SPDX-License-Identifier: Apache-2.0
#include "policies/gavel/gavel_allocation.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "policies/programs/lp.h"

namespace starling {
namespace {

using Row = GavelProblem::Row;

/// x[job, type] as variables, with the constraints that every objective shares.
class Program {
 public:
  explicit Program(const GavelProblem& problem) : problem_(problem), types_(problem.gpus.size()) {
    for (const Row& row : problem.rows) {
      for (std::size_t t = 0; t < types_; ++t) {
        const bool runs = row.speed[t] > 0 && row.gpus <= problem.gpus[t];
        lp.variables.push_back({0, runs ? 1.0 : 0.0});
      }
    }
    for (std::size_t t = 0; t < types_; ++t) {
      LinearProgram::Row fits;
      fits.high = problem.gpus[t];
      for (std::size_t i = 0; i < problem.rows.size(); ++i) {
        const Row& row = problem.rows[i];
        fits.terms.emplace_back(x(i, t), double{1} * row.gpus * row.jobs);
      }
      lp.rows.push_back(std::move(fits));
    }
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      LinearProgram::Row once;
      once.high = 1;
      for (std::size_t t = 0; t < types_; ++t) once.terms.emplace_back(x(i, t), 1.0);
      lp.rows.push_back(std::move(once));
    }
  }

  [[nodiscard]] std::uint32_t x(std::size_t job, std::size_t type) const {
    return static_cast<std::uint32_t>(job * types_ + type);
  }
  /// factor * speed of a job under x, as a row that must be at least `low`.
  LinearProgram::Row& speed_at_least(std::size_t job, double factor, double low) {
    LinearProgram::Row row;
    row.low = low;
    for (std::size_t t = 0; t < types_; ++t) {
      const double speed = problem_.rows[job].speed[t];
      if (speed > 0) row.terms.emplace_back(x(job, t), factor * speed);
    }
    lp.rows.push_back(std::move(row));
    return lp.rows.back();
  }
  [[nodiscard]] bool runs_somewhere(std::size_t job) const {
    for (std::size_t t = 0; t < types_; ++t) {
      if (lp.variables[x(job, t)].most > 0) return true;
    }
    return false;
  }
  [[nodiscard]] std::optional<GavelAllocation> solve(LpPoint point) const {
    const auto solved = solve_lp(lp, point);
    if (!solved) return std::nullopt;
    GavelAllocation out(problem_.rows.size(), std::vector<double>(types_));
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t t = 0; t < types_; ++t) out[i][t] = solved.value()[x(i, t)];
    }
    return out;
  }

  LinearProgram lp;

 private:
  const GavelProblem& problem_;
  std::size_t types_;
};

/// Everybody an even share of every type: what is left when a program has no answer.
GavelAllocation even(const GavelProblem& problem) {
  GavelAllocation out(problem.rows.size(), std::vector<double>(problem.gpus.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Row& row = problem.rows[i];
    double sum = 0;
    for (std::size_t t = 0; t < problem.gpus.size(); ++t) {
      if (row.speed[t] <= 0) continue;
      out[i][t] = static_cast<double>(problem.gpus[t]) /
                  static_cast<double>(problem.rows.size() * row.gpus);
      sum += out[i][t];
    }
    for (double& share : out[i]) share /= std::max(sum, 1.0);
  }
  return out;
}

/// Is there an allocation that gives every job at least `speed` of it?
std::optional<GavelAllocation> with_speeds(const GavelProblem& problem,
                                           const std::vector<double>& speed, LpPoint point) {
  Program program(problem);
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    if (!program.runs_somewhere(i)) continue;
    const double best =
        *std::max_element(problem.rows[i].speed.begin(), problem.rows[i].speed.end());
    if (speed[i] > best) return std::nullopt;
    // Scaled, so that rows of fast and of slow jobs are alike to the solver.
    program.speed_at_least(i, 1 / best, speed[i] / best);
  }
  return program.solve(point);
}

GavelAllocation smallest(const GavelProblem& problem, double low, double high, double precision,
                         const GavelNeeds& needs) {
  const auto goal = smallest_goal(low, high, precision, [&](double g) {
    return with_speeds(problem, needs(g), LpPoint::corner).has_value();
  });
  const auto found = goal ? with_speeds(problem, needs(*goal), LpPoint::middle) : std::nullopt;
  return found ? *found : even(problem);
}

/// Are all types the same to every job, and can every job use each?
bool types_are_alike(const GavelProblem& problem) {
  const std::uint32_t fewest = *std::min_element(problem.gpus.begin(), problem.gpus.end());
  return std::all_of(problem.rows.begin(), problem.rows.end(), [&](const Row& row) {
    return row.gpus <= fewest && row.speed.front() > 0 &&
           std::all_of(row.speed.begin(), row.speed.end(),
                       [&](double speed) { return speed == row.speed.front(); });
  });
}

/// Jobs of equal size and speeds are one row: their shares are equal where only speeds count, and a
/// program of tens of rows takes a tenth of the time of one of hundreds.
struct Grouped {
  GavelProblem problem;
  std::vector<std::size_t> row_of;  // by row of the original
};
Grouped group(const GavelProblem& problem) {
  Grouped out;
  out.problem.gpus = problem.gpus;
  std::map<std::pair<std::uint32_t, std::vector<double>>, std::size_t> known;
  for (const Row& row : problem.rows) {
    const auto [at, fresh] = known.try_emplace({row.gpus, row.speed}, out.problem.rows.size());
    if (fresh) {
      out.problem.rows.push_back(row);
    } else {
      out.problem.rows[at->second].jobs += row.jobs;
    }
    out.row_of.push_back(at->second);
  }
  return out;
}
GavelAllocation ungroup(const Grouped& grouped, const GavelAllocation& found) {
  GavelAllocation out;
  for (const std::size_t row : grouped.row_of) out.push_back(found[row]);
  return out;
}

std::optional<GavelAllocation> max_min_of(const GavelProblem& problem) {
  Program program(problem);
  const auto least = static_cast<std::uint32_t>(program.lp.variables.size());
  program.lp.variables.push_back({1, LinearProgram::kInfinity});
  const double all = std::accumulate(problem.gpus.begin(), problem.gpus.end(), 0.0);
  bool any = false;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    if (!program.runs_somewhere(i)) continue;
    const Row& row = problem.rows[i];
    double even_speed = 0;
    for (std::size_t t = 0; t < problem.gpus.size(); ++t) {
      even_speed += row.speed[t] * problem.gpus[t] / all;
    }
    program.speed_at_least(i, row.gpus / even_speed, 0).terms.emplace_back(least, -1.0);
    any = true;
  }
  if (!any) return std::nullopt;
  return program.solve(LpPoint::middle);
}

/// Types that are alike are one: its answer, split as the GPUs are. Of all answers to the whole
/// program the one that favours no job.
std::optional<GavelAllocation> split_evenly(GavelProblem problem) {
  const std::vector<std::uint32_t> types = std::move(problem.gpus);
  const std::uint32_t all = std::accumulate(types.begin(), types.end(), 0U);
  problem.gpus = {all};
  for (Row& row : problem.rows) row.speed.resize(1);
  auto out = max_min_of(problem);
  if (!out) return std::nullopt;
  for (std::vector<double>& row : *out) {
    const double time = row.front();
    row.clear();
    for (const std::uint32_t gpus : types) row.push_back(time * gpus / all);
  }
  return out;
}

}  // namespace

double isolated_speed(const GavelProblem& problem, const Row& row) {
  const double share = 1.0 / static_cast<double>(std::max<std::size_t>(problem.rows.size(), 1));
  double time = 0;
  double speed = 0;
  for (std::size_t t = 0; t < problem.gpus.size(); ++t) {
    const double x = problem.gpus[t] * share / row.gpus;
    time += x;
    speed += x * row.speed[t];
  }
  return speed / std::max(time, 1.0);
}

GavelAllocation max_min_fairness(const GavelProblem& problem) {
  const Grouped grouped = group(problem);
  const bool alike = problem.gpus.size() > 1 && types_are_alike(grouped.problem);
  const auto found = alike ? split_evenly(grouped.problem) : max_min_of(grouped.problem);
  return found ? ungroup(grouped, *found) : even(problem);
}

std::optional<double> smallest_goal(double low, double high, double precision,
                                    const std::function<bool(double)>& feasible) {
  constexpr int kMost = 60;
  int tries = 0;
  while (!feasible(high)) {
    if (++tries > kMost) return std::nullopt;
    low = high;
    high *= 10;
  }
  while (low * precision < high && tries++ < 2 * kMost) {
    const double middle = (low + high) / 2;
    (feasible(middle) ? high : low) = middle;
  }
  return high;
}

GavelNeeds needs_for_finish_ratio(const GavelProblem& problem) {
  std::vector<double> fair;
  for (const Row& row : problem.rows) {
    fair.push_back(row.isolated_s + row.left / std::max(isolated_speed(problem, row), 1e-12));
  }
  return [&problem, fair = std::move(fair)](double ratio) {
    std::vector<double> out;
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      const double time = ratio * fair[i] - problem.rows[i].age_s;
      out.push_back(time > 0 ? problem.rows[i].left / time : LinearProgram::kInfinity);
    }
    return out;
  };
}

GavelNeeds needs_for_makespan(const GavelProblem& problem) {
  return [&problem](double time) {
    std::vector<double> out;
    for (const Row& row : problem.rows) out.push_back(row.left / time);
    return out;
  };
}

GavelAllocation finish_time_fairness(const GavelProblem& problem) {
  return smallest(problem, 0, 1, 1.002, needs_for_finish_ratio(problem));
}

GavelAllocation shortest_makespan(const GavelProblem& problem) {
  return smallest(problem, 100, 1e6, 1.05, needs_for_makespan(problem));
}

GavelAllocation max_throughput(const GavelProblem& problem) {
  const Grouped grouped = group(problem);
  Program program(grouped.problem);
  for (std::size_t i = 0; i < grouped.problem.rows.size(); ++i) {
    const Row& row = grouped.problem.rows[i];
    const double best = *std::max_element(row.speed.begin(), row.speed.end());
    if (best <= 0) continue;
    for (std::size_t t = 0; t < problem.gpus.size(); ++t) {
      program.lp.variables[program.x(i, t)].gain = row.speed[t] / best * row.gpus * row.jobs;
    }
  }
  const auto found = program.solve(LpPoint::middle);
  return found ? ungroup(grouped, *found) : even(problem);
}

}  // namespace starling
