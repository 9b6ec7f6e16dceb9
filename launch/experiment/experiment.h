// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "interference/pairs/measured_contention.h"
#include "scheduling/powers.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/queue_tree.h"

namespace starling {

/// One data centre of an experiment: a file, or what to generate.
struct TopologySource {
  std::string name;
  std::string file;       ///< empty: generated
  std::string generator;  ///< as `starling topology generate` has them
  GeneratorOptions options;
  std::uint32_t gang_max = 0;  ///< larger gangs of any workload are cut to this here; 0: none is
  std::string split;           ///< empty: the experiment has no splits
};

/// Where the jobs of an experiment come from: a part of a trace, or a generator.
struct WorkloadSource {
  std::string name;
  std::string file;    ///< empty: generated
  std::string format;  ///< empty: told from the header line
  Duration from{0}, length{0};
  std::uint32_t jobs = 0;      ///< 0: all of the window
  std::string generator;       ///< one of kTraceKinds; empty: a file
  std::string old_name;        ///< what the file calls that, where it is not its name any more
  double mean_duration_s = 0;  ///< of philly-like; 0: Philly's own
  std::uint32_t gang_max = 0;
  Duration duration_min{0}, duration_max{0};  ///< durations are clipped to these; 0: not
  /// Above 0: every job is elastic, of workers of one GPU, from 1 to this times what it asks for.
  double elastic = 0;
  bool draw_models = false;  ///< each job's model is drawn from Gavel's types by the run's seed
  std::string split;
};

/// A column of the comparison.
struct PolicyChoice {
  std::string label;  ///< unique in the experiment
  std::string text;   ///< NAME or NAME:key=value,...
  Family family = Family::order;
  Powers may;
  LengthSource lengths = LengthSource::none;  ///< truth: an upper bound for one agent
  DurationKnowledge durations;
};

/// How messages travel where these faults are.
struct FaultsChoice {
  std::string name;  ///< unique in the experiment; empty: the network as it is
  NetworkModel network;
};

/// What is run: topologies x workloads x loads x faults x seeds x policies x agents. A (workload,
/// seed) is one paired run: all policies see the same jobs.
struct Experiment {
  std::string name;
  std::string description;
  std::vector<TopologySource> topologies;  ///< of every split
  std::vector<WorkloadSource> workloads;   ///< of every split
  std::vector<double> loads;  ///< offered load of the cluster; 0: submit times as they are
  std::vector<PolicyChoice> policies;
  std::string baseline;   ///< a label; other families take their first policy
  bool together = false;  ///< one table over all families
  bool bound = false;     ///< tables say below which mean JCT none can come (bounds.h)
  std::vector<std::uint32_t> agents;
  std::vector<std::uint64_t> seeds;
  PhysicsKind physics = PhysicsKind::trace;
  double straggler_sigma = 0;
  std::string pairs;                                     ///< measured ones that the world runs by
  std::shared_ptr<const MeasuredContention> contention;  ///< those pairs
  bool goodput = false;                                  ///< of physics full
  NetworkKind links = NetworkKind::even;                 ///< of physics full
  SpeedChoice speed;  ///< what policies ask, where physics is full
  std::vector<FaultsChoice> faults{{}};
  std::optional<QueueTree> queues;  ///< of every run; none: nothing is limited
  bool jobs_csv = true;             ///< jobs/ID.csv of every run, and all of them in jobs.csv
  std::string split;                ///< the split to run; empty: everything
};

}  // namespace starling
