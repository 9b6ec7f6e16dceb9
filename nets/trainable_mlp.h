// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "nets/weights.h"

namespace starling {

/// An Mlp (nets/mlp.h: relu, no input normalisation) that learns without libtorch: gradients by
/// backpropagation, steps by Adam (Kingma and Ba 2015; 0.9, 0.999, 1e-8).
///
/// One thread at a time: it keeps what the last forward() computed. Same calls, same bits on one
/// kind of processor. Small nets only: everything is float32 and held once, moments twice more.
class TrainableMlp {
 public:
  /// Widths from the inputs to the outputs, at least two, none 0. Weights are drawn with a standard
  /// deviation of sqrt(2 / inputs of the layer) (He 2015), of the last layer a tenth of that.
  TrainableMlp(std::vector<std::uint32_t> widths, Rng& rng);
  /// Of tensors as Mlp reads them; moments are 0. `not_found` or `invalid` names the tensor, or the
  /// note or tensor of what it cannot do: another activation, inputs that are normalised.
  [[nodiscard]] static Result<TrainableMlp> make(const Weights& weights, const std::string& prefix);
  /// As Mlp reads them.
  void put(Weights& weights, const std::string& prefix) const;

  [[nodiscard]] std::size_t inputs() const noexcept { return widths_.front(); }
  [[nodiscard]] std::size_t outputs() const noexcept { return widths_.back(); }
  [[nodiscard]] const std::vector<std::uint32_t>& widths() const noexcept { return widths_; }

  /// in: rows * inputs(); the answer, rows * outputs(), is valid until the next call.
  [[nodiscard]] std::span<const float> forward(std::span<const float> in, std::size_t rows);
  /// Adds the gradient of a loss to gradients(), of which `out` is the gradient by what the last
  /// forward() answered.
  void backward(std::span<const float> out);
  /// One step of Adam against gradients(), which are 0 after it. A gradient longer than `longest`
  /// is cut to that; one that is not finite is thrown away.
  void step(double rate, double longest);

  [[nodiscard]] std::span<float> parameters() noexcept { return parameters_; }
  [[nodiscard]] std::span<const float> parameters() const noexcept { return parameters_; }
  [[nodiscard]] std::span<float> gradients() noexcept { return gradients_; }
  /// Adam's two moments and how many steps it has done; for those who keep them.
  struct Moments {
    std::vector<float> first, second;
    std::uint64_t steps = 0;
  };
  [[nodiscard]] Moments& moments() noexcept { return moments_; }
  [[nodiscard]] const Moments& moments() const noexcept { return moments_; }

 private:
  explicit TrainableMlp(std::vector<std::uint32_t> widths);
  struct Layer {
    std::size_t in = 0, out = 0, weight = 0, bias = 0;  // the last two: where in parameters_
  };
  std::vector<std::uint32_t> widths_;
  std::vector<Layer> layers_;
  std::vector<float> parameters_, gradients_;
  Moments moments_;
  std::size_t rows_ = 0;
  std::vector<std::vector<float>> values_;  // inputs, then what each layer answered
  std::vector<float> ping_, pong_;
};

}  // namespace starling
