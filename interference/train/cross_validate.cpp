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
              std::vector<std::uint32_t>(data.rows.size()), std::vector<double>(data.rows.size())};
  for (std::uint32_t fold = 0; fold < count; ++fold) {
    std::vector<bool> used(data.rows.size());
    std::set<std::string> types, models;
    std::vector<double> sum(data.sets.size()), rows(data.sets.size(), 1e-9);
    for (std::size_t i = 0; i < used.size(); ++i) {
      used[i] = std::find(held[i].begin(), held[i].end(), fold) == held[i].end();
      if (!used[i]) continue;
      const PairRow& row = data.rows[i];
      for (const std::uint32_t t : {row.victim, row.other}) {
        types.insert(data.types[t].name);
        models.insert(data.types[t].model);
      }
      sum[row.set] += static_cast<double>(row.speed);
      rows[row.set] += 1;
    }
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
      out.mean[i] = sum[row.set] / rows[row.set];
    }
    if (step) step(fold + 1, count);
  }
  return out;
}

}  // namespace starling
