// SPDX-License-Identifier: Apache-2.0
#include "interference/adapt/adaptive_corrections.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "base/hash.h"

namespace starling {
namespace {

/// Little is known of a measurement while so much is left of the variance before any.
constexpr double kFresh = 0.4;

bool on_gpu(const Meeting& meeting) { return meeting.relation == Relation::gpu; }

/// The kind of GPU that a measurement is about; none: no GPU is shared.
std::optional<std::uint8_t> kind_of(std::span<const Meeting> meetings) {
  const auto first = std::ranges::find_if(meetings, on_gpu);
  return first == meetings.end() ? std::nullopt : std::optional(first->kind);
}

}  // namespace

AdaptiveCorrections::AdaptiveCorrections(const ShiftPrior& prior, Profiles profiles,
                                         std::uint32_t trained)
    : prior_(prior), profiles_(std::move(profiles)), trained_(trained), blank_(prior) {}

bool AdaptiveCorrections::adapted(std::uint8_t kind) const { return effects_of(kind) != nullptr; }

const MixedEffects* AdaptiveCorrections::effects_of(std::uint8_t kind) const {
  const auto at = kinds_.find(kind);
  if (at != kinds_.end() && at->second.effects) return &*at->second.effects;
  return trained_on(kind) ? nullptr : &blank_;
}

ShiftedPair AdaptiveCorrections::shifted(const Meeting& meeting) const {
  STARLING_CHECK(meeting.victim < profiles_.size() && meeting.other < profiles_.size());
  return {meeting.victim, meeting.other,
          prior_.features(profiles_[meeting.victim], profiles_[meeting.other], meeting.predicted)};
}

void AdaptiveCorrections::split(std::span<const Meeting> meetings, Split& out) const {
  out.pairs.clear();
  out.rest.clear();
  const auto kind = kind_of(meetings);
  out.effects = kind ? effects_of(*kind) : nullptr;
  for (const Meeting& meeting : meetings) {
    if (out.effects != nullptr && on_gpu(meeting) && meeting.kind == *kind) {
      out.pairs.push_back(shifted(meeting));
    } else {
      out.rest.push_back(meeting);
    }
  }
}

double AdaptiveCorrections::correction(std::span<const Meeting> meetings) const {
  thread_local Split parts;  // kept, so that a question allocates nothing
  split(meetings, parts);
  const double rest = residuals_.correction(parts.rest);
  return parts.effects == nullptr ? rest : rest + parts.effects->believe(parts.pairs).mean;
}

double AdaptiveCorrections::variance(std::span<const Meeting> meetings) const {
  thread_local Split parts;
  split(meetings, parts);
  const double rest = residuals_.variance(parts.rest);
  return parts.effects == nullptr ? rest : rest + parts.effects->believe(parts.pairs).variance;
}

double AdaptiveCorrections::covariance(std::span<const Meeting> one,
                                       std::span<const Meeting> other) const {
  Split a, b;
  split(one, a), split(other, b);
  const double rest = residuals_.covariance(a.rest, b.rest);
  return a.effects == nullptr || a.effects != b.effects
             ? rest
             : rest + a.effects->covariance(a.pairs, b.pairs);
}

void AdaptiveCorrections::learn_anew(Kind& kind) {
  ++relearned_;
  std::optional<MixedEffects> best;
  for (const double width : kWidths) {
    MixedEffects effects(prior_.widened(width));
    for (const Sample& sample : kind.recent) {
      std::vector<ShiftedPair> pairs;
      for (const Meeting& meeting : sample.meetings) pairs.push_back(shifted(meeting));
      effects.observe(pairs, sample.log_ratio, sample.more);
    }
    if (!best || effects.evidence() > best->evidence()) best = std::move(effects);
  }
  kind.effects = std::move(best);
}

std::optional<std::size_t> AdaptiveCorrections::alarm(Kind& kind, double surprise, bool fresh) {
  const bool told = (fresh ? kind.fresh : kind.known).observe(surprise);
  kind.fresh_for = kind.fresh.sum() > 0 ? kind.fresh_for + 1 : 0;
  if (!told) return std::nullopt;
  const std::size_t since = fresh ? kind.fresh_for : kind.known.since();
  kind.fresh = kind.known = {};
  kind.fresh_for = 0;
  return since;
}

bool AdaptiveCorrections::observe(std::span<const Meeting> meetings, double log_ratio) {
  if (meetings.empty()) return false;
  ++observed_;
  const auto about = kind_of(meetings);
  if (!about) {
    const bool drift = residuals_.observe(meetings, log_ratio);
    if (drift) drifted_ = residuals_.drifted();
    return drift;
  }
  Kind& kind = kinds_[*about];
  if (!kind.effects && !trained_on(*about)) kind.effects.emplace(prior_);
  Sample sample;
  std::vector<ShiftedPair> pairs;
  std::vector<Meeting> rest;
  for (const Meeting& meeting : meetings) {
    if (!on_gpu(meeting) || meeting.kind != *about) {
      rest.push_back(meeting);
      continue;
    }
    sample.meetings.push_back(meeting);
    if (kind.effects) pairs.push_back(shifted(meeting));
  }
  sample.log_ratio = log_ratio - residuals_.correction(rest);
  sample.more = residuals_.variance(rest);
  double surprise = 0;
  bool drift = false, fresh = false;
  if (kind.effects) {
    const double believed = kind.effects->believe(pairs).mean;
    surprise = kind.effects->observe(pairs, sample.log_ratio, sample.more);
    if (!rest.empty()) drift = residuals_.observe(rest, log_ratio - believed);
  } else {
    double unknown = 0;
    for (const Meeting& meeting : meetings) unknown += meeting.deviation * meeting.deviation;
    const double left = residuals_.variance(meetings);
    fresh = left >= kFresh * unknown;
    surprise = (log_ratio - residuals_.correction(meetings)) /
               std::sqrt(left + Residuals::kNoise * Residuals::kNoise);
    drift = residuals_.observe(meetings, log_ratio);
  }
  if (drift) drifted_ = residuals_.drifted();
  if (sample.meetings.size() <= kMostMeetings) kind.recent.push_back(std::move(sample));
  if (kind.recent.size() > kRecent) kind.recent.pop_front();
  kind.since = std::min<std::uint32_t>(kind.since + 1, kRecent + 1);
  if (const auto changed = alarm(kind, surprise, fresh)) {
    const std::size_t since = std::min(*changed, kind.recent.size());
    kind.recent.erase(kind.recent.begin(), kind.recent.end() - static_cast<std::ptrdiff_t>(since));
    kind.since = static_cast<std::uint32_t>(since);
    learn_anew(kind);
    drift = true;
    ++drifts_;
    drifted_ = *std::ranges::find_if(meetings, on_gpu);
  } else if (kind.effects && std::ranges::find(kAsked, kind.since) != kAsked.end()) {
    learn_anew(kind);
  }
  return drift;
}

std::uint64_t AdaptiveCorrections::hash_with(std::uint64_t weights) const {
  std::uint64_t hash = weights;
  for (const double value : prior_.slope) hash = mix64(hash ^ std::bit_cast<std::uint64_t>(value));
  for (const double value : {prior_.victim, prior_.other, prior_.pair, prior_.noise})
    hash = mix64(hash ^ std::bit_cast<std::uint64_t>(value));
  return hash;
}

}  // namespace starling
