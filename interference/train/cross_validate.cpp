// SPDX-License-Identifier: Apache-2.0
#include "interference/train/cross_validate.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/check.h"
#include "base/rng.h"
#include "interference/learned/pair_model.h"

namespace starling {
namespace {

constexpr const char* kPrefix = "fold.";

// By row, the folds that it is held out of.
std::vector<std::vector<std::uint32_t>> folds_of(const PairData& data, FoldKind kind,
                                                 std::uint32_t folds, std::uint64_t seed,
                                                 std::uint32_t& count) {
  std::vector<std::vector<std::uint32_t>> out(data.rows.size());
  if (kind == FoldKind::pairs) {
    const auto of_pair = random_folds(data.pairs, folds, seed);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {of_pair[data.rows[i].pair]};
    count = folds;
    return out;
  }
  std::vector<std::string> names;
  const auto index = [&](std::uint32_t type) {
    const std::string& name =
        kind == FoldKind::types ? data.types[type].name : data.types[type].model;
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) names.push_back(name);
    return static_cast<std::uint32_t>(at - names.begin());
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {index(data.rows[i].victim)};
    const std::uint32_t other = index(data.rows[i].other);
    if (other != out[i][0]) out[i].push_back(other);
  }
  count = static_cast<std::uint32_t>(names.size());
  return out;
}

/// Mean of each set, and what each type adds in it as victim and as neighbour: ridge regression,
/// one unknown after the other.
class Additive {
 public:
  Additive(const PairData& data, const std::vector<bool>& used) : types_(data.types.size()) {
    const std::size_t cells = data.sets.size() * types_;
    mean_.resize(data.sets.size());
    victim_.resize(cells);
    other_.resize(cells);
    std::vector<double> rows(data.sets.size(), 1e-9), of_victim(cells, kPrior),
        of_other(cells, kPrior);
    const auto each = [&](const auto& call) {
      for (std::size_t i = 0; i < used.size(); ++i) {
        if (used[i]) call(data.rows[i], static_cast<double>(data.rows[i].speed));
      }
    };
    each([&](const PairRow& row, double speed) {
      mean_[row.set] += speed;
      rows[row.set] += 1;
      of_victim[at(row.set, row.victim)] += 1;
      of_other[at(row.set, row.other)] += 1;
    });
    for (std::size_t s = 0; s < mean_.size(); ++s) mean_[s] /= rows[s];
    const auto fit = [&](std::vector<double>& effect, const std::vector<double>& count,
                         std::uint32_t PairRow::*type) {
      std::vector<double> sum(cells);
      each([&](const PairRow& row, double speed) {
        const std::size_t cell = at(row.set, row.*type);
        sum[cell] += speed - guess(row) + effect[cell];
      });
      for (std::size_t c = 0; c < cells; ++c) effect[c] = sum[c] / count[c];
    };
    for (int round = 0; round < kRounds; ++round) {
      fit(victim_, of_victim, &PairRow::victim);
      fit(other_, of_other, &PairRow::other);
    }
  }

  [[nodiscard]] double mean(const PairRow& row) const { return mean_[row.set]; }
  [[nodiscard]] double guess(const PairRow& row) const {
    return mean_[row.set] + victim_[at(row.set, row.victim)] + other_[at(row.set, row.other)];
  }

 private:
  static constexpr double kPrior = 0.5;  // rows at no effect
  static constexpr int kRounds = 50;
  [[nodiscard]] std::size_t at(std::uint32_t set, std::uint32_t type) const {
    return set * types_ + type;
  }
  std::size_t types_;
  std::vector<double> mean_, victim_, other_;
};

}  // namespace

std::vector<std::uint32_t> random_folds(std::uint32_t pairs, std::uint32_t folds,
                                        std::uint64_t seed) {
  std::vector<std::uint32_t> out(pairs);
  for (std::uint32_t i = 0; i < pairs; ++i) out[i] = i % folds;
  Rng rng(seed, 0xf01d);
  for (std::uint32_t i = pairs; i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

HeldOut cross_validate(const PairData& data, FoldKind kind, std::uint32_t folds,
                       const PairTrainOptions& options,
                       const std::function<void(std::uint32_t, std::uint32_t)>& step) {
  std::uint32_t count = 0;
  const auto held = folds_of(data, kind, folds, options.seed, count);
  HeldOut out{std::vector<PairGuess>(data.rows.size()),
              std::vector<std::uint32_t>(data.rows.size()), std::vector<double>(data.rows.size()),
              std::vector<double>(data.rows.size())};
  for (std::uint32_t fold = 0; fold < count; ++fold) {
    std::vector<bool> used(data.rows.size());
    std::set<std::string> types, models;
    for (std::size_t i = 0; i < used.size(); ++i) {
      used[i] = std::find(held[i].begin(), held[i].end(), fold) == held[i].end();
      if (!used[i]) continue;
      const PairRow& row = data.rows[i];
      for (const std::uint32_t t : {row.victim, row.other}) {
        types.insert(data.types[t].name);
        models.insert(data.types[t].model);
      }
    }
    const Additive additive(data, used);
    Weights weights;
    train_pairs(data, used, options, kPrefix, weights);
    const auto model = PairModel::make(weights, kPrefix);
    STARLING_CHECK(model.ok());
    const auto as_seen = [&](PairType type) {
      if (!types.contains(type.name)) type.name.clear();
      if (!models.contains(type.model)) type.model.clear();
      return type;
    };
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i]) continue;
      const PairRow& row = data.rows[i];
      out.guesses[i] = model.value().guess(as_seen(data.types[row.victim]),
                                           as_seen(data.types[row.other]), row.set);
      out.fold[i] = fold;
      out.mean[i] = additive.mean(row);
      out.additive[i] = additive.guess(row);
    }
    if (step) step(fold + 1, count);
  }
  return out;
}

}  // namespace starling
