// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/pair_fit.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"

namespace starling {
namespace {

constexpr std::uint32_t kSteps = 1500;
constexpr double kStepSize = 0.03;  // falls to 0 over the last part of the steps
constexpr double kConstantPart = 0.6;
constexpr double kRound = 0.05;      // errors below this count by their square
constexpr double kRidge = 0.3;       // on what a type keeps and leaves
constexpr double kTermsRidge = 1.0;  // on the products
constexpr std::size_t kFolds = 5;

// All figures in one vector: the mean, then those of each type.
class Descent {
 public:
  Descent(const std::vector<PairSample>& samples, std::size_t types, std::size_t terms)
      : samples_(samples), terms_(terms), width_(2 + 2 * terms), x_(1 + types * width_) {
    x_[0] = 0.6;
    Rng rng(1);
    for (std::size_t t = 0; t < types; ++t) {
      for (std::size_t k = 2; k < width_; ++k) x_[at(t) + k] = 0.3 * rng.normal();
    }
  }

  // Adam (Kingma and Ba 2015).
  void run() {
    std::vector<double> slope(x_.size()), mean(x_.size()), square(x_.size());
    for (std::uint32_t step = 1; step <= kSteps; ++step) {
      find_slope(slope);
      const double left = (kSteps - step) / (kSteps * (1 - kConstantPart));
      const double rate = kStepSize * std::min(1.0, left);
      const double mean_part = 1 - std::pow(0.9, step);
      const double square_part = 1 - std::pow(0.99, step);
      for (std::size_t i = 0; i < x_.size(); ++i) {
        mean[i] = 0.9 * mean[i] + 0.1 * slope[i];
        square[i] = 0.99 * square[i] + 0.01 * slope[i] * slope[i];
        x_[i] -= rate * (mean[i] / mean_part) / (std::sqrt(square[i] / square_part) + 1e-6);
      }
    }
  }

  [[nodiscard]] PairFigures figures(std::size_t type) const {
    PairFigures out;
    out.keeps = x_[0] / 2 + x_[at(type)];
    out.leaves = x_[0] / 2 + x_[at(type) + 1];
    for (std::size_t k = 0; k < terms_; ++k) {
      out.sensitive[k] = x_[at(type) + 2 + k];
      out.rough[k] = x_[at(type) + 2 + terms_ + k];
    }
    return out;
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t type) const { return 1 + type * width_; }

  void find_slope(std::vector<double>& slope) const {
    for (std::size_t i = 0; i < x_.size(); ++i)
      slope[i] = i == 0 ? 0 : ((i - 1) % width_ < 2 ? kRidge : kTermsRidge) * x_[i];
    for (const PairSample& sample : samples_) {
      const std::size_t own = at(sample.own);
      const std::size_t other = at(sample.other) + 1;
      double speed = x_[0] + x_[own] + x_[other];
      for (std::size_t k = 0; k < terms_; ++k)
        speed += x_[own + 2 + k] * x_[other + 1 + terms_ + k];
      const double error = speed - sample.speed;
      if (sample.at_least && error > 0) continue;
      const double pull = std::clamp(error / kRound, -1.0, 1.0);
      slope[0] += pull;
      slope[own] += pull;
      slope[other] += pull;
      for (std::size_t k = 0; k < terms_; ++k) {
        slope[own + 2 + k] += pull * x_[other + 1 + terms_ + k];
        slope[other + 1 + terms_ + k] += pull * x_[own + 2 + k];
      }
    }
  }

  const std::vector<PairSample>& samples_;
  std::size_t terms_;
  std::size_t width_;
  std::vector<double> x_;
};

/// Both directions of a pair are in one fold.
std::size_t fold_of(const PairSample& sample) { return sample.pair * 7919 % kFolds; }

double error_sum(const std::vector<PairFigures>& figures, const std::vector<PairSample>& samples) {
  double sum = 0;
  for (const PairSample& s : samples)
    sum += std::abs(pair_speed(figures[s.own], figures[s.other]) - s.speed);
  return sum;
}

}  // namespace

double pair_speed(const PairFigures& own, const PairFigures& other) noexcept {
  double speed = own.keeps + other.leaves;
  for (std::size_t k = 0; k < kPairTerms; ++k) speed += own.sensitive[k] * other.rough[k];
  return std::clamp(speed, kSlowestPair, 1.0);
}

std::vector<PairFigures> fit_pairs(const std::vector<PairSample>& samples, std::size_t types,
                                   std::size_t terms) {
  STARLING_CHECK(terms <= kPairTerms);
  Descent descent(samples, types, terms);
  descent.run();
  std::vector<PairFigures> out;
  for (std::size_t type = 0; type < types; ++type) out.push_back(descent.figures(type));
  return out;
}

double pair_error(const std::vector<PairFigures>& figures, const std::vector<PairSample>& samples) {
  return samples.empty() ? 0 : error_sum(figures, samples) / static_cast<double>(samples.size());
}

double withheld_pair_error(const std::vector<PairSample>& samples, std::size_t types,
                           std::size_t terms) {
  double sum = 0;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<PairSample> seen, unseen;
    for (const PairSample& s : samples) (fold_of(s) == fold ? unseen : seen).push_back(s);
    sum += error_sum(fit_pairs(seen, types, terms), unseen);
  }
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

double withheld_mean_error(const std::vector<PairSample>& samples) {
  double sum = 0;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    double total = 0, count = 0;
    for (const PairSample& s : samples) {
      if (fold_of(s) == fold) continue;
      total += s.speed;
      count += 1;
    }
    for (const PairSample& s : samples) {
      if (fold_of(s) == fold) sum += std::abs(s.speed - (count > 0 ? total / count : 0.5));
    }
  }
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

}  // namespace starling
