// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/learned/pair_intervals.h"
#include "interference/learned/pair_model.h"
#include "nets/weights.h"
#include "workload/catalogue.h"

namespace starling {

/// What was learned of two jobs that meet in one place: see docs/interference.md.
struct PairPart {
  PairModel model;
  PairIntervals intervals;
};

/// How a job slows where cores or host memory are short; fitted to Synergy's curves.
struct HostCurve {
  double cpus = 3;  ///< per GPU: nothing is lost at or above
  double cpu_slope = 1;
  double memory_gb = 0;
  double memory_slope = 0;
  /// As a part of alone with plenty, with that many CPUs and GB of host memory per GPU.
  [[nodiscard]] double relative(double cpus_here, double memory_gb_here) const noexcept;
};

/// A trained interference model: parts for jobs that share a GPU, a link or a server's host, and
/// whether two jobs fit on one GPU. Weights of one source may hold fewer parts.
class InterferenceNet {
 public:
  /// Formats that this program reads, as the note "interference" of the file names them.
  static constexpr const char* kVersion = "1";
  /// `invalid` or `not_found` says what is missing or foreign.
  [[nodiscard]] static Result<InterferenceNet> make(const Weights& weights);

  /// Of jobs on one GPU, from Gavel's pairs. Absent in weights of another source.
  std::optional<PairPart> gpu;
  /// Of gangs that share a network, from DeepShare's.
  std::optional<PairPart> link;
  /// Of jobs on one GPU, from Lucid's; never shipped.
  std::optional<PairPart> lucid;

  /// By the catalogue's families; where Synergy has no curve, the middle of those it has.
  [[nodiscard]] const HostCurve& host(const ModelProfile& model) const noexcept {
    return host_[model.family];
  }
  [[nodiscard]] bool host_measured(const ModelProfile& model) const noexcept {
    return host_known_[model.family];
  }

  /// Chance that two jobs have room on one GPU: that neither fails for want of memory.
  [[nodiscard]] double feasibility(const ModelProfile& one, const ModelProfile& other,
                                   double gpu_memory_gib) const noexcept;
  /// GPU memory that a job is taken to need: learned for Gavel's types, else the catalogue's.
  [[nodiscard]] double memory_gib(const ModelProfile& model) const noexcept;

  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] const std::map<std::string, std::string>& notes() const noexcept { return notes_; }

 private:
  std::vector<HostCurve> host_;  // by family
  std::vector<bool> host_known_;
  std::vector<double> memory_gib_;  // by gavel_type; empty: the catalogue's
  double steepness_ = 10, margin_ = 0;
  std::uint64_t hash_ = 0;
  std::map<std::string, std::string> notes_;
};

/// The job as the GPU part is asked about it.
[[nodiscard]] PairType gpu_type_of(const ModelProfile& model);
/// The set of a GPU type that stands for all questions of an agent, which knows of no campaign: the
/// later one's. -1 where that type was not measured.
[[nodiscard]] std::int32_t gpu_set_of(const PairModel& model, GpuKind kind);

/// The weights that the program carries with it. They are as good as any others: parsed, checked.
[[nodiscard]] Result<Weights> shipped_interference();

}  // namespace starling
