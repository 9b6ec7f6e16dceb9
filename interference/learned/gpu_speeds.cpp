// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/gpu_speeds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "interference/learned/state_words.h"
#include "topology/topology.h"

namespace starling {
namespace {

constexpr double kForget = 3e-5;                      // variance that each use adds
constexpr std::uint64_t kMagic = 0x3155504753545331;  // "1STSGPU1"
constexpr std::size_t kHeaderWords = 2, kBeliefWords = 3;

double bounded(double log_speed) {
  return std::clamp(log_speed, std::log(Server::kSlowestGpu), 0.0);
}

}  // namespace

double GpuSpeeds::slowest(std::span<const GpuId> gpus) const noexcept {
  double least = 0;
  for (const GpuId gpu : gpus) {
    if (gpu.value >= beliefs_.size()) continue;
    const Belief& b = beliefs_[gpu.value];
    if (b.mean < -kIgnored && b.mean * b.mean > b.variance) least = std::min(least, b.mean);
  }
  return least;
}

double GpuSpeeds::believed(std::span<const GpuId> gpus) const noexcept {
  double least = 0;
  for (const GpuId gpu : gpus) {
    if (gpu.value < beliefs_.size()) least = std::min(least, beliefs_[gpu.value].mean);
  }
  return least;
}

void GpuSpeeds::observe(std::span<const GpuId> gpus, double log_ratio) {
  if (gpus.empty() || gpus.back().value >= kMostGpus) return;
  if (gpus.back().value >= beliefs_.size()) beliefs_.resize(gpus.back().value + std::size_t{1});
  const double expected = believed(gpus);
  double uncertain = 0;
  for (const GpuId gpu : gpus) {
    Belief& b = beliefs_[gpu.value];
    if (!b.known) b.known = true, ++known_;
    b.variance = std::min(b.variance + kForget, kPrior * kPrior);
    uncertain += b.variance;
  }
  for (const GpuId gpu : gpus) {
    Belief& b = beliefs_[gpu.value];
    const double total = b.variance + kNoise * kNoise;
    const double most = kMostSurprise * std::sqrt(total);
    const double gain = b.variance / total;
    if (log_ratio < expected) {
      const double blame = b.variance / uncertain;
      b.mean = bounded(b.mean + blame * gain * std::max(log_ratio - expected, -most));
      b.variance *= 1 - blame * gain;
    } else {
      // It is no slower than that; of one that was believed to be faster this says nothing.
      if (b.mean < log_ratio) b.mean = bounded(b.mean + gain * std::min(log_ratio - b.mean, most));
      if (b.mean <= log_ratio) b.variance *= 1 - gain;
    }
  }
}

std::vector<std::byte> GpuSpeeds::state() const {
  std::vector<std::byte> out;
  put_word(out, kMagic);
  put_word(out, known_);
  for (std::size_t gpu = 0; gpu < beliefs_.size(); ++gpu) {
    const Belief& b = beliefs_[gpu];
    if (!b.known) continue;
    put_word(out, gpu);
    put_word(out, std::bit_cast<std::uint64_t>(b.mean));
    put_word(out, std::bit_cast<std::uint64_t>(b.variance));
  }
  put_word(out, check_of_words(out, kMagic));
  return out;
}

Status GpuSpeeds::restore(std::span<const std::byte> state, std::uint32_t gpus) {
  const auto invalid = [](const std::string& what) {
    return Error{Errc::invalid, "what the speed model had learned of GPUs: " + what};
  };
  const std::size_t words = state.size() / 8;
  if (state.size() % 8 != 0 || words < kHeaderWords + 1 || word_of(state, 0) != kMagic)
    return invalid("these bytes are not its state, or cut short");
  const std::uint64_t count = word_of(state, 1);
  if (count > gpus || words != kHeaderWords + count * kBeliefWords + 1)
    return invalid("cut short, or of more GPUs than there are");
  if (check_of_words(state.first(8 * (words - 1)), kMagic) != word_of(state, words - 1))
    return invalid("altered");
  std::vector<Belief> beliefs(gpus);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = kHeaderWords + i * kBeliefWords;
    const std::uint64_t gpu = word_of(state, at);
    const auto mean = std::bit_cast<double>(word_of(state, at + 1));
    const auto variance = std::bit_cast<double>(word_of(state, at + 2));
    if (gpu >= gpus || beliefs[gpu].known) return invalid("a GPU that is not there, or twice");
    if (!std::isfinite(mean) || mean != bounded(mean) || !(variance > 0 && variance < 1))
      return invalid("a number out of range");
    beliefs[gpu] = {mean, variance, true};
  }
  beliefs_ = std::move(beliefs);
  known_ = static_cast<std::uint32_t>(count);
  return done();
}

}  // namespace starling
