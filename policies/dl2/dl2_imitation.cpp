// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2_imitation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace starling {
namespace {

constexpr double kLongestGradient = 1, kLastRate = 0.1;

void shuffle(std::vector<std::uint32_t>& order, Rng& rng) {
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[rng.below(static_cast<std::uint32_t>(i))]);
}

/// One step on some examples; the sum of their cross-entropies.
double step(Dl2Head& actor, const Dl2Shape& shape, std::span<const Dl2Example> examples,
            std::span<const std::uint32_t> rows, double rate) {
  std::vector<float> states(rows.size() * shape.inputs());
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(examples[rows[i]].state,
                      states.begin() + static_cast<std::ptrdiff_t>(i * shape.inputs()));
  const auto answered = actor.forward(states, rows.size());
  std::vector<float> by_out(answered.size(), 0.0F);
  double loss = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Dl2Example& example = examples[rows[i]];
    const std::size_t at = i * shape.actions();
    const auto p = masked_softmax(answered.subspan(at, shape.actions()), example.mask);
    loss -= std::log(std::max(p[example.action], 1e-12));
    for (std::size_t k = 0; k < p.size(); ++k) {
      const double wanted = k == example.action ? 1 : 0;
      by_out[at + k] = static_cast<float>((p[k] - wanted) / static_cast<double>(rows.size()));
    }
  }
  actor.backward(by_out);
  actor.net().step(rate, kLongestGradient);
  return loss;
}

}  // namespace

void imitate(Dl2Head& actor, const Dl2Shape& shape, std::span<const Dl2Example> examples,
             const Dl2ImitationOptions& options) {
  if (examples.empty()) return;
  Rng rng(options.seed);
  std::vector<std::uint32_t> order(examples.size());
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t pass = 0; pass < options.passes; ++pass) {
    shuffle(order, rng);
    const double gone = static_cast<double>(pass) / std::max(options.passes - 1, 1U);
    const double rate = options.rate * std::pow(kLastRate, gone);
    double loss = 0;
    for (std::size_t at = 0; at < order.size(); at += options.batch) {
      const auto rows = std::span(order).subspan(at, std::min(options.batch, order.size() - at));
      loss += step(actor, shape, examples, rows, rate);
    }
    if (options.progress) options.progress(pass, loss / static_cast<double>(examples.size()));
  }
}

double agreement(Dl2Head& actor, std::span<const Dl2Example> examples) {
  std::size_t same = 0;
  for (const Dl2Example& example : examples) {
    const auto p = masked_softmax(actor.forward(example.state, 1), example.mask);
    const auto likeliest = std::ranges::max_element(p) - p.begin();
    same += static_cast<std::size_t>(likeliest) == example.action ? 1 : 0;
  }
  return examples.empty() ? 0 : static_cast<double>(same) / static_cast<double>(examples.size());
}

}  // namespace starling
