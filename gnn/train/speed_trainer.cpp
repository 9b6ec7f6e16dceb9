#include "gnn/train/speed_trainer.h"

#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/rng.h"
#include "gnn/speed_features.h"
#include "gnn/train/reference_net.h"
#include "gnn/train/samples.h"

namespace starling {
namespace {

using Index = std::int64_t;
constexpr auto kColumns = static_cast<Index>(kSpeedFeatures);

torch::Tensor tensor_of(const std::vector<float>& values, std::vector<Index> shape) {
  torch::Tensor out = torch::empty(shape);
  std::copy(values.begin(), values.end(), out.data_ptr<float>());
  return out;
}

Tensor tensor_from(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().contiguous();
  Tensor out;
  for (const Index size : values.sizes()) out.shape.push_back(static_cast<std::uint32_t>(size));
  out.values.assign(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
  return out;
}

/// Uniform in +-1/sqrt(inputs), from our own generator: torch's would change with its version.
void initialise(torch::nn::Linear& layer, Rng& rng) {
  const torch::NoGradGuard no_grad;
  const double bound = 1 / std::sqrt(static_cast<double>(layer->options.in_features()));
  for (torch::Tensor& parameter : layer->parameters()) {
    float* values = parameter.data_ptr<float>();
    for (Index i = 0; i < parameter.numel(); ++i) {
      values[i] = static_cast<float>((2 * rng.uniform() - 1) * bound);
    }
  }
}

struct Scaling {
  Tensor mean, scale;
};

Scaling scaling_of(const SpeedSamples& samples) {
  Scaling out{{{kSpeedFeatures}, {}}, {{kSpeedFeatures}, {}}};
  const auto rows = static_cast<double>(samples.size());
  for (std::size_t c = 0; c < kSpeedFeatures; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < samples.size(); ++r) {
      const double x = static_cast<double>(samples.features[r * kSpeedFeatures + c]);
      sum += x;
      squares += x * x;
    }
    const double mean = sum / rows;
    const double deviation = std::sqrt(std::max(squares / rows - mean * mean, 0.0));
    out.mean.values.push_back(static_cast<float>(mean));
    out.scale.values.push_back(static_cast<float>(1 / std::max(deviation, 1e-3)));
  }
  return out;
}

struct Errors {
  double mae = 0, rmse = 0;
};

Errors errors(const Weights& weights, const SpeedSamples& samples) {
  const std::vector<float> answers = reference_forward(weights, samples.features, samples.size());
  Errors out;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const double off = static_cast<double>(std::clamp(answers[i], 0.01F, 1.0F)) -
                       static_cast<double>(samples.relative[i]);
    out.mae += std::abs(off);
    out.rmse += off * off;
  }
  const auto rows = static_cast<double>(answers.size());
  return {out.mae / rows, std::sqrt(out.rmse / rows)};
}

double mean_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v);
  return sum / static_cast<double>(values.size());
}

}  // namespace

Result<SpeedTraining> train_speed(const SpeedTrainingOptions& options) {
  if (options.samples < 100 || options.samples > 10'000'000) {
    return Error{Errc::invalid,
                 "samples is " + std::to_string(options.samples) + "; it is 100 to 10000000"};
  }
  if (options.hidden < 1 || options.hidden > 4096 || options.epochs < 1 || options.batch < 1 ||
      !(options.learning_rate > 0 && options.learning_rate < 1)) {
    return Error{Errc::invalid,
                 "hidden (1 to 4096), epochs, batch and learning rate (below 1) must be positive"};
  }
  torch::set_num_threads(1);  // sums over threads would come in another order each time
  const SpeedSamples validation = make_speed_samples(options.samples / 5, options.seed * 2 + 1);
  const SpeedSamples training =
      make_speed_samples(options.samples - options.samples / 5, options.seed * 2);

  const Scaling scaling = scaling_of(training);
  const auto rows = static_cast<Index>(training.size());
  const torch::Tensor mean = tensor_of(scaling.mean.values, {kColumns});
  const torch::Tensor scale = tensor_of(scaling.scale.values, {kColumns});
  const torch::Tensor x = (tensor_of(training.features, {rows, kColumns}) - mean) * scale;
  const torch::Tensor y = tensor_of(training.relative, {rows, 1});

  Rng rng(options.seed, 0x7a11);
  const auto width = static_cast<Index>(options.hidden);
  std::vector<torch::nn::Linear> layers{torch::nn::Linear(kColumns, width),
                                        torch::nn::Linear(width, width),
                                        torch::nn::Linear(width, 1)};
  for (torch::nn::Linear& layer : layers) initialise(layer, rng);
  torch::nn::Sequential net(layers[0], torch::nn::Tanh(), layers[1], torch::nn::Tanh(), layers[2]);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(options.learning_rate));

  std::vector<Index> order(training.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  for (std::uint32_t epoch = 0; epoch < options.epochs; ++epoch) {
    const double done = static_cast<double>(epoch) / options.epochs;
    const double rate =
        options.learning_rate * (0.01 + 0.99 * 0.5 * (1 + std::cos(std::numbers::pi * done)));
    static_cast<torch::optim::AdamOptions&>(optimizer.param_groups()[0].options()).lr(rate);
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[rng.below(static_cast<std::uint32_t>(i))]);
    }
    const torch::Tensor shuffled = torch::from_blob(order.data(), {rows}, torch::kLong);
    double loss_sum = 0;
    for (Index first = 0; first < rows; first += options.batch) {
      const torch::Tensor batch =
          shuffled.slice(0, first, std::min<Index>(first + options.batch, rows));
      optimizer.zero_grad();
      const torch::Tensor loss =
          torch::mse_loss(net->forward(x.index_select(0, batch)), y.index_select(0, batch));
      loss.backward();
      optimizer.step();
      loss_sum += static_cast<double>(loss.item<float>()) * static_cast<double>(batch.size(0));
    }
    if (options.progress) options.progress(epoch + 1, loss_sum / static_cast<double>(rows));
  }

  SpeedTraining out;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    out.weights.tensors[std::to_string(i) + ".weight"] = tensor_from(layers[i]->weight);
    out.weights.tensors[std::to_string(i) + ".bias"] = tensor_from(layers[i]->bias);
  }
  out.weights.tensors["input.mean"] = scaling.mean;
  out.weights.tensors["input.scale"] = scaling.scale;
  out.weights.notes["activation"] = "tanh";
  out.train_rows = static_cast<std::uint32_t>(training.size());
  out.validation_rows = static_cast<std::uint32_t>(validation.size());
  out.train_mae = errors(out.weights, training).mae;
  const Errors held_out = errors(out.weights, validation);
  out.validation_mae = held_out.mae;
  out.validation_rmse = held_out.rmse;
  const double average = mean_of(training.relative);
  for (const float v : validation.relative)
    out.baseline_mae += std::abs(static_cast<double>(v) - average);
  out.baseline_mae /= static_cast<double>(validation.size());
  out.weights.notes["network"] = "relative speed of a job on a placement";
  out.weights.notes["speed_features"] = kSpeedFeaturesVersion;
  out.weights.notes["seed"] = std::to_string(options.seed);
  out.weights.notes["train_rows"] = std::to_string(out.train_rows);
  out.weights.notes["validation_rmse"] = std::to_string(out.validation_rmse);
  if (!weights_bytes(out.weights))
    return Error{Errc::invalid, "the training diverged; lower the learning rate"};
  return out;
}

}  // namespace starling
