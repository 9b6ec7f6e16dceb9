// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/adaptation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/check.h"
#include "base/rng.h"
#include "interference/adapt/adaptive_corrections.h"
#include "interference/learned/pair_intervals.h"
#include "interference/learned/residuals.h"

namespace starling {
namespace {

constexpr std::uint32_t kStays = 3;  // points in a row
constexpr std::size_t kAskedOf = 40;

bool chooses_at_random(AdaptationArm arm) {
  return arm == AdaptationArm::shipped_random || arm == AdaptationArm::meta_random;
}

std::unique_ptr<Corrections> corrections_of(const ShiftTask& task, const ShiftPrior& prior,
                                            AdaptationArm arm) {
  if (arm == AdaptationArm::shipped_random || arm == AdaptationArm::shipped_directed)
    return std::make_unique<Residuals>();
  const std::uint32_t trained = task.trained ? 1U << static_cast<unsigned>(task.kind) : 0U;
  return std::make_unique<AdaptiveCorrections>(prior, task.profiles, trained);
}

/// One run: what may be measured, what judges, and what was learned so far.
class Run {
 public:
  Run(const ShiftTask& task, const ShiftPrior& prior, AdaptationArm arm,
      const AdaptationOptions& options)
      : task_(task),
        options_(options),
        corrections_(corrections_of(task, prior, arm)),
        noise_(options.seed, 0x401e) {
    std::map<std::uint32_t, std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < task.rows.size(); ++i) rows[task.rows[i].pair].push_back(i);
    for (auto& [pair, both] : rows) pairs_.push_back(std::move(both));
    Rng rng(options.seed, 0x5b11);
    for (std::size_t i = pairs_.size(); i > 1; --i)
      std::swap(pairs_[i - 1], pairs_[rng.below(static_cast<std::uint32_t>(i))]);
    STARLING_CHECK(!pairs_.empty());
    const auto judges = std::max<std::size_t>(
        static_cast<std::size_t>(options.held_out * static_cast<double>(pairs_.size())), 1);
    for (std::size_t i = 0; i < judges; ++i) {
      for (const std::size_t row : pairs_.back()) judges_.push_back(row);
      pairs_.pop_back();
    }
  }

  [[nodiscard]] bool any() const { return !pairs_.empty(); }

  [[nodiscard]] AdaptationPoint judged() const {
    AdaptationPoint out;
    for (const std::size_t row : judges_) {
      const auto [speed, deviation] = believed(task_.rows[row]);
      const double off = std::abs(task_.rows[row].speed - speed);
      out.mae += off / static_cast<double>(judges_.size());
      if (off <= kSigmas90 * deviation) out.coverage90 += 1 / static_cast<double>(judges_.size());
    }
    return out;
  }

  /// Measures the next pair: in the order of the draw, or the one that tells most of the others.
  void measure(bool at_random) {
    const std::size_t next = at_random ? pairs_.size() - 1 : most_telling();
    for (const std::size_t i : pairs_[next]) {
      const ShiftRow& row = task_.rows[i];
      const Meeting meeting = meeting_of(row);
      const double measured =
          std::max(row.speed * (1 + options_.noise * noise_.normal()), kSlowest);
      corrections_->observe({&meeting, 1}, std::log(measured) + row.predicted);
    }
    pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(next));
  }
  /// Error of the network on those that judge.
  [[nodiscard]] double shipped() const {
    double sum = 0;
    for (const std::size_t row : judges_)
      sum += std::abs(task_.rows[row].speed - std::exp(-task_.rows[row].predicted));
    return sum / static_cast<double>(judges_.size());
  }

 private:
  struct Believed {
    double speed = 1, deviation = 0;
  };
  [[nodiscard]] Meeting meeting_of(const ShiftRow& row) const {
    return {row.victim,    row.other,    Relation::gpu, static_cast<std::uint8_t>(task_.kind),
            row.deviation, row.predicted};
  }
  /// As LearnedSpeed answers.
  [[nodiscard]] Believed believed(const ShiftRow& row) const {
    const Meeting meeting = meeting_of(row);
    const double log_speed = corrections_->correction({&meeting, 1}) - row.predicted;
    const double speed = std::clamp(std::exp(log_speed), kSlowest, 1.0);
    return {speed, speed * std::sqrt(corrections_->variance({&meeting, 1}))};
  }

  /// The first of equals. What it tells is asked of some of those that are left, spread evenly.
  [[nodiscard]] std::size_t most_telling() const {
    std::vector<Meeting> asked;
    const std::size_t stride = std::max<std::size_t>(pairs_.size() / kAskedOf, 1);
    for (std::size_t i = 0; i < pairs_.size(); i += stride)
      asked.push_back(meeting_of(task_.rows[pairs_[i].front()]));
    std::size_t best = 0;
    double most = -1;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      double tells = 0;
      for (const std::size_t row : pairs_[i]) {
        const Meeting own = meeting_of(task_.rows[row]);
        const double variance =
            corrections_->variance({&own, 1}) + Residuals::kNoise * Residuals::kNoise;
        for (const Meeting& other : asked) {
          const double shared = corrections_->covariance({&own, 1}, {&other, 1});
          tells += shared * shared / variance;
        }
      }
      if (tells > most) most = tells, best = i;
    }
    return best;
  }

  const ShiftTask& task_;
  const AdaptationOptions& options_;
  std::unique_ptr<Corrections> corrections_;
  Rng noise_;
  std::vector<std::vector<std::size_t>> pairs_;  // rows, of those that are not yet measured
  std::vector<std::size_t> judges_;              // rows
};

}  // namespace

const char* to_string(AdaptationArm arm) noexcept {
  switch (arm) {
    case AdaptationArm::shipped_random:
      return "shipped, random";
    case AdaptationArm::shipped_directed:
      return "shipped, directed";
    case AdaptationArm::meta_random:
      return "meta, random";
    case AdaptationArm::meta_directed:
      return "meta, directed";
  }
  return "";
}

AdaptationCurve adaptation_curve(const ShiftTask& task, const ShiftPrior& prior, AdaptationArm arm,
                                 const AdaptationOptions& options) {
  Run run(task, prior, arm, options);
  AdaptationCurve curve{run.shipped(), {run.judged()}};
  while (curve.points.size() <= options.samples && run.any()) {
    run.measure(chooses_at_random(arm));
    curve.points.push_back(run.judged());
  }
  return curve;
}

std::uint32_t samples_to_half(const AdaptationCurve& curve) {
  std::uint32_t good = 0;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    good = curve.points[i].mae <= curve.shipped / 2 ? good + 1 : 0;
    if (good == kStays) return static_cast<std::uint32_t>(i + 1 - kStays);
  }
  return static_cast<std::uint32_t>(curve.points.size());
}

}  // namespace starling
