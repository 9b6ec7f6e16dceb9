// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "agents/record.h"
#include "store/record_codec.h"

namespace starling {

// For tests: records with every field set, and a way to compare them.

inline JobSpec sample_spec(std::uint64_t n) {
  JobSpec spec;
  spec.id = {n + 1, ~n};
  spec.name = "train \"" + std::to_string(n) + "\"";
  spec.user = "ann", spec.queue = "vc1", spec.model = "resnet50";
  spec.workers = 4, spec.gpus_per_worker = 2, spec.min_workers = 1, spec.max_workers = 8;
  spec.cpus_per_worker = 1.5, spec.memory_gib_per_worker = -0.25;
  spec.gpu_types = {"V100", ""};
  spec.priority = -7;
  spec.duration = Duration(1'234'567'890'123);
  spec.command = {"python", "train.py", std::string("a\0b\n", 4)};
  spec.environment = {"A=1"};
  return spec;
}

/// One record of each kind.
inline std::vector<Record> sample_records(std::uint64_t n = 0) {
  const JobSpec spec = sample_spec(n);
  const AttemptId attempt{spec.id, Epoch{3}, (7ULL << 32U) | n};
  const Fence fence{PartitionId{2}, Epoch{9}};
  const std::vector<Share> gang = {{PartitionId{1}, {GpuId{0}, GpuId{300}}},
                                   {PartitionId{2}, {GpuId{70000}}}};
  const ExitStatus exit{-9, true, "last words\n"};
  JobState state;
  state.job = spec.id, state.phase = JobPhase::failed, state.home = AgentId{1};
  state.queued = Duration(5), state.elapsed = Duration(-6), state.served = Duration(7);
  state.attempts = 1, state.forwards = 2, state.preemptions = 3;
  state.placement = {GpuId{5}}, state.exit = exit;
  const QueueTree tree{1ULL << 40U,
                       {{"vc1", 8, 16, QueueSpec::kNoLimit, 1, {}}, {"vc1/x", 4, 8, 2, 3, {"ann"}}},
                       "vc1/x"};
  const QuotaStamp stamp{Incarnation{n + 1}, 1ULL << 40U};
  return {LifeBegan{Incarnation{n + 1}, Epoch{2}},
          JobAccepted{{spec, NodeId{0x0200'0000}, Duration(1), Duration(2), 3}, n},
          AttemptStarting{attempt, gang},
          AttemptDraining{attempt},
          AttemptOver{attempt, Duration(8)},
          JobMoved{spec.id, AgentId{4}},
          JobEnded{spec.id, state},
          ShareCommitted{attempt, AgentId{2}, {attempt, fence, spec, gang, Duration(3)}},
          ShareLaunched{attempt},
          ShareReleased{attempt},
          EpochSeen{PartitionId{2}, Epoch{~0ULL}},
          ProcessLaunching{{attempt, fence, spec, gang, {GpuId{0}}, Duration(4)}},
          ProcessExited{attempt, exit, Duration(9)},
          ProcessForgotten{attempt},
          JobOffered{spec.id, AgentId{5}},
          JobPast{spec.id, Duration(1), Duration(-1), 2, 3, 4},
          AttemptPlan{attempt, AfterDrain::fail, {GpuId{6}, GpuId{70000}}, exit},
          TombstoneServed{attempt, Duration(11)},
          TombstonesDropped{{attempt, attempt}},
          ServerDrained{ServerId{300}, true},
          DrainVersion{ServerId{300}, 1ULL << 40U},
          ProcessWanted{attempt, Duration(12)},
          TopologyRead{~0ULL},
          PeerKnown{NodeId{3}, Incarnation{4}, ~0ULL, 1ULL << 40U},
          JobsArchived{n + 1, 1ULL << 40U, Duration(13), {spec.id, {0, 1}}, {{0, 1}}},
          ArchiveDropped{n + 2},
          OffersOwed{{spec.id}},
          OffersSettled{{spec.id}},
          ProcessStopping{attempt, exit},
          JobsCounted{1ULL << 40U, n, 2, 3},
          JobStanding{spec.id, true, 1ULL << 40U, 4, Duration(14), exit},
          QueuesSet{tree},
          QuotaPortions{AgentId{300}, stamp, 2, {{{"vc1", ""}, 8}, {{"vc1", "ann"}, 1U << 20U}}}};
}

inline bool same_records(const std::vector<Record>& a, const std::vector<Record>& b) {
  std::vector<std::byte> x, y;
  for (const Record& r : a) encode_record(r, x);
  for (const Record& r : b) encode_record(r, y);
  return a.size() == b.size() && x == y;
}

}  // namespace starling
