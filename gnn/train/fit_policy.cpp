// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/fit_policy.h"

#include <torch/nn/functional/activation.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/rng.h"
#include "gnn/train/policy_model.h"

namespace starling {
namespace {

using Index = std::int64_t;
using Rows = std::vector<std::uint32_t>;

/// Batches of decisions on one partition each, in an order drawn from `rng`.
std::vector<Rows> batches(const SeenDecisions& seen, const Rows& rows, std::uint32_t size,
                          Rng& rng) {
  Rows mixed = rows;
  for (std::size_t i = mixed.size(); i > 1; --i)
    std::swap(mixed[i - 1], mixed[rng.below(static_cast<std::uint32_t>(i))]);
  std::map<std::uint32_t, Rows> open;
  std::vector<Rows> out;
  for (const std::uint32_t row : mixed) {
    Rows& some = open[seen.all[row].partition];
    some.push_back(row);
    if (some.size() < size) continue;
    out.push_back(std::move(some));
    some.clear();
  }
  for (auto& [partition, some] : open)
    if (!some.empty()) out.push_back(std::move(some));
  for (std::size_t i = out.size(); i > 1; --i)
    std::swap(out[i - 1], out[rng.below(static_cast<std::uint32_t>(i))]);
  return out;
}

class Fitting {
 public:
  Fitting(PolicyModel& model, PolicyModel& before, const SeenDecisions& seen,
          const FitPolicyOptions& options)
      : model_(model), before_(before), seen_(seen), options_(options) {}

  /// Loss, and how many decisions take the best.
  std::pair<torch::Tensor, double> loss(const Rows& rows) {
    const torch::Tensor given = model_.scores(seen_, rows);
    const Index decisions = given.size(0), options = given.size(1);
    torch::Tensor target = torch::zeros({decisions, options});
    torch::Tensor known = torch::zeros({decisions, options});
    for (Index d = 0; d < decisions; ++d) {
      const SeenDecision& one = seen_.all[rows[static_cast<std::size_t>(d)]];
      for (Index o = 0; o < one.options; ++o) {
        const float value = one.target[static_cast<std::size_t>(o)];
        target.data_ptr<float>()[d * options + o] = std::max(value, 0.0F);
        known.data_ptr<float>()[d * options + o] = value >= 0 ? 1 : 0;
      }
    }
    const torch::Tensor scores = given.masked_fill(known == 0, -1e9);
    const torch::Tensor logs = torch::log_softmax(scores, 1);
    const torch::Tensor chances = logs.exp();
    torch::Tensor loss;
    torch::Tensor best;
    if (options_.target == FitPolicyOptions::probability) {
      loss = -(target * logs.clamp_min(-30)).sum(1).mean();
      best = target.argmax(1);
    } else {
      const torch::Tensor units = torch::clamp_max(target / options_.scale_h, options_.cut);
      loss = (chances * units).sum(1).mean();
      best = (target + (1 - known) * 1e9).argmin(1);
      torch::Tensor old;
      {
        const torch::NoGradGuard no_gradient;
        old = torch::log_softmax(before_.scores(seen_, rows).masked_fill(known == 0, -1e9), 1);
      }
      loss = loss + options_.kl_weight * (chances * (logs - old)).sum(1).mean();
    }
    loss = loss + options_.entropy * (chances * logs.clamp_min(-30)).sum(1).mean();
    const double right = (scores.argmax(1) == best).sum().item<double>();
    return {loss, right};
  }
  std::pair<double, double> check(const std::vector<Rows>& all) {
    const torch::NoGradGuard no_gradient;
    double sum = 0, right = 0, count = 0;
    for (const Rows& rows : all) {
      const auto [value, good] = loss(rows);
      sum += value.item<double>() * static_cast<double>(rows.size());
      right += good;
      count += static_cast<double>(rows.size());
    }
    return {sum / count, right / count};
  }

 private:
  PolicyModel &model_, &before_;
  const SeenDecisions& seen_;
  const FitPolicyOptions& options_;
};

}  // namespace

Result<FittedPolicy> fit_policy(const TrainableSystem& system, const Weights& start,
                                const SeenDecisions& seen, const FitPolicyOptions& options) {
  torch::set_num_threads(1);  // sums over threads would come in another order each time
  const auto made = system.training.model(start);
  if (!made) return made.error();
  const auto old = system.training.model(start);
  PolicyModel &model = *made.value(), &before = *old.value();
  Rows train, held;
  for (std::uint32_t i = 0; i < seen.all.size(); ++i) (i % 10 == 9 ? held : train).push_back(i);
  if (held.empty()) return Error{Errc::invalid, "fit: fewer than ten decisions were seen"};
  Rng rng(options.seed, 0xf17);
  Fitting fit(model, before, seen, options);
  const std::vector<Rows> held_batches = batches(seen, held, options.batch, rng);
  FittedPolicy out;
  out.decisions = seen.all.size();
  std::tie(out.loss_before, out.right_before) = fit.check(held_batches);
  torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(options.rate));
  for (std::uint32_t epoch = 0; epoch < options.epochs; ++epoch) {
    const double turn = std::numbers::pi * epoch / options.epochs;
    for (auto& group : adam.param_groups())
      group.options().set_lr(options.rate * (0.05 + 0.475 * (1 + std::cos(turn))));
    double sum = 0, count = 0;
    for (const Rows& rows : batches(seen, train, options.batch, rng)) {
      adam.zero_grad();
      const torch::Tensor loss = fit.loss(rows).first;
      loss.backward();
      adam.step();
      sum += loss.item<double>();
      ++count;
    }
    if (options.progress) options.progress(epoch, sum / count);
  }
  std::tie(out.loss, out.right) = fit.check(held_batches);
  out.weights = model.weights();
  for (const auto& [key, text] : start.notes) out.weights.notes.try_emplace(key, text);
  return out;
}

}  // namespace starling
