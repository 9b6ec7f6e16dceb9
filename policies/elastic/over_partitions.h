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
/// * At a round, while no job waits here, jobs that run wholly here grow over partitions where
///   none waits either: those first that gain most by the next round for each GPU more, if that
///   is more than their stop and their way back cost.
/// * A gang with GPUs elsewhere is called home once a job waits there, or here that could use what
///   it has here and has no lower priority: at the next round it gets what this partition has for
///   it, or waits. One whose least size is more than this partition has is never called.
/// * A job whose least size is more than this partition has starts over partitions, as large as
///   there is room for.
///
/// Jobs that ask for CPUs or memory do neither grow nor start so: how much of those goes with GPUs
/// elsewhere is for their owners to say. The GPUs of a gang are of one type: a job that grows keeps
/// some here, and others are asked for their type; so none starts so where there are several types.
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
  /// Of a gang that is away and may have other sizes: a job waits in a partition that it is in,
  /// and it can be at home.
  [[nodiscard]] bool is_called_home(const View& view, const JobView& job) const;

  /// At every call: a job that asked others in vain before waits again.
  void observe(const View& view);
  /// The core did not do what was decided of the job.
  void refused(JobId job) { notes_.erase(job); }
  /// It is taken home, or stopped.
  void note_called(const View& view, const JobView& job);
  /// Of a job of the last rounds.
  [[nodiscard]] std::vector<std::string> explain(JobId job) const;

  /// At a round, once all is planned: `planned` is what that leaves free. `runners`: jobs that run
  /// wholly here; those that `out` names stay out of it, and those of which something is drained.
  /// Adds a Resize for each that grows, run as `division` says. Each runner is priced once, and
  /// those first that others may have left less for once more.
  void grow(const ElasticCall& call, const Division& division,
            std::span<const ElasticShare> runners, const Occupancy& planned,
            std::vector<Decision>& out);
  /// At a round: one of `waits`, jobs that wait, starts, on GPUs that no job has to leave first.
  /// Adds a Spread, or nothing; nothing unless the topology has exactly one GPU type.
  void start(const ElasticCall& call, const Division& division, std::span<const ElasticShare> waits,
             const Occupancy& planned, std::vector<Decision>& out);

 private:
  struct Growth {
    const ElasticShare* share = nullptr;
    Placement here;         // of this partition
    Placement all;          // with guesses at others
    double gained_s = 0;    // by the next round, less what it costs
    double gain = 0;        // the same for each GPU more
    std::size_t grown = 0;  // jobs that had grown when this was found
  };
  [[nodiscard]] std::vector<const ElasticShare*> may_grow(const View& view,
                                                          std::span<const ElasticShare> runners,
                                                          std::span<const Decision> decided) const;
  [[nodiscard]] Growth best_growth(const ElasticCall& call, const Division& division,
                                   const ElasticShare& share, const Occupancy& planned,
                                   std::span<const SparePart> spare) const;
  [[nodiscard]] Resize resize(const ElasticCall& call, const Division& division,
                              const Growth& growth);
  /// What was done with a job; nothing of the kind again before the time has come.
  struct Note {
    Instant again;
    std::string why;
    std::uint32_t asks = 0;  // workers, while it is not known what came of it
    Instant asked{};
  };
  void forget(Instant now);

  Duration round_;
  bool grows_;
  std::map<JobId, Note> notes_;
};

}  // namespace starling
