// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "policies/elastic/division.h"
#include "policies/partitions/spare_elsewhere.h"

namespace starling {

/// How the jobs of an elastic policy use GPUs of several partitions, each of which divides its own
/// alone. Nothing safe depends on what it takes the others to have.
///
/// * At a round, while nobody waits here, jobs that run wholly here grow over partitions where
///   nobody waits either: those first that gain most by the next round for each GPU more, if that
///   is more than their stop and their way back cost.
/// * A gang with GPUs elsewhere is called home once somebody waits here or there: at the next round
///   it gets what this partition has for it, or waits.
/// * A job whose least size is more than this partition has starts over partitions, as large as
///   there is room for.
///
/// Jobs that ask for CPUs or memory do neither grow nor start so: how much of those goes with GPUs
/// elsewhere is for their owners to say.
class OverPartitions {
 public:
  /// Jobs that grow at one round.
  static constexpr std::size_t kMostGrow = 4;
  /// Rounds before a job that has grown may do so again.
  static constexpr int kRest = 3;

  /// `round`: how long a division lasts. Unless it `grows`, gangs are as large as they ask to be.
  OverPartitions(Duration round, bool grows) : round_(round), grows_(grows) {}

  /// Some of its GPUs are in other partitions.
  [[nodiscard]] static bool is_away(const View& view, const JobView& job);
  /// What it has in this one, ascending.
  [[nodiscard]] static Placement part_here(const View& view, const JobView& job);
  /// Of a gang that is away and may have other sizes: somebody waits in a partition that it is in.
  [[nodiscard]] bool is_called_home(const View& view, const JobView& job) const;

  /// It is taken home, or stopped.
  void note_called(const View& view, const JobView& job);
  /// Of a job of the last rounds.
  [[nodiscard]] std::vector<std::string> explain(JobId job) const;

  /// At a round, once all is planned: `planned` is what that leaves free. `runners`: jobs that run
  /// wholly here; those that `out` names stay out of it. Adds a Resize for each that grows.
  void grow(const ElasticCall& call, const Division& division,
            std::span<const ElasticShare> runners, const Occupancy& planned,
            std::vector<Decision>& out);
  /// At a round: one of `waits`, jobs that wait, starts. Adds a Spread, or nothing.
  void start(const ElasticCall& call, std::span<const ElasticShare> waits, const Occupancy& planned,
             std::vector<Decision>& out);

 private:
  struct Growth {
    const ElasticShare* share = nullptr;
    Placement here;
    std::uint32_t workers = 0;
    double gained_s = 0;  // by the next round, less what it costs
    double gain = 0;      // the same for each GPU more
  };
  [[nodiscard]] Growth best_growth(const ElasticCall& call, const Division& division,
                                   const ElasticShare& share, const Occupancy& planned,
                                   std::span<const SparePart> spare) const;
  /// What was done with a job; nothing of the kind again before the time has come.
  struct Note {
    Instant again;
    std::string why;
  };
  void forget(Instant now);

  Duration round_;
  bool grows_;
  std::map<JobId, Note> notes_;
};

}  // namespace starling
