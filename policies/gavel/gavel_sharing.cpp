// SPDX-License-Identifier: Apache-2.0
#include "policies/gavel/gavel_sharing.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "policies/gavel/kind_program.h"

namespace starling {
namespace {

using Pair = GavelProblem::Pair;
using Row = GavelProblem::Row;

/// The jobs of a kind, each as long as its part, laid end to end: walks along them.
class Line {
 public:
  Line(const std::vector<std::size_t>& rows, const std::vector<double>& part, double from)
      : rows_(rows), part_(part), left_(part[rows.front()]) {
    while (from > 0) {
      const double step = std::min(from, left_);
      advance(step);
      from -= std::max(step, 1e-12);
    }
  }
  [[nodiscard]] std::size_t row() const { return rows_[at_]; }
  [[nodiscard]] double left() const { return std::max(left_, 1e-9); }
  void advance(double by) {
    left_ -= by;
    while (left_ < 1e-9 && at_ + 1 < rows_.size()) left_ += part_[rows_[++at_]];
  }

 private:
  const std::vector<std::size_t>& rows_;
  const std::vector<double>& part_;
  std::size_t at_ = 0;
  double left_;
};

/// Each pair of kinds becomes few pairs of jobs, of large shares: a job with a little of many would
/// never be first in any round.
/// `part[i]`: what of its kind's time row i gets. They add up to 1 in every kind.
GavelShares split(const GavelProblem& problem, const KindProgram& program,
                  const KindProgram::Times& found, const std::vector<double>& part) {
  constexpr double kNothing = 1e-9;
  const std::size_t types = problem.gpus.size();
  GavelShares out;
  out.alone.assign(problem.rows.size(), std::vector<double>(types));
  std::vector<double> total(problem.rows.size());
  for (std::size_t k = 0; k < program.kinds.size(); ++k) {
    for (const std::size_t i : program.kinds[k].rows) {
      for (std::size_t t = 0; t < types; ++t) {
        out.alone[i][t] = found.alone[k][t] * part[i];
        total[i] += out.alone[i][t];
      }
    }
  }
  for (std::size_t p = 0; p < program.pairs.size(); ++p) {
    const auto& times = found.together[p];
    if (std::none_of(times.begin(), times.end(), [&](double y) { return y > kNothing; })) continue;
    const KindProgram::Kind& a = program.kinds[program.pairs[p].a];
    const KindProgram::Kind& b = program.kinds[program.pairs[p].b];
    const auto share_out = [&](std::size_t i, std::size_t j, double share) {
      auto& both = out.together.try_emplace(std::minmax(i, j), types).first->second;
      for (std::size_t t = 0; t < types; ++t) {
        const double time = times[t] > kNothing ? times[t] * share : 0;
        both[t] += time;
        total[i] += time;
        total[j] += time;
      }
    };
    // Of one kind: everybody's part in a row, the first half of it beside the second.
    Line first(a.rows, part, 0);
    Line second(b.rows, part, &a == &b ? 0.5 : 0);
    const double end = &a == &b ? 0.5 : 1;
    const double scale = &a == &b ? 2 : 1;
    for (double at = 0; at < end - 1e-9;) {
      const double step = std::min({first.left(), second.left(), end - at});
      if (first.row() != second.row()) share_out(first.row(), second.row(), step * scale);
      first.advance(step);
      second.advance(step);
      at += step;
    }
  }
  for (std::size_t i = 0; i < total.size(); ++i) {
    for (double& time : out.alone[i]) time /= std::max(total[i], 1.0);
  }
  for (auto& [rows, times] : out.together) {
    for (double& time : times) time /= std::max({total[rows.first], total[rows.second], 1.0});
  }
  return out;
}

std::vector<double> even_parts(const GavelProblem& problem, const KindProgram& program) {
  std::vector<double> part(problem.rows.size());
  for (const KindProgram::Kind& kind : program.kinds) {
    for (const std::size_t i : kind.rows) part[i] = 1 / kind.jobs();
  }
  return part;
}

std::optional<GavelShares> max_min(const GavelProblem& problem) {
  KindProgram program(problem);
  const auto least = static_cast<std::uint32_t>(program.lp.variables.size());
  program.lp.variables.push_back({1, LinearProgram::kInfinity});
  const double all = std::accumulate(problem.gpus.begin(), problem.gpus.end(), 0.0);
  bool any = false;
  for (std::size_t k = 0; k < program.kinds.size(); ++k) {
    const KindProgram::Kind& kind = program.kinds[k];
    if (program.best(k) <= 0) continue;
    double even_speed = 0;
    for (std::size_t t = 0; t < problem.gpus.size(); ++t)
      even_speed += (*kind.speed)[t] * problem.gpus[t] / all;
    program.speed_at_least(k, kind.gpus / even_speed / kind.jobs(), 0)
        .terms.emplace_back(least, -1.0);
    any = true;
  }
  if (!any || !program.solve()) return std::nullopt;
  // What the minimum leaves over goes where most is done with it.
  const double reached = program.values[least];
  program.lp.rows.push_back({{{least, 1.0}}, reached * (1 - 1e-6), LinearProgram::kInfinity});
  program.maximise_throughput();
  const auto found = program.solve();
  if (!found) return std::nullopt;
  return split(problem, program, *found, even_parts(problem, program));
}

std::optional<GavelShares> most_throughput(const GavelProblem& problem) {
  KindProgram program(problem);
  program.maximise_throughput();
  const auto found = program.solve();
  if (!found) return std::nullopt;
  return split(problem, program, *found, even_parts(problem, program));
}

std::optional<GavelShares> smallest(const GavelProblem& problem, double low, double high,
                                    double precision, const GavelNeeds& needs) {
  const KindProgram base(problem);
  KindProgram program = base;
  std::optional<KindProgram::Times> found;
  std::vector<double> part;
  const auto feasible = [&](double goal) {
    const std::vector<double> need = needs(goal);
    program.lp = base.lp;
    std::vector<double> parts(need.size());
    for (std::size_t k = 0; k < program.kinds.size(); ++k) {
      const double best = program.best(k);
      if (best <= 0) continue;
      double sum = 0;
      for (const std::size_t i : program.kinds[k].rows) {
        if (need[i] > best) return false;
        sum += need[i];
      }
      for (const std::size_t i : program.kinds[k].rows)
        parts[i] = sum > 0 ? need[i] / sum : 1 / program.kinds[k].jobs();
      program.speed_at_least(k, 1 / best, sum / best);
    }
    program.maximise_throughput();
    auto now = program.solve();
    if (!now) return false;
    found = std::move(now);
    part = std::move(parts);
    return true;
  };
  const auto goal = smallest_goal(low, high, precision, feasible);
  if (!goal || !feasible(*goal)) return std::nullopt;
  return split(problem, program, *found, part);
}

GavelShares in_order(const GavelProblem& problem) {
  GavelShares out{fifo_aware(problem), {}};
  const std::size_t types = problem.gpus.size();
  std::map<std::pair<std::size_t, std::size_t>, const Pair*> by_kinds;
  for (const Pair& pair : problem.pairs)
    by_kinds.emplace(std::pair(pair.first, pair.second), &pair);
  std::map<std::size_t, std::size_t> hosts;  // row that runs alone, type
  std::vector<std::size_t> left_out;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    const auto& shares = out.alone[i];
    const auto at = std::find(shares.begin(), shares.end(), 1.0);
    if (at == shares.end()) {
      left_out.push_back(i);
    } else {
      hosts.emplace(i, static_cast<std::size_t>(at - shares.begin()));
    }
  }
  for (const std::size_t i : left_out) {
    const Row& row = problem.rows[i];
    auto best = hosts.end();
    double most = 1;
    for (auto host = hosts.begin(); host != hosts.end(); ++host) {
      const auto& [j, t] = *host;
      const Row& other = problem.rows[j];
      const bool swapped = other.kind > row.kind;
      const auto found = by_kinds.find(std::minmax(row.kind, other.kind));
      if (found == by_kinds.end() || row.speed[t] <= 0) continue;
      const double a = found->second->first_speed[t];
      const double b = found->second->second_speed[t];
      if (a <= 0 || b <= 0) continue;
      const double sum =
          swapped ? a / row.speed[t] + b / other.speed[t] : a / other.speed[t] + b / row.speed[t];
      if (sum <= most) continue;
      most = sum;
      best = host;
    }
    if (best == hosts.end()) continue;
    const auto [j, t] = *best;
    out.alone[j][t] = 0;
    out.together.try_emplace(std::minmax(i, j), types).first->second[t] = 1;
    hosts.erase(best);
  }
  return out;
}

}  // namespace

GavelShares share_gpus(const GavelProblem& problem, GavelObjective objective) {
  std::optional<GavelShares> found;
  switch (objective) {
    case GavelObjective::fifo:
      return in_order(problem);
    case GavelObjective::max_min_fairness:
      found = max_min(problem);
      break;
    case GavelObjective::finish_time_fairness:
      found = smallest(problem, 0, 1, 1.002, needs_for_finish_ratio(problem));
      break;
    case GavelObjective::makespan:
      found = smallest(problem, 100, 1e6, 1.05, needs_for_makespan(problem));
      break;
    case GavelObjective::throughput:
      found = most_throughput(problem);
      break;
  }
  if (found) return *std::move(found);
  return {max_min_fairness(problem), {}};
}

}  // namespace starling
