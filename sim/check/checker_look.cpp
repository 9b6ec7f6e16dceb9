// SPDX-License-Identifier: Apache-2.0
// What runs and what is held at one instant.
#include <algorithm>
#include <map>

#include "sim/check/checker.h"
#include "sim/check/checker_words.h"

namespace starling {

void Checker::look(Instant now, const WorldView& world) {
  std::map<GpuId, std::vector<AttemptId>> used;
  std::map<JobId, AttemptId> live;
  for (const ProcessView& process : world.processes) {
    for (const GpuId gpu : process.gpus) {
      std::vector<AttemptId>& tenants = used[gpu];
      const bool twice =
          std::find(tenants.begin(), tenants.end(), process.attempt) != tenants.end();
      if (twice || tenants.size() >= jobs_per_gpu_) {
        fail("S1", now, NodeId{},
             gpu_text(gpu) + " runs " + to_string(tenants.back()) + " and " +
                 to_string(process.attempt));
      }
      tenants.push_back(process.attempt);
    }
    const auto [other, first] = live.try_emplace(process.attempt.job, process.attempt);
    if (!first && other->second != process.attempt) {
      fail("S3", now, NodeId{},
           "attempts " + to_string(other->second) + " and " + to_string(process.attempt) +
               " of one job both run");
    }
    check_process(now, process, world);
  }
  for (const LedgerView& ledger : world.ledgers) check_ledger(now, ledger);
}

void Checker::check_process(Instant now, const ProcessView& process, const WorldView& world) {
  if (const auto gang = gangs_.find(process.attempt); gang != gangs_.end()) {
    for (const Share& share : gang->second) {
      if (!committed_.contains({process.attempt, share.partition})) {
        fail("S4", now, NodeId{},
             "attempt " + to_string(process.attempt) + " runs, but partition " +
                 std::to_string(share.partition.value) + " has not committed it");
      }
    }
  } else {
    fail("S4", now, NodeId{},
         "attempt " + to_string(process.attempt) + " runs, but no home has decided to start it");
  }
  const auto by = allocations_.find(process.attempt);
  const Allocation decided = by == allocations_.end() ? Allocation{} : by->second;
  const auto runs_otherwise = [&](const Allocation& how, NodeId node, const char* as) {
    const auto words = [](const Allocation& a) {
      return a.as_asked() ? std::string("as it asks") : "by " + allocation_text(a);
    };
    fail("S22", now, node,
         "attempt " + to_string(process.attempt) + as + words(how) + " and is to run " +
             words(decided));
  };
  if (process.allocation != decided) runs_otherwise(process.allocation, NodeId{}, " runs ");
  if (process.gpus.empty()) return;
  const PartitionId partition = partition_of(process.gpus.front());
  const auto owner = std::find_if(partitions_.begin(), partitions_.end(),
                                  [&](const auto& peer) { return peer.partition.id == partition; });
  // By the journal, whichever agent owns the partition now, and whatever it has heard so far.
  const Durable::Held* held = journal(agent_node(owner->agent)).held(process.attempt);
  const auto gives = [&](const Placement& gpus) {
    return std::includes(gpus.begin(), gpus.end(), process.gpus.begin(), process.gpus.end());
  };
  const bool durable =
      held != nullptr && std::any_of(held->gang.begin(), held->gang.end(), [&](const Share& share) {
        return share.partition == partition && gives(share.gpus);
      });
  if (!durable) {
    fail("S2", now, agent_node(owner->agent),
         "attempt " + to_string(process.attempt) + " runs on " + gpu_text(process.gpus.front()) +
             ", which the journal of its partition does not give it");
  }
  if (held != nullptr && held->allocation != decided)
    runs_otherwise(held->allocation, agent_node(owner->agent), " is committed ");
  const auto gang = gangs_.find(process.attempt);
  if (held != nullptr && gang != gangs_.end() && gpus_of(held->gang) != gpus_of(gang->second)) {
    fail("S23", now, agent_node(owner->agent),
         "attempt " + to_string(process.attempt) + " is committed as a gang of " +
             std::to_string(gpus_of(held->gang)) + " GPUs and has " +
             std::to_string(gpus_of(gang->second)));
  }
  for (const LedgerView& ledger : world.ledgers) {
    if (ledger.partition != partition) continue;
    const auto hold = std::find_if(ledger.holds.begin(), ledger.holds.end(),
                                   [&](const auto& h) { return h.first == process.attempt; });
    if (hold == ledger.holds.end() || !gives(hold->second)) {
      fail("S2", now, ledger.owner,
           "attempt " + to_string(process.attempt) + " runs on " + gpu_text(process.gpus.front()) +
               ", which the ledger does not give it");
    }
  }
}

void Checker::check_ledger(Instant now, const LedgerView& ledger) {
  std::string wrong;
  const LedgerView::Figures own = recount(ledger, jobs_per_gpu_, wrong);
  if (!wrong.empty()) fail("S9", now, ledger.owner, wrong);
  for (const LedgerView::OfExecutor& one : ledger.executors) {
    if (!one.answered) continue;
    const auto told = inventories_.find({ledger.owner, one.executor});
    if (told != inventories_.end() && told->second == journal(ledger.owner).life()) continue;
    fail("S9", now, ledger.owner,
         "trusts the GPUs of " + node_text(one.executor) +
             ", which has not said in this life what runs there");
  }
  const auto text = [](const LedgerView::Figures& f) {
    return std::to_string(f.free) + " free, " + std::to_string(f.quarantined) + " quarantined (" +
           std::to_string(f.sick) + " bad), " + std::to_string(f.drained) + " drained";
  };
  for (const LedgerView::Figures& figures : {ledger.counted, ledger.told}) {
    if (figures != own)
      fail("S9", now, ledger.owner, "says " + text(figures) + ", and it is " + text(own));
  }
}

}  // namespace starling
