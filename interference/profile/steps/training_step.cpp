// SPDX-License-Identifier: Apache-2.0
#include "interference/profile/steps/training_step.h"

#include <torch/torch.h>

#include <span>
#include <vector>

#include "interference/profile/steps/exchange.h"

namespace starling {
namespace {

using torch::Tensor;

/// Some fully connected layers that learn to hit a random target, by plain gradient descent.
class Network {
 public:
  Network(std::int64_t width, int layers, std::int64_t batch, const torch::Device& device)
      : input_(torch::randn({batch, width}, device)),
        target_(torch::randn({batch, width}, device)) {
    for (int i = 0; i < layers; ++i) {
      layers_->push_back(torch::nn::Linear(width, width));
      if (i + 1 < layers) layers_->push_back(torch::nn::ReLU());
    }
    layers_->to(device);
    weights_ = layers_->parameters();
  }

  void backward() {
    for (Tensor& weight : weights_) {
      if (weight.grad().defined()) weight.mutable_grad().zero_();
    }
    torch::mse_loss(layers_->forward(input_), target_).backward();
  }
  void update() {
    const torch::NoGradGuard no_grad;
    for (Tensor& weight : weights_) weight.sub_(weight.grad(), 1e-3);
  }
  std::vector<Tensor>& weights() { return weights_; }

 private:
  torch::nn::Sequential layers_;
  std::vector<Tensor> weights_;
  Tensor input_, target_;
};

/// Matrix products: 256 wide keeps weights near the core, so arithmetic is what there is to do. At
/// 768 wide weights and gradients are 14 MB, read for a handful of samples: a cache holds one such
/// workload, hardly two.
class NetworkStep : public TrainingStep {
 public:
  NetworkStep(std::int64_t width, int layers, std::int64_t batch, const torch::Device& device)
      : network_(width, layers, batch, device) {}
  bool run() override {
    network_.backward();
    network_.update();
    return true;
  }

 private:
  Network network_;
};

/// Rows of a table of 128 MiB, drawn at random: no cache holds them.
class EmbeddingStep : public TrainingStep {
 public:
  EmbeddingStep(std::int64_t batch, const torch::Device& device)
      : batch_(batch),
        table_(torch::zeros({kRows, kWidth}, device)),
        target_(torch::randn({batch, kWidth}, device)) {
    for (int i = 0; i < kDraws; ++i)
      draws_.push_back(
          torch::randint(kRows, {batch * kLookUps}, torch::dtype(torch::kLong).device(device)));
  }
  bool run() override {
    const Tensor& rows = draws_[next_++ % kDraws];
    Tensor found = table_.index_select(0, rows).requires_grad_();
    const Tensor mean = found.view({batch_, kLookUps, kWidth}).mean(1);
    torch::mse_loss(mean, target_).backward();
    const torch::NoGradGuard no_grad;
    table_.index_add_(0, rows, found.grad(), -1e-3);
    return true;
  }

 private:
  static constexpr std::int64_t kRows = 1 << 20, kWidth = 32, kLookUps = 64;
  static constexpr int kDraws = 16;  // more rows than the last-level cache holds before one repeats
  std::int64_t batch_;
  Tensor table_, target_;
  std::vector<Tensor> draws_;
  std::size_t next_ = 0;
};

/// An optimizer's update of many parameters: little arithmetic for every byte. Parameters,
/// gradients and momentum are 192 MiB; a step takes the next `batch` million of them.
class StreamStep : public TrainingStep {
 public:
  StreamStep(std::int64_t batch, const torch::Device& device)
      : slice_(batch << 20),
        weights_(torch::zeros({kParameters}, device)),
        momentum_(torch::zeros({kParameters}, device)),
        gradient_(torch::ones({kParameters}, device)) {}
  bool run() override {
    const torch::NoGradGuard no_grad;
    const std::int64_t end = at_ + slice_;
    Tensor momentum = momentum_.slice(0, at_, end);
    momentum.mul_(0.9).add_(gradient_.slice(0, at_, end));
    weights_.slice(0, at_, end).sub_(momentum, 1e-3);
    at_ = end % kParameters;
    return true;
  }

 private:
  static constexpr std::int64_t kParameters = 16 << 20;
  std::int64_t slice_, at_ = 0;
  Tensor weights_, momentum_, gradient_;
};

/// Data-parallel training: gradients of 2 MiB are averaged with the other rank after every
/// backward pass.
class ExchangeStep : public TrainingStep {
 public:
  ExchangeStep(std::int64_t batch, const torch::Device& device, Exchange& exchange)
      : network_(512, 2, batch, device), exchange_(exchange) {
    std::int64_t size = 0;
    for (const Tensor& weight : network_.weights()) size += weight.numel();
    all_ = torch::empty({size});
  }
  bool run() override {
    network_.backward();
    const torch::NoGradGuard no_grad;
    std::int64_t at = 0;
    for (const Tensor& weight : network_.weights()) {
      all_.slice(0, at, at + weight.numel()).copy_(weight.grad().reshape({-1}));
      at += weight.numel();
    }
    if (!exchange_.average({all_.data_ptr<float>(), static_cast<std::size_t>(all_.numel())}))
      return false;
    at = 0;
    for (Tensor& weight : network_.weights()) {
      weight.mutable_grad().copy_(all_.slice(0, at, at + weight.numel()).view(weight.sizes()));
      at += weight.numel();
    }
    network_.update();
    return true;
  }

 private:
  Network network_;
  Exchange& exchange_;
  Tensor all_;  // in the CPU's memory
};

/// A step on a GPU has been run when the GPU says so.
class SynchronizedStep : public TrainingStep {
 public:
  explicit SynchronizedStep(std::unique_ptr<TrainingStep> step) : step_(std::move(step)) {}
  bool run() override {
    const bool on = step_->run();
    torch::cuda::synchronize();
    return on;
  }

 private:
  std::unique_ptr<TrainingStep> step_;
};

std::unique_ptr<TrainingStep> step_of(const StepOptions& options, const torch::Device& device) {
  const std::string& kind = options.spec.kind;
  const auto batch = static_cast<std::int64_t>(options.spec.batch);
  if (kind == "dense") return std::make_unique<NetworkStep>(256, 3, batch, device);
  if (kind == "cache") return std::make_unique<NetworkStep>(768, 3, batch, device);
  if (kind == "embedding") return std::make_unique<EmbeddingStep>(batch, device);
  if (kind == "stream") return std::make_unique<StreamStep>(batch, device);
  STARLING_CHECK(kind == "network" && options.exchange != nullptr);
  return std::make_unique<ExchangeStep>(batch, device, *options.exchange);
}

}  // namespace

Result<std::unique_ptr<TrainingStep>> make_step(const StepOptions& options) {
  at::set_num_threads(1);
  torch::manual_seed(options.seed);
  if (!options.gpu) return step_of(options, torch::kCPU);
  if (!torch_sees_gpu()) {
    return {Errc::unsupported, "libtorch " + torch_version() +
                                   " sees no GPU: it was built without CUDA, or there is none; "
                                   "measure with --device cpu"};
  }
  return std::unique_ptr<TrainingStep>(
      std::make_unique<SynchronizedStep>(step_of(options, torch::kCUDA)));
}

bool torch_sees_gpu() { return torch::cuda::is_available(); }
std::string torch_version() { return TORCH_VERSION; }

}  // namespace starling
