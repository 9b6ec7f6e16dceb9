// SPDX-License-Identifier: Apache-2.0
#include "interference/train/memory_fit.h"

#include <torch/nn/functional/activation.h>
#include <torch/nn/functional/loss.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "interference/pairs/evaluate.h"
#include "interference/train/cross_validate.h"

namespace starling {
namespace {

using Index = std::int64_t;
constexpr std::uint32_t kSteps = 800;
constexpr double kStepSize = 0.05;
constexpr double kUsualGib = 3;

torch::Tensor indices(const std::vector<Index>& values) {
  torch::Tensor out = torch::empty({static_cast<Index>(values.size())}, torch::kLong);
  std::copy(values.begin(), values.end(), out.data_ptr<Index>());
  return out;
}

torch::Tensor floats(const std::vector<float>& values) {
  torch::Tensor out = torch::empty({static_cast<Index>(values.size())});
  std::copy(values.begin(), values.end(), out.data_ptr<float>());
  return out;
}

}  // namespace

double capacity_gib(const std::string& set) {
  return set.find("k80") != std::string::npos ? 12 : 16;
}

double MemoryFit::score(double one_gib, double other_gib, double capacity) const {
  return steepness * (std::log2(capacity) - std::log2(one_gib + other_gib) + margin);
}

MemoryFit fit_memory(const PairData& data, const std::vector<bool>& used) {
  torch::set_num_threads(1);
  const PairTable table = pair_table(data);
  std::vector<Index> one, other, model(table.model_of.begin(), table.model_of.end());
  std::vector<float> capacity, ran;
  for (std::size_t i = 0; i < data.fits.size(); ++i) {
    if (!used.empty() && !used[i]) continue;
    one.push_back(data.fits[i].one);
    other.push_back(data.fits[i].other);
    capacity.push_back(static_cast<float>(std::log2(capacity_gib(data.sets[data.fits[i].set]))));
    ran.push_back(data.fits[i].ran ? 1 : 0);
  }
  const torch::Tensor a = indices(one), b = indices(other), of = indices(model);
  const torch::Tensor room = floats(capacity), answer = floats(ran);
  const torch::Tensor batch = floats(table.scaled_configs());
  const auto models = static_cast<Index>(table.models.size());
  torch::Tensor base = torch::full({models}, std::log2(kUsualGib)).set_requires_grad(true);
  torch::Tensor slope = torch::full({models}, 0.0F).set_requires_grad(true);
  torch::Tensor own = torch::zeros({static_cast<Index>(data.types.size())}).set_requires_grad(true);
  torch::Tensor steep = torch::full({1}, 2.0F).set_requires_grad(true);  // log
  torch::Tensor margin = torch::zeros({1}).set_requires_grad(true);
  torch::optim::Adam optimizer({base, slope, own, steep, margin},
                               torch::optim::AdamOptions(kStepSize));
  const auto log_memory = [&] {
    return base.index_select(0, of) +
           torch::nn::functional::softplus(slope).index_select(0, of) * batch + own;
  };
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    const torch::Tensor gib = torch::exp2(log_memory());
    const torch::Tensor need = torch::log2(gib.index_select(0, a) + gib.index_select(0, b));
    const torch::Tensor score = torch::exp(steep) * (room - need + margin);
    const torch::Tensor loss =
        torch::nn::functional::binary_cross_entropy_with_logits(
            score, answer,
            torch::nn::functional::BinaryCrossEntropyWithLogitsFuncOptions().reduction(
                torch::kSum)) +
        2.0 * own.square().sum() + 0.1 * (base - std::log2(kUsualGib)).square().sum() +
        0.1 * slope.square().sum() + 0.1 * margin.square().sum();
    loss.backward();
    optimizer.step();
  }
  const torch::NoGradGuard no_grad;
  const torch::Tensor gib = torch::exp2(log_memory());
  MemoryFit out;
  for (Index t = 0; t < gib.numel(); ++t)
    out.memory_gib.push_back(static_cast<double>(gib.data_ptr<float>()[t]));
  out.steepness = std::exp(static_cast<double>(steep.item<float>()));
  out.margin = static_cast<double>(margin.item<float>());
  return out;
}

double held_out_auc(const PairData& data, std::uint32_t folds, std::uint64_t seed) {
  const auto of = random_folds(static_cast<std::uint32_t>(data.fits.size()), folds, seed);
  std::vector<std::pair<double, bool>> scores;
  for (std::uint32_t fold = 0; fold < folds; ++fold) {
    std::vector<bool> used(data.fits.size());
    for (std::size_t i = 0; i < used.size(); ++i) used[i] = of[i] != fold;
    const MemoryFit fit = fit_memory(data, used);
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i]) continue;
      const PairFit& pair = data.fits[i];
      scores.emplace_back(fit.score(fit.memory_gib[pair.one], fit.memory_gib[pair.other],
                                    capacity_gib(data.sets[pair.set])),
                          pair.ran);
    }
  }
  return area_under_curve(scores);
}

}  // namespace starling
