// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnn/train/policy_model.h"
#include "gnn/train/process_group.h"
#include "gnn/train/trainable_system.h"

namespace starling {

/// Drawn decisions and their advantages.
struct Experience {
  SeenDecisions seen;
  std::vector<float> log_prob, advantage, target;  ///< by decision; `target` of the critic
  std::vector<std::vector<float>> state;           ///< by decision: what the critic is told
};

/// What a step minimises: the clipped objective of PPO (Schulman et al. 2017, arXiv 1707.06347),
/// the squared error of the critic and the negative entropy.
struct ActorCriticLoss {
  double clip = 0.2;
  double entropy = 0.01;
  double temperature = 1;
};

/// A policy, shared by all agents, and a critic that knows of all of them: MAPPO (Yu et al. 2022,
/// arXiv 2103.01955). The critic never leaves training.
class Learner {
 public:
  /// `invalid` if the weights make no policy.
  [[nodiscard]] static Result<Learner> from(const TrainableSystem& system, const Weights& weights,
                                            std::size_t state_size, std::uint64_t seed);
  [[nodiscard]] Weights weights() const { return actor_->weights(); }  ///< of the policy alone
  /// Everything, to go on from; restore() takes it back. `invalid` if it is another network's.
  [[nodiscard]] Weights checkpoint() const;
  [[nodiscard]] Status restore(const Weights& checkpoint);

  /// What the critic says of each state.
  [[nodiscard]] std::vector<double> values(const std::vector<std::vector<float>>& states) const;

  /// Sums over decisions, in this order in front of the gradient's sums.
  enum Sum : std::uint8_t { decisions, critic_error, entropy, divergence, clipped, kSums };
  /// Of some decisions of the experience. Not on two threads of a process at once: BLAS may not be
  /// fit for that.
  [[nodiscard]] Row gradient(const Experience& experience, std::span<const std::uint32_t> rows,
                             const ActorCriticLoss& loss) const;
  /// Cosine between the policy's parts of two such sums: near 0 where chance made both.
  [[nodiscard]] double agreement(const Row& one, const Row& other) const;
  /// A step of Adam down the mean gradient; the policy's and the critic's are cut to norm `cut`.
  void step(const Row& sums, double rate, double critic_rate, double cut);

 private:
  explicit Learner(std::unique_ptr<PolicyModel> actor) : actor_(std::move(actor)) {}
  [[nodiscard]] torch::Tensor value_of(const torch::Tensor& states) const;

  std::unique_ptr<PolicyModel> actor_;
  std::vector<torch::Tensor> critic_;      // weight, bias of each layer
  std::vector<torch::Tensor> parameters_;  // of both
  std::size_t actor_size_ = 0;             // values of the policy, which come first
  std::vector<float> mean_, square_;       // of Adam
  std::uint32_t steps_ = 0;
};

}  // namespace starling
