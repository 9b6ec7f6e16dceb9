// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "interference/adapt/mixed_effects.h"
#include "interference/adapt/page_hinkley.h"
#include "interference/adapt/shift_prior.h"
#include "interference/learned/corrections.h"
#include "interference/learned/residuals.h"

namespace starling {

/// Corrections that adapt to other hardware. While the network's intervals hold on a kind of GPU
/// they are Residuals, to the bit. Once the surprises there have been too large for too long
/// (PageHinkley; of jobs beside others of whom little is known yet, or of those that are known)
/// everything that was learned of jobs that share a GPU of that kind is put aside:
/// from then on MixedEffects answers, which begins at the prior, the meta-initialisation, with its
/// wide intervals, and learns first what was measured since the change, of the last kRecent. How
/// far this change is from the prior, in its deviations, is told by the evidence: of kWidths the
/// one under which what was measured since is likeliest, asked again at kAsked measurements. A
/// further alarm begins all that anew. On a kind that the network was not trained on it is so from
/// the start. Meetings on links and servers stay with Residuals. Deterministic.
class AdaptiveCorrections final : public Corrections {
 public:
  static constexpr std::size_t kRecent = 96;  ///< measurements kept of each kind
  static constexpr std::array kWidths = {1.0, 0.5, 2.0, 4.0};
  static constexpr std::array kAsked = {4U, 8U, 16U, 32U, 64U, 96U};
  /// Jobs that meet more others than this are not kept for what follows an alarm.
  static constexpr std::size_t kMostMeetings = 8;

  /// What is known of each job type alone, by model index.
  using Profiles = std::vector<std::array<float, kGpuProfile>>;
  /// `trained`: kinds of GPUs on which the network's intervals were calibrated, by bit.
  AdaptiveCorrections(const ShiftPrior& prior, Profiles profiles, std::uint32_t trained);

  [[nodiscard]] double correction(std::span<const Meeting> meetings) const override;
  [[nodiscard]] double variance(std::span<const Meeting> meetings) const override;
  [[nodiscard]] double covariance(std::span<const Meeting> one,
                                  std::span<const Meeting> other) const override;
  bool observe(std::span<const Meeting> meetings, double log_ratio) override;

  [[nodiscard]] bool neutral() const noexcept override { return false; }
  [[nodiscard]] std::uint64_t observed() const noexcept override { return observed_; }
  [[nodiscard]] std::uint64_t drifts() const noexcept override {
    return drifts_ + residuals_.drifts();
  }
  [[nodiscard]] std::uint64_t relearned() const noexcept override { return relearned_; }
  [[nodiscard]] const Meeting& drifted() const noexcept override { return drifted_; }
  /// Whether that kind of GPU is answered by MixedEffects.
  [[nodiscard]] bool adapted(std::uint8_t kind) const;

  [[nodiscard]] std::vector<std::byte> state(std::uint64_t weights) const override;
  [[nodiscard]] Status restore(std::span<const std::byte> state, std::uint64_t weights) override;

 private:
  /// One that was measured: the log ratio that jobs on the GPU are to explain, and its variance
  /// beyond the noise.
  struct Sample {
    std::vector<Meeting> meetings;
    double log_ratio = 0, more = 0;
  };
  struct Kind {
    /// Of jobs of which little is known yet, and of all others: what runs for hours is measured
    /// again and again, is no surprise any more, and would drown the others.
    PageHinkley fresh, known;
    std::uint32_t fresh_for = 0;  ///< measurements, of both, for which the former's sum is above 0
    std::deque<Sample> recent;
    std::optional<MixedEffects> effects;
    std::uint32_t since = 0;  ///< measurements that the effects were made of, at most kRecent + 1
  };
  /// Meetings as they are answered: on GPUs of one kind by its effects, all others by residuals_.
  struct Split {
    std::vector<ShiftedPair> pairs;
    std::vector<Meeting> rest;
    const MixedEffects* effects = nullptr;
  };
  void split(std::span<const Meeting> meetings, Split& out) const;
  [[nodiscard]] ShiftedPair shifted(const Meeting& meeting) const;
  /// Null: residuals_ answers.
  [[nodiscard]] const MixedEffects* effects_of(std::uint8_t kind) const;
  [[nodiscard]] bool trained_on(std::uint8_t kind) const noexcept {
    return (trained_ >> kind & 1U) != 0;
  }
  /// The effects are made anew of what is recent, with the likeliest width.
  void learn_anew(Kind& kind);
  /// Measurements since the change, if there is an alarm. `fresh`: little is known of it yet.
  [[nodiscard]] static std::optional<std::size_t> alarm(Kind& kind, double surprise, bool fresh);
  [[nodiscard]] std::uint64_t hash_with(std::uint64_t weights) const;

  ShiftPrior prior_;
  Profiles profiles_;
  std::uint32_t trained_;
  MixedEffects blank_;  // of kinds that nothing was measured on
  Residuals residuals_;
  std::map<std::uint8_t, Kind> kinds_;
  std::uint64_t observed_ = 0, drifts_ = 0;
  std::uint64_t relearned_ = 0;  // since this was made
  Meeting drifted_;
};

}  // namespace starling
