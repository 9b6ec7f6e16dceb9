// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/learner.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/functional/activation.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/check.h"

namespace starling {
namespace {

using Index = std::int64_t;
constexpr Index kHidden = 48;

torch::Tensor floats(const std::vector<float>& all, std::span<const std::uint32_t> rows) {
  torch::Tensor out = torch::empty({static_cast<Index>(rows.size())});
  for (std::size_t i = 0; i < rows.size(); ++i) out.data_ptr<float>()[i] = all[rows[i]];
  return out;
}

torch::Tensor states_of(const std::vector<std::vector<float>>& all,
                        std::span<const std::uint32_t> rows) {
  const std::size_t size = all[rows.front()].size();
  torch::Tensor out = torch::empty({static_cast<Index>(rows.size()), static_cast<Index>(size)});
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(all[rows[i]], out.data_ptr<float>() + i * size);
  return out;
}

Tensor saved(const std::vector<float>& values) {
  return {{static_cast<std::uint32_t>(values.size())}, values};
}

}  // namespace

Result<Learner> Learner::from(const TrainableSystem& system, const Weights& weights,
                              std::size_t state_size, std::uint64_t seed) {
  torch::set_num_threads(1);  // sums over threads would come in another order each time
  auto actor = system.training.model(weights);
  if (!actor) return actor.error();
  Learner out(std::move(actor).value());
  Rng rng(seed, 0xc217);
  auto in = static_cast<Index>(state_size);
  for (const Index size : {kHidden, kHidden, Index{1}}) {
    torch::Tensor weight = torch::empty({size, in}), bias = torch::zeros({size});
    const double scale = size == 1 ? 0 : std::sqrt(2.0 / static_cast<double>(in));
    for (Index i = 0; i < weight.numel(); ++i)
      weight.data_ptr<float>()[i] = static_cast<float>(rng.normal() * scale);
    for (torch::Tensor* tensor : {&weight, &bias}) {
      tensor->set_requires_grad(true);
      out.critic_.push_back(*tensor);
    }
    in = size;
  }
  out.parameters_ = out.actor_->parameters();
  for (const torch::Tensor& one : out.parameters_)
    out.actor_size_ += static_cast<std::size_t>(one.numel());
  out.parameters_.insert(out.parameters_.end(), out.critic_.begin(), out.critic_.end());
  std::size_t size = 0;
  for (const torch::Tensor& one : out.parameters_) size += static_cast<std::size_t>(one.numel());
  out.mean_.assign(size, 0);
  out.square_.assign(size, 0);
  return out;
}

Weights Learner::checkpoint() const {
  Weights out;
  std::vector<float> all;
  for (const torch::Tensor& one : parameters_)
    all.insert(all.end(), one.data_ptr<float>(), one.data_ptr<float>() + one.numel());
  out.tensors["parameters"] = saved(all);
  out.tensors["adam.mean"] = saved(mean_);
  out.tensors["adam.square"] = saved(square_);
  out.notes["steps"] = std::to_string(steps_);
  return out;
}

Status Learner::restore(const Weights& checkpoint) {
  const auto size = static_cast<std::uint32_t>(mean_.size());
  for (const char* name : {"parameters", "adam.mean", "adam.square"}) {
    if (auto there = checkpoint.tensor(name, std::span(&size, 1)); !there) return there.error();
  }
  const std::vector<float>& all = checkpoint.tensors.at("parameters").values;
  std::size_t from = 0;
  for (torch::Tensor& one : parameters_) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(from), one.numel(),
                one.data_ptr<float>());
    from += static_cast<std::size_t>(one.numel());
  }
  mean_ = checkpoint.tensors.at("adam.mean").values;
  square_ = checkpoint.tensors.at("adam.square").values;
  steps_ = static_cast<std::uint32_t>(std::stoul(checkpoint.note("steps", "0")));
  return done();
}

torch::Tensor Learner::value_of(const torch::Tensor& states) const {
  torch::Tensor x = states;
  for (std::size_t i = 0; i < critic_.size(); i += 2) {
    x = torch::linear(x, critic_[i], critic_[i + 1]);
    if (i + 2 < critic_.size()) x = torch::tanh(x);
  }
  return x.squeeze(1);
}

