// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/meta_train.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"
#include "interference/adapt/mixed_effects.h"
#include "interference/fit/nelder_mead.h"

namespace starling {
namespace {

constexpr double kLeastDeviation = 0.01;
constexpr std::uint32_t kWholeTask = 200;  // gradient steps

struct Example {
  ShiftFeatures x{};
  double y = 0;
};

void scale_profiles(std::span<const ShiftTask> tasks, ShiftPrior& prior) {
  for (std::size_t i = 0; i < kGpuProfile; ++i) {
    double sum = 0, squares = 0, count = 0;
    for (const ShiftTask& task : tasks) {
      for (const auto& profile : task.profiles) {
        const auto value = static_cast<double>(profile[i]);
        sum += value, squares += value * value, ++count;
      }
    }
    const double mean = sum / count;
    const double deviation = std::sqrt(std::max(squares / count - mean * mean, 0.0));
    prior.profile_mean[i] = mean;
    prior.profile_scale[i] = deviation > 1e-6 ? 1 / deviation : 0;
  }
}

std::vector<Example> examples_of(const ShiftTask& task, const ShiftPrior& prior) {
  std::vector<Example> out;
  for (const ShiftRow& row : task.rows) {
    out.push_back(
        {prior.features(task.profiles[row.victim], task.profiles[row.other], row.predicted),
         row.log_ratio()});
  }
  return out;
}

double dot(const ShiftFeatures& a, const ShiftFeatures& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Gradient steps of half the mean squared error from `slope`, on some examples.
ShiftFeatures adapted(const ShiftFeatures& slope, std::span<const Example> some,
                      std::uint32_t steps, double rate) {
  ShiftFeatures w = slope;
  for (std::uint32_t step = 0; step < steps; ++step) {
    ShiftFeatures gradient{};
    for (const Example& example : some) {
      const double off = dot(w, example.x) - example.y;
      for (std::size_t i = 0; i < kShiftFeatures; ++i) gradient[i] += off * example.x[i];
    }
    for (std::size_t i = 0; i < kShiftFeatures; ++i)
      w[i] -= rate * gradient[i] / static_cast<double>(some.size());
  }
  return w;
}

/// The slopes that Reptile begins with.
ShiftFeatures reptile(const std::vector<std::vector<Example>>& tasks, const MetaOptions& options) {
  ShiftFeatures slope{};
  Rng rng(options.seed, 0x3e7a);
  std::vector<Example> some;
  for (std::uint32_t i = 0; i < options.iterations; ++i) {
    const auto& task = tasks[rng.below(static_cast<std::uint32_t>(tasks.size()))];
    some.clear();
    for (std::uint32_t shot = 0; shot < 2 * options.shots; ++shot)
      some.push_back(task[rng.below(static_cast<std::uint32_t>(task.size()))]);
    const ShiftFeatures there = adapted(slope, some, options.steps, options.inner_rate);
    const double done = static_cast<double>(i) / options.iterations;
    const double rate = options.outer_rate * (1 - 0.99 * done);
    for (std::size_t k = 0; k < kShiftFeatures; ++k) slope[k] += rate * (there[k] - slope[k]);
  }
  return slope;
}

}  // namespace

double evidence(const ShiftPrior& prior, std::span<const ShiftTask> tasks, std::uint32_t shots,
                std::uint64_t seed) {
  double sum = 0;
  Rng rng(seed, 0xe71d);
  for (const ShiftTask& task : tasks) {
    std::vector<std::uint32_t> pairs;
    for (const ShiftRow& row : task.rows) {
      if (pairs.empty() || pairs.back() != row.pair) pairs.push_back(row.pair);
    }
    for (std::size_t i = pairs.size(); i > 1; --i)
      std::swap(pairs[i - 1], pairs[rng.below(static_cast<std::uint32_t>(i))]);
    pairs.resize(std::min<std::size_t>(pairs.size(), shots));
    MixedEffects effects(prior);
    for (const std::uint32_t pair : pairs) {
      for (const ShiftRow& row : task.rows) {
        if (row.pair != pair) continue;
        const ShiftedPair asked{
            row.victim, row.other,
            prior.features(task.profiles[row.victim], task.profiles[row.other], row.predicted)};
        const MixedEffects::Belief belief = effects.believe({&asked, 1});
        const double variance = belief.variance + prior.noise * prior.noise;
        const double off = row.log_ratio() - belief.mean;
        // One wild row of a campaign is not to widen everything.
        const double z2 = std::min(off * off / variance, 16.0);
        sum -= 0.5 * (z2 + std::log(variance));
        effects.observe({&asked, 1}, row.log_ratio());
      }
    }
  }
  return sum;
}

ShiftPrior meta_train(std::span<const ShiftTask> tasks, const MetaOptions& options) {
  STARLING_CHECK(tasks.size() >= kLeastShifts);
  STARLING_CHECK(std::ranges::none_of(tasks, [](const ShiftTask& t) { return t.rows.empty(); }));
  ShiftPrior prior;
  scale_profiles(tasks, prior);
  std::vector<std::vector<Example>> examples;
  for (const ShiftTask& task : tasks) examples.push_back(examples_of(task, prior));
  prior.slope = reptile(examples, options);
  // Where each task leads if it is told everything: how far the slopes of tasks are apart.
  ShiftFeatures squares{};
  for (const auto& task : examples) {
    const ShiftFeatures there = adapted(prior.slope, task, kWholeTask, options.inner_rate);
    for (std::size_t i = 0; i < kShiftFeatures; ++i) {
      const double apart = there[i] - prior.slope[i];
      squares[i] += apart * apart / static_cast<double>(examples.size());
    }
  }
  const auto with = [&](const std::vector<double>& logs) {
    ShiftPrior out = prior;
    for (std::size_t i = 0; i < kShiftFeatures; ++i)
      out.slope_deviation[i] = std::max(std::sqrt(squares[i]) * std::exp(logs[0]), kLeastDeviation);
    out.victim = std::exp(logs[1]), out.other = std::exp(logs[2]);
    out.pair = std::exp(logs[3]), out.noise = std::max(std::exp(logs[4]), 0.03);
    return out;
  };
  const std::vector<double> start{0, std::log(0.15), std::log(0.1), std::log(0.08), std::log(0.05)};
  const Minimum best = minimize(
      [&](const std::vector<double>& logs) {
        return -evidence(with(logs), tasks, 2 * options.shots, options.seed);
      },
      start, 0.5, options.evaluations, 1);
  return with(best.at);
}

}  // namespace starling
