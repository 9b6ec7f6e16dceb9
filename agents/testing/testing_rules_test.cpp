// SPDX-License-Identifier: Apache-2.0
// What the test flock checks after every step and every record.
#include <algorithm>
#include <map>
#include <set>

#include "agents/explain/describe_test.h"
#include "agents/testing/testing.h"

namespace starling {

void TestFlock::check_record(std::uint32_t a, const Record& record) {
  note("  agent " + std::to_string(a) + " writes " + describe(record));
  if (const auto* over = std::get_if<JobEnded>(&record)) {
    if (!ended_.emplace(over->job, over->state.phase).second) {
      fault("job " + std::to_string(over->job.lo) + " ends twice");
    }
  } else if (const auto* starting = std::get_if<AttemptStarting>(&record)) {
    if (ended_.contains(starting->attempt.job)) fault("an attempt starts after the job's end");
    starting_[starting->attempt] = starting->gang;
  } else if (const auto* committed = std::get_if<ShareCommitted>(&record)) {
    committed_[{committed->attempt, PartitionId{a}}] = true;
  }
}

void TestFlock::check() {
  std::set<GpuId> used;
  std::map<JobId, AttemptId> live;
  for (const auto& [key, process] : processes_) {
    const AttemptId attempt = key.first;
    for (const GpuId gpu : process.gpus) {
      if (!used.insert(gpu).second)
        fault("GPU " + std::to_string(gpu.value) + " runs two processes");
    }
    if (live.emplace(attempt.job, attempt).first->second != attempt) {
      fault("two attempts of one job run");
    }
    const auto gang = starting_.find(attempt);
    if (gang == starting_.end()) {
      fault("runs without a home's decision");
    } else {
      for (const Share& share : gang->second) {
        if (!committed_.contains({attempt, share.partition})) fault("runs without the whole gang");
      }
    }
    const AgentId owner = executors_[process.executor].config.owner;
    if (agents_[owner.value].core == nullptr || agent(owner.value).owner.reconciling()) continue;
    const Hold* hold = agent(owner.value).owner.ledger.find(attempt);
    const bool held = hold != nullptr && std::includes(hold->gpus.begin(), hold->gpus.end(),
                                                       process.gpus.begin(), process.gpus.end());
    if (!held) fault("a process runs on GPUs that the ledger does not give it");
  }
  for (const AgentSlot& a : agents_) {
    if (a.core == nullptr) continue;
    const AgentState& s = a.core->state();
    std::set<GpuId> held;
    for (const auto& [attempt, hold] : s.owner.ledger.holds()) {
      for (const GpuId gpu : hold.gpus) {
        if (!held.insert(gpu).second) fault("a GPU is held twice");
        if (s.owner.ledger.gpus().is_free(gpu)) fault("a held GPU is free");
      }
    }
    const Ledger& ledger = s.owner.ledger;
    const std::size_t out_of_use = ledger.quarantined_count() + ledger.drained_count();
    if (held.size() + ledger.free_count() + out_of_use != s.owner.partition.gpus.size()) {
      fault("free, held, quarantined and drained GPUs do not add up");
    }
    if (s.home.waiting_jobs() != s.home.waiting.size()) fault("waiting jobs are miscounted");
  }
}

}  // namespace starling
