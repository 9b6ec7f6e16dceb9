// SPDX-License-Identifier: Apache-2.0
#include "policies/gavel/kind_program.h"

#include <algorithm>
#include <map>

namespace starling {
namespace {

using Pair = GavelProblem::Pair;
using Row = GavelProblem::Row;

// More than these take seconds to solve; those with the least to gain are left out.
constexpr std::size_t kMostPairs = 1500;

/// How much faster than one job alone the two are on the type where that is most.
double gain(const KindProgram::Kind& a, const KindProgram::Kind& b, const Pair& pair) {
  double most = 0;
  for (std::size_t t = 0; t < pair.first_speed.size(); ++t) {
    if (pair.first_speed[t] <= 0 || (*a.speed)[t] <= 0 || (*b.speed)[t] <= 0) continue;
    most = std::max(most,
                    pair.first_speed[t] / (*a.speed)[t] + pair.second_speed[t] / (*b.speed)[t] - 1);
  }
  return most;
}

}  // namespace

KindProgram::KindProgram(const GavelProblem& problem)
    : problem_(problem), types_(problem.gpus.size()) {
  std::map<std::size_t, std::size_t> index;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    const Row& row = problem.rows[i];
    const auto [at, fresh] = index.try_emplace(row.kind, kinds.size());
    if (fresh) kinds.push_back({row.gpus, &row.speed, {}});
    kinds[at->second].rows.push_back(i);
  }
  for (const Pair& pair : problem.pairs) {
    const auto a = index.find(pair.first);
    const auto b = index.find(pair.second);
    if (a == index.end() || b == index.end()) continue;
    if (a == b && kinds[a->second].rows.size() < 2) continue;
    pairs.push_back({&pair, a->second, b->second, gain(kinds[a->second], kinds[b->second], pair)});
  }
  if (pairs.size() > kMostPairs) {
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Packed& x, const Packed& y) { return x.gain > y.gain; });
    pairs.resize(kMostPairs);
  }
  build();
}

LinearProgram::Row& KindProgram::speed_at_least(std::size_t kind, double factor, double low) {
  LinearProgram::Row row;
  row.low = low;
  for (std::size_t t = 0; t < types_; ++t) {
    const double speed = (*kinds[kind].speed)[t];
    if (speed > 0) row.terms.emplace_back(alone(kind, t), factor * speed);
  }
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    for (std::size_t t = 0; t < types_; ++t) {
      const double speed = (pairs[p].a == kind ? pairs[p].pair->first_speed[t] : 0) +
                           (pairs[p].b == kind ? pairs[p].pair->second_speed[t] : 0);
      if (speed > 0) row.terms.emplace_back(together(p, t), factor * speed);
    }
  }
  lp.rows.push_back(std::move(row));
  return lp.rows.back();
}

void KindProgram::maximise_throughput() {
  for (auto& variable : lp.variables) variable.gain = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (std::size_t t = 0; t < types_; ++t)
      lp.variables[alone(k, t)].gain = weight(k) * (*kinds[k].speed)[t];
  }
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    for (std::size_t t = 0; t < types_; ++t) {
      lp.variables[together(p, t)].gain = weight(pairs[p].a) * pairs[p].pair->first_speed[t] +
                                          weight(pairs[p].b) * pairs[p].pair->second_speed[t];
    }
  }
}

double KindProgram::best(std::size_t kind) const {
  return *std::max_element(kinds[kind].speed->begin(), kinds[kind].speed->end());
}

std::optional<KindProgram::Times> KindProgram::solve() {
  const auto solved = solve_lp(lp, LpPoint::corner);
  if (!solved) return std::nullopt;
  values = solved.value();
  Times out{std::vector(kinds.size(), std::vector<double>(types_)),
            std::vector(pairs.size(), std::vector<double>(types_))};
  for (std::size_t t = 0; t < types_; ++t) {
    for (std::size_t k = 0; k < kinds.size(); ++k) out.alone[k][t] = values[alone(k, t)];
    for (std::size_t p = 0; p < pairs.size(); ++p) out.together[p][t] = values[together(p, t)];
  }
  return out;
}

void KindProgram::build() {
  for (const Kind& kind : kinds) {
    for (std::size_t t = 0; t < types_; ++t) {
      const bool runs = (*kind.speed)[t] > 0 && kind.gpus <= problem_.gpus[t];
      lp.variables.push_back({0, runs ? kind.jobs() : 0.0});
    }
  }
  for (const Packed& p : pairs) {
    for (std::size_t t = 0; t < types_; ++t) {
      const bool runs = p.pair->first_speed[t] > 0 && p.pair->second_speed[t] > 0 &&
                        kinds[p.a].gpus <= problem_.gpus[t];
      lp.variables.push_back({0, runs ? LinearProgram::kInfinity : 0.0});
    }
  }
  for (std::size_t t = 0; t < types_; ++t) {
    LinearProgram::Row fits;
    fits.high = problem_.gpus[t];
    for (std::size_t k = 0; k < kinds.size(); ++k)
      fits.terms.emplace_back(alone(k, t), kinds[k].gpus);
    for (std::size_t p = 0; p < pairs.size(); ++p)
      fits.terms.emplace_back(together(p, t), kinds[pairs[p].a].gpus);
    lp.rows.push_back(std::move(fits));
  }
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    LinearProgram::Row once;
    once.high = kinds[k].jobs();
    for (std::size_t t = 0; t < types_; ++t) once.terms.emplace_back(alone(k, t), 1.0);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const double mine = (pairs[p].a == k ? 1 : 0) + (pairs[p].b == k ? 1 : 0);
      for (std::size_t t = 0; mine > 0 && t < types_; ++t)
        once.terms.emplace_back(together(p, t), mine);
    }
    lp.rows.push_back(std::move(once));
  }
}

}  // namespace starling
