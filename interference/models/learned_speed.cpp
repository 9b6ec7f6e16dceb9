// SPDX-License-Identifier: Apache-2.0
#include "interference/models/learned_speed.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "interference/adapt/adaptive_corrections.h"
#include "interference/iteration.h"
#include "interference/learned/check_input.h"
#include "interference/learned/gpu_speeds.h"
#include "interference/learned/learned_contention.h"
#include "interference/learned/residuals.h"
#include "interference/learned/state_words.h"
#include "interference/models.h"

namespace starling {
namespace {

// Of a server's crowd and of a link before anything was observed.
constexpr double kHostDeviation = 0.06;
constexpr double kLinkDeviation = 0.2;
constexpr double kSlowest = 0.01;
constexpr std::uint64_t kBoth = 0x3248544f42535453;  // "STSBOTH2": of neighbours and of GPUs
constexpr double kNews = 0.1;  // of log speeds, summed up: those who keep answers ask again

class LearnedSpeed final : public SpeedModel {
 public:
  /// `prior`: it adapts to other hardware; null: it only corrects.
  LearnedSpeed(const Topology& topology, InterferenceNet net, const ShiftPrior* prior)
      : topology_(topology),
        contention_(std::move(net)),
        form_(topology_, 0, contention_),
        analytic_(make_analytic_speed(topology_)),
        adapts_(prior != nullptr) {
    for (const GpuType& type : topology_.gpu_types()) kinds_.push_back(gpu_kind(type.name));
    if (prior == nullptr) {
      corrections_ = std::make_unique<Residuals>();
    } else {
      corrections_ = std::make_unique<AdaptiveCorrections>(*prior, LearnedContention::profiles(),
                                                           LearnedContention::trained_kinds());
    }
  }

  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override {
    if (placement.empty()) return {};
    if (const char* wrong = cannot_answer(job, placement, beside)) {
      ++fallbacks_;
      trouble_ = wrong;
      return analytic_->speed(job, placement, beside);
    }
    const double predicted = predict(job, placement, beside);
    if (!std::isfinite(predicted)) {
      ++fallbacks_;
      trouble_ = "the prediction is not finite";
      return analytic_->speed(job, placement, beside);
    }
    if (beside.empty()) return {predicted, kFormError * (1 - predicted)};
    thread_local std::vector<Meeting> meetings;  // kept, so that a question allocates nothing
    meet(job, placement, beside, meetings);
    if (meetings.empty()) return {predicted, kFormError * (1 - predicted)};
    double relative = predicted;
    double variance = 0;
    if (corrections_->neutral()) {
      for (const Meeting& m : meetings) variance += m.deviation * m.deviation;
    } else {
      variance = corrections_->variance(meetings);
      if (const double correction = corrections_->correction(meetings); correction != 0) {
        // Whatever was observed, others never speed a job up.
        const double alone = predict(job, placement, {});
        relative = std::clamp(predicted * std::exp(correction), kSlowest, alone);
      }
    }
    return {relative, relative * std::sqrt(variance)};
  }

  [[nodiscard]] double scaling(const JobProfile& job) const override { return form_.scaling(job); }
  /// What was learned of neighbours holds for whatever batch the job has.
  [[nodiscard]] double pace(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside, const Allocation& how) const override {
    if (placement.empty()) return scaling(job);
    const double alone =
        analytic_->pace(job, placement, {}, how) * std::exp(gpus_.slowest(placement));
    if (beside.empty()) return alone;
    return alone * speed(job, placement, beside).relative / speed(job, placement, {}).relative;
  }

