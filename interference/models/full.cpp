// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "interference/flows/coupled_gangs.h"
#include "interference/goodput/scaling.h"
#include "interference/iteration.h"
#include "interference/models.h"
#include "interference/pace/pace.h"

namespace starling {
namespace {

// A server full of jobs that keep their GPUs busy slows each by 8 % through memory and PCIe. An
// assumption: no published measurement separates it from the CPUs. Hidden from the analytic model,
// so that there is something to learn.
constexpr double kPressure = 0.08;

// Ten seconds to fetch the image and start, as Hadar charges for a restart; then weights and
// optimiser state come back at 200 MiB/s from shared storage (assumed), for 20 s at most.
constexpr double kLaunchS = 10;
constexpr double kRestoreMiBPerS = 200;
constexpr double kRestoreMaxS = 20;

class FullPhysics final : public CoupledPhysics {
 public:
  FullPhysics(const Topology& topology, const FullPhysicsOptions& options,
              std::optional<LinkDemand> flows)
      : contention_(options.contention),
        form_(topology, kPressure, contention_ ? *contention_ : fitted_contention(), true),
        straggler_sigma_(options.straggler_sigma),
        goodput_(options.goodput),
        flows_(flows) {}

  [[nodiscard]] double rate(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override {
    return form_.relative(job, placement, beside) / straggling(job, placement.size());
  }
  [[nodiscard]] double rate(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside, const NetworkShare& share) const override {
    return form_.relative(job, placement, beside, &share) / straggling(job, placement.size());
  }
  [[nodiscard]] std::unique_ptr<CoupledGangs> gangs() const override {
    return flows_ ? std::make_unique<CoupledGangs>(form_, *flows_) : nullptr;
  }
  [[nodiscard]] double scaling(const JobProfile& job) const override {
    return form_.scaling(job) * efficiency(job);
  }
  [[nodiscard]] double pace(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside, const Allocation& how) const override {
    return training_pace(form_, {job, placement, beside, how}, goodput_) /
           straggling(job, placement.size());
  }
  [[nodiscard]] bool varies() const noexcept override { return true; }
  [[nodiscard]] double startup_s(const JobProfile& job) const override {
    const double state_mib = model_profile(job.model).checkpoint_mib;
    return kLaunchS + std::min(kRestoreMaxS, state_mib / kRestoreMiBPerS);
  }

 private:
  [[nodiscard]] double efficiency(const JobProfile& job) const {
    if (!goodput_ || job.parameter_servers > 0 || job.asked == 0 || job.asked == job.gpus) return 1;
    const GoodputProfile* profile = goodput_profile(model_profile(job.model));
    if (profile == nullptr) return 1;
    const double own =
        job.batch > 0 ? static_cast<double>(job.batch) / job.asked : profile->limits.own;
    return training_efficiency(profile->noise, own * job.asked, own * job.gpus);
  }
  // The slowest of n workers: its z by inverting (1 - exp(-z^2 / 2))^n by the job's seed.
  [[nodiscard]] double straggling(const JobProfile& job, std::size_t workers) const {
    if (straggler_sigma_ <= 0 || job.straggler_seed == 0 || workers == 0) return 1;
    const double u = (static_cast<double>(job.straggler_seed >> 11U) + 0.5) * 0x1p-53;
    const double part = -std::expm1(std::log(u) / static_cast<double>(workers));
    return 1 + straggler_sigma_ * std::sqrt(-2 * std::log(part));
  }

  std::shared_ptr<const Contention> contention_;
  IterationForm form_;
  double straggler_sigma_;
  bool goodput_;
  std::optional<LinkDemand> flows_;
};

class AnalyticSpeed final : public SpeedModel {
 public:
  explicit AnalyticSpeed(const Topology& topology) : form_(topology, 0) {}

  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override {
    const double relative = form_.relative(job, placement, beside);
    // Alone on its best placement there is nothing to be wrong about; the form's error grows with
    // the slowdown.
    const double crowd = beside.empty() ? 0 : kPressure / 2;
    return {relative, crowd + kFormError * (1 - relative)};
  }
  [[nodiscard]] double scaling(const JobProfile& job) const override { return form_.scaling(job); }
  [[nodiscard]] double pace(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside, const Allocation& how) const override {
    return training_pace(form_, {job, placement, beside, how}, true);
  }
  [[nodiscard]] SpeedHealth health() const override {
    SpeedHealth health;
    health.model = "analytic";
    return health;
  }

 private:
  IterationForm form_;
};

}  // namespace

std::unique_ptr<Physics> make_full_physics(const Topology& topology,
                                           const FullPhysicsOptions& options) {
  return std::make_unique<FullPhysics>(topology, options, std::nullopt);
}
std::unique_ptr<CoupledPhysics> make_flow_physics(const Topology& topology,
                                                  const FullPhysicsOptions& options,
                                                  LinkDemand demand) {
  return std::make_unique<FullPhysics>(topology, options, demand);
}
std::unique_ptr<SpeedModel> make_analytic_speed(const Topology& topology) {
  return std::make_unique<AnalyticSpeed>(topology);
}

}  // namespace starling
