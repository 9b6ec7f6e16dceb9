// SPDX-License-Identifier: Apache-2.0
#include "interference/adapt/mixed_effects.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "interference/learned/state_words.h"

namespace starling {
namespace {

// Surprises of as many observations are what the prior is believed as much as.
constexpr double kTrusted = 6;
constexpr double kRemembered = 60;  // observations by which the scale goes
constexpr double kLeastScale = 0.25, kMostScale = 16;
constexpr double kPairForgets = 1e-4;  // variance that an effect of a pair gains with each use
constexpr std::uint64_t kMagic = 0x3144455849535453;  // "STSIXED1"

}  // namespace

MixedEffects::MixedEffects(const ShiftPrior& prior)
    : prior_(prior),
      mean_(prior.slope.begin(), prior.slope.end()),
      covariance_(kShiftFeatures * kShiftFeatures, 0),
      squares_(kTrusted),
      weight_(kTrusted) {
  for (std::size_t i = 0; i < kShiftFeatures; ++i) {
    const double deviation = prior.slope_deviation[i];
    covariance_[i * kShiftFeatures + i] = deviation * deviation;
  }
}

double MixedEffects::effect_variance(unsigned side) const noexcept {
  const double deviation = side == 0 ? prior_.victim : prior_.other;
  return deviation * deviation;
}

double MixedEffects::scale() const noexcept {
  return std::clamp(squares_ / weight_, kLeastScale, kMostScale);
}

void MixedEffects::ask(std::span<const ShiftedPair> pairs, Question& question) const {
  question.entries.clear();
  question.pairs.clear();
  question.unmet = 0;
  question.strangers.clear();
  const auto add = [&](std::size_t index, double value) {
    for (Entry& entry : question.entries) {
      if (entry.index != index) continue;
      entry.value += value;
      return;
    }
    question.entries.push_back({index, value});
  };
  for (std::size_t i = 0; i < kShiftFeatures; ++i) {
    double sum = 0;
    for (const ShiftedPair& pair : pairs) sum += pair.features[i];
    if (sum != 0) question.entries.push_back({i, sum});
  }
  for (const ShiftedPair& pair : pairs) {
    for (const unsigned side : {0U, 1U}) {
      const std::uint16_t type = side == 0 ? pair.victim : pair.other;
      const auto effect = effects_.find(effect_key(type, side));
      if (effect != effects_.end()) {
        add(effect->second, 1);
      } else {
        question.unmet += effect_variance(side);
        question.strangers.push_back(effect_key(type, side));
      }
    }
    const std::uint32_t key = pair_key(pair);
    const auto same =
        std::ranges::find(question.pairs, key, &std::pair<std::uint32_t, double>::first);
    if (same != question.pairs.end()) {
      ++same->second;
    } else {
      question.pairs.emplace_back(key, 1);
    }
  }
}

MixedEffects::Belief MixedEffects::believe(std::span<const ShiftedPair> pairs) const {
  thread_local Question question;  // kept, so that a question allocates nothing
  ask(pairs, question);
  Belief out{0, question.unmet};
  const std::size_t n = size();
  for (const Entry& a : question.entries) {
    out.mean += a.value * mean_[a.index];
    double sum = 0;
    for (const Entry& b : question.entries) sum += covariance_[a.index * n + b.index] * b.value;
    out.variance += a.value * sum;
  }
  for (const auto& [key, times] : question.pairs) {
    const auto known = pairs_.find(key);
    if (known != pairs_.end()) out.mean += times * known->second.mean;
    out.variance += times * times *
                    (known != pairs_.end() ? known->second.variance : prior_.pair * prior_.pair);
  }
  out.variance = std::max(out.variance, 0.0) * scale();
  return out;
}

double MixedEffects::covariance(std::span<const ShiftedPair> one,
                                std::span<const ShiftedPair> other) const {
  thread_local Question a, b;
  ask(one, a), ask(other, b);
  const std::size_t n = size();
  double sum = 0;
  for (const Entry& x : a.entries) {
    const double* const row = &covariance_[x.index * n];
    for (const Entry& y : b.entries) sum += x.value * row[y.index] * y.value;
  }
  for (const std::uint32_t stranger : a.strangers) {
    if (std::ranges::find(b.strangers, stranger) != b.strangers.end())
      sum += effect_variance(stranger & 1U);
  }
  for (const auto& [key, times] : a.pairs) {
    const auto same = std::ranges::find(b.pairs, key, &std::pair<std::uint32_t, double>::first);
    if (same == b.pairs.end()) continue;
    const auto known = pairs_.find(key);
    sum += times * same->second *
           (known != pairs_.end() ? known->second.variance : prior_.pair * prior_.pair);
  }
  return sum * scale();
}

void MixedEffects::meet(std::span<const ShiftedPair> pairs) {
  for (const ShiftedPair& pair : pairs) {
    for (const unsigned side : {0U, 1U}) {
      const std::uint32_t key = effect_key(side == 0 ? pair.victim : pair.other, side);
      if (effects_.size() >= kMostEffects || effects_.contains(key)) continue;
      const std::size_t before = size(), n = before + 1;
      effects_.emplace(key, before);
      mean_.push_back(0);
      std::vector<double> larger(n * n, 0);
      for (std::size_t i = 0; i < before; ++i) {
        std::copy_n(covariance_.begin() + static_cast<std::ptrdiff_t>(i * before), before,
                    larger.begin() + static_cast<std::ptrdiff_t>(i * n));
      }
      larger.back() = effect_variance(side);
      covariance_ = std::move(larger);
    }
  }
}

void MixedEffects::make_room() {
  while (pairs_.size() > kMostPairs) {
    pairs_.erase(std::ranges::min_element(
        pairs_, [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
  }
}

double MixedEffects::observe(std::span<const ShiftedPair> pairs, double log_ratio, double more) {
  if (pairs.empty()) return 0;
  ++observed_;
  meet(pairs);
  Question question;
  ask(pairs, question);
  const std::size_t n = size();
  std::vector<double> reach(n, 0);  // covariance of each part with what was measured
  double expected = 0, variance = prior_.noise * prior_.noise + more + question.unmet;
  for (const Entry& entry : question.entries) {
    expected += entry.value * mean_[entry.index];
    const double* const row = &covariance_[entry.index * n];
    for (std::size_t i = 0; i < n; ++i) reach[i] += entry.value * row[i];
  }
  for (const Entry& entry : question.entries) variance += entry.value * reach[entry.index];
  std::vector<PairBelief*> own;
  for (const auto& [key, times] : question.pairs) {
    const double prior = prior_.pair * prior_.pair;
    const auto [at, added] = pairs_.try_emplace(key, PairBelief{0, prior, 0});
    PairBelief& belief = at->second;
    if (!added) belief.variance = std::min(belief.variance + kPairForgets, prior);
    belief.used = observed_;
    own.push_back(&belief);
    expected += times * belief.mean;
    variance += times * times * belief.variance;
  }
  const double deviation = std::sqrt(variance * scale());
  const double surprise =
      std::clamp((log_ratio - expected) / deviation, -kMostSurprise, kMostSurprise);
  const double off = surprise * deviation;
  evidence_ -= 0.5 * (off * off / variance + std::log(variance));
  for (std::size_t i = 0; i < n; ++i) {
    mean_[i] += reach[i] / variance * off;
    if (reach[i] == 0) continue;
    double* const row = &covariance_[i * n];
    // The product first: so it stays symmetric to the bit.
    for (std::size_t k = 0; k < n; ++k) row[k] -= reach[i] * reach[k] / variance;
    row[i] = std::max(row[i], 1e-9);
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double gain = question.pairs[i].second * own[i]->variance;
    own[i]->mean += gain / variance * off;
    own[i]->variance -= gain * gain / variance;
  }
  const double keep = 1 - 1 / kRemembered;
  squares_ = keep * squares_ + off * off / variance;
  weight_ = keep * weight_ + 1;
  make_room();
  return surprise;
}

void MixedEffects::save(std::vector<std::byte>& out) const {
  const auto number = [&](double value) { put_word(out, std::bit_cast<std::uint64_t>(value)); };
  for (const std::uint64_t word :
       {kMagic, std::uint64_t{effects_.size()}, std::uint64_t{pairs_.size()}, observed_})
    put_word(out, word);
  number(squares_), number(weight_), number(evidence_);
  for (const double value : {prior_.victim, prior_.other, prior_.pair}) number(value);
  for (const auto& [key, index] : effects_) put_word(out, std::uint64_t{key} << 32U | index);
  for (const double value : mean_) number(value);
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t k = 0; k <= i; ++k) number(covariance_[i * size() + k]);
  }
  for (const auto& [key, belief] : pairs_) {
    put_word(out, key);
    number(belief.mean), number(belief.variance);
    put_word(out, belief.used);
  }
}

Status MixedEffects::restore(std::span<const std::byte> bytes, std::size_t& at) {
  const Error wrong{Errc::invalid, "what was learned of changed hardware is cut short or altered"};
  const std::size_t words = bytes.size() / 8;
  if (at + 10 > words || word_of(bytes, at) != kMagic) return wrong;
  const std::uint64_t effects = word_of(bytes, at + 1), pairs = word_of(bytes, at + 2);
  if (effects > kMostEffects || pairs > kMostPairs) return wrong;
  const std::size_t n = kShiftFeatures + effects;
  if (at + 10 + effects + n + n * (n + 1) / 2 + 4 * pairs > words) return wrong;
  observed_ = word_of(bytes, at + 3);
  bool finite = true;
  const auto number = [&](std::size_t word) {
    const double value = std::bit_cast<double>(word_of(bytes, word));
    finite = finite && std::isfinite(value);
    return value;
  };
  squares_ = number(at + 4), weight_ = number(at + 5), evidence_ = number(at + 6);
  prior_.victim = number(at + 7), prior_.other = number(at + 8), prior_.pair = number(at + 9);
  at += 10;
  effects_.clear();
  for (std::uint64_t i = 0; i < effects; ++i, ++at) {
    const std::uint64_t word = word_of(bytes, at);
    const std::size_t index = word & 0xFFFFFFFFU;
    if (index < kShiftFeatures || index >= n) return wrong;
    effects_.emplace(static_cast<std::uint32_t>(word >> 32U), index);
  }
  if (effects_.size() != effects) return wrong;
  mean_.resize(n);
  for (double& value : mean_) value = number(at++);
  covariance_.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k <= i; ++k)
      covariance_[i * n + k] = covariance_[k * n + i] = number(at++);
    finite = finite && covariance_[i * n + i] >= 0;
  }
  pairs_.clear();
  for (std::uint64_t i = 0; i < pairs; ++i, at += 4) {
    const PairBelief belief{number(at + 1), number(at + 2), word_of(bytes, at + 3)};
    finite = finite && belief.variance >= 0;
    pairs_.emplace(static_cast<std::uint32_t>(word_of(bytes, at)), belief);
  }
  return finite && weight_ > 0 && squares_ >= 0 ? done() : Status(wrong);
}

}  // namespace starling