std::vector<double> Learner::values(const std::vector<std::vector<float>>& states) const {
  if (states.empty()) return {};
  torch::set_num_threads(1);
  const torch::NoGradGuard no_gradient;
  std::vector<std::uint32_t> rows(states.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const torch::Tensor out = value_of(states_of(states, rows));
  return {out.data_ptr<float>(), out.data_ptr<float>() + out.numel()};
}

Row Learner::gradient(const Experience& experience, std::span<const std::uint32_t> rows,
                      const ActorCriticLoss& loss) const {
  torch::set_num_threads(1);
  Row out(kSums + mean_.size(), 0.0);
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_partition;
  for (const std::uint32_t row : rows)
    by_partition[experience.seen.all[row].partition].push_back(row);
  for (const auto& [partition, some] : by_partition) {
    torch::Tensor chosen = torch::empty({static_cast<Index>(some.size()), 1}, torch::kLong);
    for (std::size_t i = 0; i < some.size(); ++i)
      chosen.data_ptr<Index>()[i] = experience.seen.all[some[i]].chosen;
    const torch::Tensor logs =
        torch::log_softmax(actor_->scores(experience.seen, some) / loss.temperature, 1);
    const torch::Tensor change =
        logs.gather(1, chosen).squeeze(1) - floats(experience.log_prob, some);
    const torch::Tensor ratio = change.clamp(-20, 20).exp();
    const torch::Tensor advantage = floats(experience.advantage, some);
    const torch::Tensor near = ratio.clamp(1 - loss.clip, 1 + loss.clip);
    const torch::Tensor gain = torch::min(ratio * advantage, near * advantage).sum();
    const torch::Tensor spread = -(logs.exp() * logs.clamp_min(-30)).sum();
    const torch::Tensor off =
        value_of(states_of(experience.state, some)) - floats(experience.target, some);
    const torch::Tensor error = (off * off).sum();
    const torch::Tensor total = -gain - loss.entropy * spread + 0.5 * error;
    const auto gradients =
        torch::autograd::grad({total}, parameters_, {}, c10::nullopt, false, true);
    std::size_t at = kSums;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const auto size = static_cast<std::size_t>(parameters_[p].numel());
      if (gradients[p].defined()) {
        const torch::Tensor flat = gradients[p].contiguous();
        for (std::size_t i = 0; i < size; ++i) out[at + i] += flat.data_ptr<float>()[i];
      }
      at += size;
    }
    out[decisions] += static_cast<double>(some.size());
    out[critic_error] += error.item<double>();
    out[entropy] += spread.item<double>();
    out[divergence] += (ratio - 1 - change).sum().item<double>();
    out[clipped] += ((ratio - 1).abs() > loss.clip).sum().item<double>();
  }
  return out;
}

double Learner::agreement(const Row& one, const Row& other) const {
  double product = 0, first = 0, second = 0;
  for (std::size_t i = kSums; i < kSums + actor_size_; ++i) {
    product += one[i] * other[i];
    first += one[i] * one[i];
    second += other[i] * other[i];
  }
  return first > 0 && second > 0 ? product / std::sqrt(first * second) : 0;
}

void Learner::step(const Row& sums, double rate, double critic_rate, double cut) {
  STARLING_CHECK(sums.size() == kSums + mean_.size());
  const double count = std::max(sums[decisions], 1.0);
  ++steps_;
  const auto part_norm = [&](std::size_t first, std::size_t last) {
    double squares = 0;
    for (std::size_t i = first; i < last; ++i) squares += std::pow(sums[kSums + i] / count, 2);
    return std::sqrt(squares);
  };
  const double actor_norm = part_norm(0, actor_size_);
  const double critic_norm = part_norm(actor_size_, mean_.size());
  constexpr double first = 0.9, second = 0.999;
  std::size_t i = 0;
  for (torch::Tensor& one : parameters_) {
    float* const values = one.data_ptr<float>();
    for (Index k = 0; k < one.numel(); ++k, ++i) {
      const bool acts = i < actor_size_;
      const double norm = acts ? actor_norm : critic_norm;
      const double g = sums[kSums + i] / count * (norm > cut ? cut / norm : 1);
      mean_[i] = static_cast<float>(first * mean_[i] + (1 - first) * g);
      square_[i] = static_cast<float>(second * square_[i] + (1 - second) * g * g);
      const double m = mean_[i] / (1 - std::pow(first, steps_));
      const double v = square_[i] / (1 - std::pow(second, steps_));
      values[k] -= static_cast<float>((acts ? rate : critic_rate) * m / (std::sqrt(v) + 1e-8));
    }
  }
}

}  // namespace starling