  void observe(const JobProfile& job, const Placement& placement, const Neighbours& beside,
               double measured) override {
    const bool wrong = !(measured > 0 && measured < 100) || placement.empty() ||
                       cannot_answer(job, placement, beside) != nullptr;
    if (wrong) {
      ++refused_;
      return;
    }
    std::vector<Meeting> meetings;
    meet(job, placement, beside, meetings);
    const double predicted = predict(job, placement, beside);
    if (!(predicted > 0)) return;
    if (meetings.empty()) return observe_gpus(placement, measured / predicted);
    const double before = corrections_->correction(meetings);
    const std::uint64_t relearned = corrections_->relearned();
    const bool drift = corrections_->observe(meetings, std::log(measured / predicted));
    news_ += std::abs(corrections_->correction(meetings) - before);
    // Answers to other questions changed, too.
    if ((drift && adapts_) || corrections_->relearned() != relearned) news_ = 2 * kNews;
    if (news_ > kNews) {
      news_ = 0;
      ++version_;
    }
    if (drift) {
      trouble_ = "drift: " + job.model + " beside others on one " +
                 to_string(corrections_->drifted().relation) + " runs otherwise than it did";
    }
  }

  [[nodiscard]] std::uint64_t version() const noexcept override { return version_; }
  [[nodiscard]] SpeedHealth health() const override {
    return {adapts_ ? "adaptive" : "learned", fallbacks_, corrections_->observed(), refused_,
            corrections_->drifts(),           trouble_};
  }
  [[nodiscard]] std::vector<std::byte> state() const override {
    std::vector<std::byte> beside;
    if (corrections_->observed() > 0) beside = corrections_->state(contention_.net().hash());
    if (gpus_.empty()) return beside;
    std::vector<std::byte> both;
    put_word(both, kBoth);
    put_word(both, beside.size());
    both.insert(both.end(), beside.begin(), beside.end());
    const std::vector<std::byte> gpus = gpus_.state();
    both.insert(both.end(), gpus.begin(), gpus.end());
    return both;
  }
  [[nodiscard]] Status restore(std::span<const std::byte> state) override {
    if (state.empty()) return done();
    if (state.size() < 16 || word_of(state, 0) != kBoth) {
      ++version_;
      return corrections_->restore(state, contention_.net().hash());
    }
    const std::uint64_t beside = word_of(state, 1);
    if (beside > state.size() - 16)
      return {Errc::invalid, "what the speed model had learned: cut short"};
    GpuSpeeds gpus;
    if (Status read = gpus.restore(state.subspan(16 + beside), topology_.gpu_count()); !read.ok())
      return read;
    if (beside > 0) {
      Status read = corrections_->restore(state.subspan(16, beside), contention_.net().hash());
      if (!read.ok()) return read;
    }
    gpus_ = std::move(gpus);
    ++version_;
    return done();
  }

 private:
  /// With what is known of its GPUs, but not of what was measured of neighbours.
  [[nodiscard]] double predict(const JobProfile& job, const Placement& placement,
                               const Neighbours& beside) const {
    const double nominal = form_.relative(job, placement, beside);
    return gpus_.empty() ? nominal : nominal * std::exp(gpus_.slowest(placement));
  }

  /// Of a gang that runs alone. What leaves its server is left out: it may have
  /// been the network.
  void observe_gpus(const Placement& placement, double ratio) {
    if (topology_.tier_of(placement) >= Tier::rack) return;
    const double before = gpus_.slowest(placement);
    gpus_.observe(placement, std::log(ratio) + before);
    news_ += std::abs(gpus_.slowest(placement) - before);
    if (news_ <= kNews) return;
    news_ = 0;
    ++version_;
  }

  [[nodiscard]] const char* cannot_answer(const JobProfile& job, const Placement& placement,
                                          const Neighbours& beside) const {
    if (const char* wrong = wrong_with(job)) return wrong;
    for (const Neighbour& other : beside) {
      if (const char* wrong = wrong_with(other.job)) return wrong;
    }
    for (const GpuId gpu : placement) {
      if (gpu.value >= topology_.gpu_count()) return "placement: no such GPU";
      if (kinds_[topology_.type_of(gpu).value] == GpuKind::other)
        return "gpu: of a type that was not measured";
    }
    return nullptr;
  }

