// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "policies/elastic/believed_curves.h"
#include "policies/pollux/job_goodput.h"

namespace starling {

/// A job's goodput as far as a policy knows it.
struct KnownGoodput {
  JobGoodput curve;
  bool known = false;           ///< else nothing is: every GPU is believed to bring as much
  std::uint32_t most_gpus = 1;  ///< that it is worth giving it
};

/// The goodput of the jobs of one partition: what was measured of each (BelievedCurves), or, if
/// `given`, what is known of its model before it runs.
///
/// Measured: a job of which nothing is known gets one GPU, and none more than twice as many as it
/// was measured with, or as many as it asks for where a job of its kind was measured. Given: the
/// constants that were fitted to its model's measurements (interference/goodput/profiles.h), or to
/// what the speed model says of it. Its noise scale is the one that it says; given, of a job that
/// says none, that of the middle of its model's training. A job whose noise scale is not known so,
/// or that trains by parameter servers, runs with the batch that it asks for on each GPU.
class JobCurves {
 public:
  JobCurves(bool given, bool adapts) : given_(given), adapts_(adapts) {}

  /// In every decide(), first.
  void observe(const View& view);
  void learn() { measured_.learn(); }
  [[nodiscard]] KnownGoodput of(const View& view, const JobView& job);

  // As BelievedCurves.
  void save(MemoryWriter& out) const { measured_.save(out); }
  void restore(MemoryReader& in) { measured_.restore(in); }
  [[nodiscard]] std::uint64_t version() const noexcept { return measured_.version(); }

 private:
  /// Model, GPUs per worker, workers asked for, batch asked for.
  using Kind = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>;
  [[nodiscard]] KnownGoodput measured(const View& view, const JobView& job) const;
  [[nodiscard]] KnownGoodput given(const View& view, const JobView& job);
  [[nodiscard]] StepTime modelled(const View& view, const JobSpec& job);
  void set_batch(KnownGoodput& known, const JobView& job, double local, double noise) const;

  bool given_, adapts_;
  std::uint32_t rack_ = 0;  // servers of the partition's largest one
  BelievedCurves measured_;
  std::map<Kind, StepTime> modelled_;
};

}  // namespace starling
