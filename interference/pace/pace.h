// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "interference/iteration.h"
#include "interference/speed.h"
#include "workload/allocation.h"

namespace starling {

/// One question about how fast a job gets on. What it refers to must outlive the question.
struct PaceQuestion {
  const JobProfile& job;  ///< `gpus` and `parameter_servers` as they run, `asked` as it asked
  const Placement& placement;
  const Neighbours& beside;
  Allocation allocation = {};
  /// Samples of one iteration at the size asked for. 0: JobProfile::batch or, where the job does
  /// not say it, the own batch of the model's profile on each GPU; where there is no profile
  /// either, it is unknown, and local_batch changes nothing.
  std::uint32_t batch = 0;
  double done = 0;  ///< part of the training that is done, in [0, 1]: noise grows with it
};

/// How fast it gets on.
struct Pace {
  double step_s = 0;  ///< seconds from one exchange to the next; of the slowest copy if averaged
  double batch = 0;   ///< samples in that time, of all workers; of one GPU 1 where it is not known
  double efficiency = 1;  ///< progress of a sample, in that of a sample at the batch asked for
  double relative = 0;    ///< progress, in that of the size asked for alone on its best placement
};

/// What of a pace is counted.
struct PaceOptions {
  /// Samples of a batch larger than the job asks for make less progress, as much as the noise scale
  /// of its model says (interference/goodput/noise_scale.h). Without it, and for models whose noise
  /// was not measured, every sample makes as much.
  bool goodput = false;
  /// Progress of a sample where copies are averaged, in that of one in a gang. What it is in truth
  /// goes with how often they are; 1 is the most that it can be.
  double averaged = 1;
};

/// The one function of (job with its allocation, placement, neighbours) that says how fast a job
/// gets on, for the world and policies alike (Physics::pace, SpeedModel::pace). Sources by factor:
///
///   step     IterationForm (Pollux' form over five tiers; the slowest worker and the slowest path
///            of the gang), with T_grad as the batch has it:
///              T = accumulation * T_grad + (T_grad^gamma + T_sync^gamma)^(1/gamma)
///              T_grad(m) / T_grad(m0) = (compute + sample * m) / (compute + sample * m0)
///            compute and sample as fitted to Pollux' measurements where there are any (see
///            interference/goodput/profiles.h), else compute = 0
///   batch    all-reduce: workers * local_batch * (accumulation + 1), a worker having as large a
///            one as at the size asked for; parameter servers: the batch asked for, among however
///            many workers there are, unless local_batch says otherwise. What is not said takes
///            the world's time, which is proportional to it (compute = 0)
///   noise    efficiency = (phi + M0) / (phi + M) (McCandlish 2018, Pollux 2021), M0 the batch
///            asked for, phi by model, part of the training and batch
///   copies   each server's part is a gang of its own, with workers of one GPU; their paces add up,
///            and PaceOptions::averaged stands for noise
///   servers  so many parameter servers, which occupy CPUs of the servers that the gang is on and
///            serve as fast as those allow (interference/parameter_servers.h); a job that asked for
///            all-reduce keeps a batch for each GPU
///
/// `relative` with Allocation{} and without goodput is exactly Physics' rate() * scaling() of the
/// same form. `job.gpus` is placement.size(); at least one GPU. Pure.
[[nodiscard]] Pace pace(const IterationForm& form, const PaceQuestion& question,
                        const PaceOptions& options = {});

/// Pace::relative where noise is counted as a mean over the training, each part taking its own time
/// (training_efficiency), and not as it is at `question.done`: so a rate does not change on its
/// way. Without `goodput`, and for models whose noise was not measured, every sample makes as much.
[[nodiscard]] double training_pace(const IterationForm& form, const PaceQuestion& question,
                                   bool goodput);

/// What a job would say of its gradients.
struct GradientReport {
  double noise = 0;         ///< noise scale, in samples; 0: it was not measured of this model
  std::uint32_t batch = 0;  ///< samples of one step, of all workers; 0: the same
};
/// Of `job` on `gpus` of them by `how`, when the part `done` in [0, 1] of its training is done: the
/// noise that its model was measured to have, at the batch that it runs with.
[[nodiscard]] GradientReport gradient_report(const JobProfile& job, std::size_t gpus,
                                             const Allocation& how, double done);

}  // namespace starling