  // Of each neighbour that the job meets, the closest relation.
  void meet(const JobProfile& job, const Placement& placement, const Neighbours& beside,
            std::vector<Meeting>& out) const {
    out.clear();
    const ModelProfile& model = model_profile(job.model);
    const auto victim = static_cast<std::uint16_t>(LearnedContention::index(model));
    const bool leaves = topology_.tier_of(placement) >= Tier::rack;
    for (const Neighbour& other : beside) {
      std::optional<Relation> relation;
      GpuKind kind = kinds_[topology_.type_of(placement.front()).value];
      for (const GpuId gpu : other.placement) {
        if (std::binary_search(placement.begin(), placement.end(), gpu)) {
          relation = Relation::gpu;
          kind = kinds_[topology_.type_of(gpu).value];
          break;
        }
        if (!relation && std::any_of(placement.begin(), placement.end(), [&](GpuId own) {
              return topology_.server_of(own) == topology_.server_of(gpu);
            }))
          relation = Relation::host;
      }
      if (!relation) continue;
      if (relation == Relation::host && leaves && topology_.tier_of(other.placement) >= Tier::rack)
        relation = Relation::link;
      const ModelProfile& its = model_profile(other.job.model);
      double deviation = relation == Relation::link ? kLinkDeviation : kHostDeviation;
      double predicted = 0;
      if (relation == Relation::gpu) {
        const LearnedContention::Pair pair = contention_.pair(model, its, kind);
        deviation = static_cast<double>(pair.deviation);
        predicted = static_cast<double>(pair.log_slowdown);
      }
      out.push_back({victim, static_cast<std::uint16_t>(LearnedContention::index(its)), *relation,
                     static_cast<std::uint8_t>(kind), deviation, predicted});
    }
  }

  Topology topology_;
  LearnedContention contention_;
  IterationForm form_;
  std::unique_ptr<SpeedModel> analytic_;
  std::vector<GpuKind> kinds_;  // by GPU type
  bool adapts_;
  std::unique_ptr<Corrections> corrections_;
  GpuSpeeds gpus_;
  double news_ = 0;  // changes of answers since version_ last grew
  std::uint64_t version_ = 0;
  std::uint64_t refused_ = 0;
  mutable std::uint64_t fallbacks_ = 0;
  mutable std::string trouble_;
};

class FallbackSpeed final : public SpeedModel {
 public:
  FallbackSpeed(const Topology& topology, std::string reason)
      : analytic_(make_analytic_speed(topology)), reason_(std::move(reason)) {}
  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override {
    ++asked_;
    return analytic_->speed(job, placement, beside);
  }
  [[nodiscard]] double scaling(const JobProfile& job) const override {
    return analytic_->scaling(job);
  }
  [[nodiscard]] double pace(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside, const Allocation& how) const override {
    return analytic_->pace(job, placement, beside, how);
  }
  [[nodiscard]] SpeedHealth health() const override {
    return {"analytic", asked_, 0, 0, 0, reason_};
  }

 private:
  std::unique_ptr<SpeedModel> analytic_;
  std::string reason_;
  mutable std::uint64_t asked_ = 0;
};

}  // namespace

Result<std::unique_ptr<SpeedModel>> make_learned_speed(const Topology& topology,
                                                       const Weights& weights,
                                                       const ShiftPrior* prior) {
  auto net = InterferenceNet::make(weights);
  if (!net) return net.error();
  if (!net.value().gpu)
    return Error{Errc::invalid,
                 "these weights say nothing of jobs that share a GPU: note gpu.types is missing"};
  return std::unique_ptr<SpeedModel>(
      std::make_unique<LearnedSpeed>(topology, std::move(net).value(), prior));
}

std::unique_ptr<SpeedModel> make_fallback_speed(const Topology& topology,
                                                const std::string& reason) {
  return std::make_unique<FallbackSpeed>(topology, reason);
}

}  // namespace starling
