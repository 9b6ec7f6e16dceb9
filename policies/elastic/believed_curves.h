// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "interference/goodput/online_fit.h"
#include "scheduling/memory_bytes.h"
#include "scheduling/policy.h"

namespace starling {

/// How fast each job of a home is believed to be on any GPUs: a curve fitted to what it was
/// measured at (OnlineFit), which begins with that of the last job of its kind, equal in model, in
/// GPUs per worker and in workers asked for. A part of any policy that reads View::running and
/// PolicyFacts::reads_pace. What jobs beside it cost is in the figures as if it were its own.
class BelievedCurves {
 public:
  static constexpr std::size_t kMostJobs = 1024, kMostKinds = 256;
  /// Curves that one learn() fits; more wait for the next.
  static constexpr std::size_t kFitsAtOnce = 8;
  /// Samples that are kept beyond the process, of all jobs.
  static constexpr std::size_t kSamplesKept = 4096;

  /// In every decide(): takes in what was measured since the last one; of jobs that are gone their
  /// kind is remembered.
  void observe(const View& view);
  /// As Policy::learn(): until then what observe() has brought changes no answer.
  void learn();

  /// A pace of it or of its kind has been measured and fitted.
  [[nodiscard]] bool knows(const JobSpec& job) const;
  /// In units of the size asked for alone on its best placement, as JobView::pace. Nothing: it does
  /// not know the job.
  [[nodiscard]] std::optional<double> pace(const View& view, const JobSpec& job,
                                           const Placement& placement, const Allocation& how) const;

  /// The curve behind pace().
  [[nodiscard]] std::optional<OnlineFit> curve(const View& view, const JobSpec& job) const;
  /// Most GPUs with which the job itself was measured; 0: it never was.
  [[nodiscard]] std::uint32_t most_measured(JobId job) const;

  /// For Policy::save().
  void save(MemoryWriter& out) const;
  void restore(MemoryReader& in);
  /// Grows with what it learns.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  /// Model, GPUs per worker, workers asked for.
  using Kind = std::tuple<std::string, std::uint32_t, std::uint32_t>;
  struct Curve {
    Kind kind;
    OnlineFit fit;
    double local_batch = 1;  // of a GPU, as asked
    bool fitted = false;
    bool seen = true;
    Instant at = kNever;  // of the newest sample
  };
  struct KindKnown {
    OnlineFit::Parameters parameters{};
    std::uint64_t used = 0;
  };
  [[nodiscard]] static Kind kind_of(const JobSpec& job);
  [[nodiscard]] static StepShape asked_shape(const View& view, const JobSpec& job, double local);
  [[nodiscard]] static StepShape shape_of(const View& view, const JobSpec& job,
                                          const Placement& placement, const Allocation& how,
                                          double local);
  [[nodiscard]] static double type_speed(const View& view, const JobSpec& job,
                                         const Placement& placement);
  [[nodiscard]] std::optional<OnlineFit> of_kind(const View& view, const JobSpec& job) const;
  void measure(const View& view, const JobView& job);
  void remember_kind(const Curve& curve);

  std::map<JobId, Curve> curves_;
  std::map<Kind, KindKnown> kinds_;
  std::vector<JobId> due_;
  std::uint64_t version_ = 0, uses_ = 0;
};

}  // namespace starling
