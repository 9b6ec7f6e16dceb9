// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/residuals.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "interference/learned/state_words.h"

namespace starling {
namespace {

// Variance of the log speed that a belief's part gains with each use.
constexpr double kForget = 2e-4;
constexpr double kCommon = 0.5;  // of a prior's variance, what all others share
constexpr double kSlack = 0.5;   // of the cumulative sum, in deviations
constexpr double kAlarm = 8;
constexpr std::uint32_t kSettled = 5;  // observations before a surprise can be a drift
constexpr double kMostSurprise = 5;    // deviations: one wild measurement is no drift
constexpr std::uint16_t kAny = 0xFFFF;

std::uint64_t key_of(const Meeting& m, std::uint16_t other) {
  return static_cast<std::uint64_t>(m.victim) << 32U | static_cast<std::uint64_t>(other) << 16U |
         static_cast<std::uint64_t>(m.kind) << 8U | static_cast<std::uint64_t>(m.relation);
}

constexpr std::uint64_t kMagic = 0x3153455250535453;  // "STSPRES1"
constexpr std::size_t kHeaderWords = 6;
constexpr std::size_t kBeliefWords = 7;

}  // namespace

const char* to_string(Relation relation) noexcept {
  switch (relation) {
    case Relation::gpu:
      return "GPU";
    case Relation::link:
      return "link";
    case Relation::host:
      return "server";
  }
  return "";
}

std::vector<Residuals::Part> Residuals::parts_of(std::span<const Meeting> meetings) {
  std::vector<Part> parts;
  const auto add = [&](std::uint64_t key, double prior) {
    for (Part& part : parts) {
      if (part.key != key) continue;
      ++part.times;
      return;
    }
    parts.push_back({key, prior, 1});
  };
  for (const Meeting& m : meetings) {
    const double variance = m.deviation * m.deviation;
    add(key_of(m, kAny), kCommon * variance);
    add(key_of(m, m.other), (1 - kCommon) * variance);
  }
  return parts;
}

double Residuals::correction(std::span<const Meeting> meetings) const {
  double sum = 0;
  for (const Meeting& m : meetings) {
    for (const std::uint16_t other : {kAny, m.other}) {
      if (const auto at = beliefs_.find(key_of(m, other)); at != beliefs_.end())
        sum += at->second.mean;
    }
  }
  return sum;
}

double Residuals::variance(std::span<const Meeting> meetings) const {
  double sum = 0;
  for (const Part& part : parts_of(meetings)) {
    const auto at = beliefs_.find(part.key);
    sum += part.times * part.times * (at != beliefs_.end() ? at->second.variance : part.prior);
  }
  return sum;
}

double Residuals::covariance(std::span<const Meeting> one, std::span<const Meeting> other) const {
  double sum = 0;
  const std::vector<Part> others = parts_of(other);
  for (const Part& part : parts_of(one)) {
    const auto same = std::ranges::find(others, part.key, &Part::key);
    if (same == others.end()) continue;
    const auto at = beliefs_.find(part.key);
    sum += part.times * same->times * (at != beliefs_.end() ? at->second.variance : part.prior);
  }
  return sum;
}

Residuals::Belief& Residuals::belief(const Part& part) {
  const auto [at, added] = beliefs_.try_emplace(part.key);
  Belief& b = at->second;
  // A belief that counts several times forgets slower: else a crowd would follow every change at
  // once, and no change would ever be a surprise.
  const double forget = kForget / (part.times * part.times);
  b.variance = added ? part.prior : std::min(b.variance + forget, std::max(part.prior, forget));
  b.used = observed_;
  return b;
}

void Residuals::make_room() {
  while (beliefs_.size() > kMost) {
    beliefs_.erase(std::min_element(
        beliefs_.begin(), beliefs_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
  }
}

bool Residuals::observe(std::span<const Meeting> meetings, double log_ratio) {
  if (meetings.empty()) return false;
  ++observed_;
  const std::vector<Part> parts = parts_of(meetings);
  std::vector<Belief*> beliefs;
  double expected = 0, variance = kNoise * kNoise;
  for (const Part& part : parts) {
    beliefs.push_back(&belief(part));
    expected += part.times * beliefs.back()->mean;
    variance += part.times * part.times * beliefs.back()->variance;
  }
  const double deviation = std::sqrt(variance);
  const double surprise =
      std::clamp((log_ratio - expected) / deviation, -kMostSurprise, kMostSurprise);
  const double off = surprise * deviation;  // so that one wild measurement moves little
  bool drift = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Belief& b = *beliefs[i];
    const double reach = parts[i].times * b.variance;
    b.mean += reach / variance * off;
    b.variance -= reach * reach / variance;
    ++b.count;
    b.up = std::max(0.0, b.up + surprise - kSlack);
    b.down = std::max(0.0, b.down - surprise - kSlack);
    if (std::max(b.up, b.down) < kAlarm) continue;
    // Before it has settled a belief is only learning.
    drift = drift || b.count > kSettled;
    b.up = b.down = 0;
    b.count = 0;
    b.variance = std::max(b.variance, parts[i].prior);
  }
  if (drift) {
    ++drifts_;
    drifted_ = meetings.front();
  }
  make_room();
  return drift;
}

std::vector<std::byte> Residuals::state(std::uint64_t weights) const {
  std::vector<std::byte> out;
  for (const std::uint64_t word :
       {kMagic, weights, observed_, drifts_, std::uint64_t{beliefs_.size()},
        key_of(drifted_, drifted_.other)})
    put_word(out, word);
  for (const auto& [key, b] : beliefs_) {
    put_word(out, key);
    for (const double value : {b.mean, b.variance, b.up, b.down})
      put_word(out, std::bit_cast<std::uint64_t>(value));
    put_word(out, b.used);
    put_word(out, b.count);
  }
  put_word(out, check_of_words(out, kMagic));
  return out;
}

Status Residuals::restore(std::span<const std::byte> state, std::uint64_t weights) {
  const auto invalid = [](const std::string& what) {
    return Error{Errc::invalid, "what the speed model had learned: " + what};
  };
  if (state.size() < 8 * (kHeaderWords + 1) || state.size() % 8 != 0 || word_of(state, 0) != kMagic)
    return invalid("these bytes are not its state, or cut short");
  const std::size_t words = state.size() / 8;
  const std::uint64_t count = word_of(state, 4);
  if (count > kMost || words != kHeaderWords + count * kBeliefWords + 1)
    return invalid("cut short");
  if (check_of_words(state.first(8 * (words - 1)), kMagic) != word_of(state, words - 1))
    return invalid("altered");
  if (word_of(state, 1) != weights) return invalid("it belongs to other weights");
  std::map<std::uint64_t, Belief> beliefs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = kHeaderWords + i * kBeliefWords;
    const auto number = [&](std::size_t word) {
      return std::bit_cast<double>(word_of(state, word));
    };
    const Belief b{number(at + 1),         number(at + 2),
                   number(at + 3),         number(at + 4),
                   word_of(state, at + 5), static_cast<std::uint32_t>(word_of(state, at + 6))};
    if (!std::isfinite(b.mean) || !std::isfinite(b.variance) || b.variance < 0)
      return invalid("a number that is not finite");
    beliefs.emplace(word_of(state, at), b);
  }
  beliefs_ = std::move(beliefs);
  observed_ = word_of(state, 2);
  drifts_ = word_of(state, 3);
  const std::uint64_t key = word_of(state, 5);
  drifted_.victim = static_cast<std::uint16_t>(key >> 32U);
  drifted_.other = static_cast<std::uint16_t>(key >> 16U & 0xFFFFU);
  drifted_.kind = static_cast<std::uint8_t>(key >> 8U & 0xFFU);
  drifted_.relation = static_cast<Relation>(key & 0xFFU);
  return done();
}

}  // namespace starling
