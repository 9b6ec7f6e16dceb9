#include "sim/checker.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "agents/state.h"
#include "base/check.h"

namespace starling {
namespace {

std::string node_text(NodeId node) {
  if (node.value >= kFirstClient) return "client " + std::to_string(node.value - kFirstClient);
  if (node.value >= kFirstExecutor)
    return "executor " + std::to_string(node.value - kFirstExecutor);
  if (node.value > 0) return "agent " + std::to_string(node.value - 1);
  return "hardware";
}

std::string gpu_text(GpuId gpu) { return "GPU " + std::to_string(gpu.value); }

}  // namespace

LedgerView ledger_view(const AgentState& state) {
  LedgerView view;
  view.partition = state.partition.id;
  view.owner = agent_node(state.config.me);
  view.gpus = state.partition.gpus;
  view.reconciling = state.reconciling();
  view.free = state.ledger.free_count();
  view.quarantined = state.ledger.quarantined_count();
  view.sick = state.ledger.sick_count();
  view.drained = state.ledger.drained_count();
  for (const auto& [attempt, hold] : state.ledger.holds()) {
    view.holds.emplace_back(attempt, hold.gpus);
  }
  return view;
}

Checker::Checker(std::span<const PeerAgent> partitions, std::uint32_t jobs_per_gpu)
    : partitions_(partitions.begin(), partitions.end()), jobs_per_gpu_(jobs_per_gpu) {}

void Checker::fail(const char* rule, Instant now, NodeId node, const std::string& what) {
  if (violation_ || excused_.contains(rule)) return;
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%.9f", seconds(now.time_since_epoch()));
  violation_ = std::string(rule) + " is violated at " + time.data() + " s on " + node_text(node) +
               ": " + what;
}

void Checker::wrote(Instant now, NodeId node, std::span<const Record> records) {
  for (const Record& record : records) wrote_one(now, node, record);
}

void Checker::wrote_one(Instant now, NodeId node, const Record& record) {
  if (const auto* r = std::get_if<LifeBegan>(&record)) return began(now, node, *r);
  if (const auto* r = std::get_if<JobEnded>(&record)) return ended(now, node, *r);
  if (const auto* r = std::get_if<AttemptStarting>(&record)) return starting(now, node, *r);
  if (const auto* r = std::get_if<JobAccepted>(&record)) {
    durable_.insert(r->submit.spec.id);
  } else if (const auto* seen = std::get_if<EpochSeen>(&record)) {
    Epoch& last = epochs_seen_[{node, seen->partition}];
    if (seen->epoch < last) {
      fail("S7", now, node,
           "saw epoch " + std::to_string(seen->epoch.value) + " after epoch " +
               std::to_string(last.value));
    }
    last = seen->epoch;
  } else if (const auto* committed = std::get_if<ShareCommitted>(&record)) {
    if (const auto partition = own_partition(node)) {
      committed_.insert({committed->attempt, *partition});
    }
  }
}

void Checker::began(Instant now, NodeId node, const LifeBegan& began) {
  const auto [life, first] = lives_.try_emplace(node, Life{began.incarnation, began.epoch});
  if (!first) {
    if (began.incarnation <= life->second.incarnation) {
      fail("S7", now, node,
           "lives again as incarnation " + std::to_string(began.incarnation.value) +
               " after incarnation " + std::to_string(life->second.incarnation.value));
    }
    if (began.epoch < life->second.epoch) {
      fail("S7", now, node,
           "began at epoch " + std::to_string(began.epoch.value) + " after epoch " +
               std::to_string(life->second.epoch.value));
    }
    life->second = {began.incarnation, began.epoch};
  }
  if (const auto partition = own_partition(node)) own(now, *partition, began.epoch, node);
}

void Checker::own(Instant now, PartitionId partition, Epoch epoch, NodeId node) {
  const auto [owner, first] = owners_.try_emplace({partition, epoch}, node);
  if (first || owner->second == node) return;
  fail("S8", now, node,
       "acts as owner of partition " + std::to_string(partition.value) + " at epoch " +
           std::to_string(epoch.value) + ", which belongs to " + node_text(owner->second));
}

void Checker::ended(Instant now, NodeId node, const JobEnded& ended) {
  const auto [last, first] = ended_.try_emplace(ended.job, ended.state.phase);
  durable_.insert(ended.job);
  if (!first) {
    fail("S5", now, node,
         "job " + to_string(ended.job) + " ends as " + name_of(ended.state.phase) +
             " although it had ended as " + name_of(last->second));
  }
}

void Checker::starting(Instant now, NodeId node, const AttemptStarting& starting) {
  gangs_[starting.attempt] = starting.gang;
  // A gang of the home's own partition alone: this one record stands for reserve, commit and start.
  if (starting.gang.size() == 1) {
    const PartitionId partition = starting.gang.front().partition;
    if (own_partition(node) == partition) committed_.insert({starting.attempt, partition});
  }
  if (ended_.contains(starting.attempt.job)) {
    fail("S5", now, node,
         "attempt " + to_string(starting.attempt) + " starts after its job had ended");
  }
}

void Checker::new_disk(NodeId node) {
  if (const auto life = lives_.find(node); life != lives_.end()) life->second.epoch = Epoch{};
  std::erase_if(epochs_seen_, [&](const auto& seen) { return seen.first.first == node; });
}

void Checker::look_at_changes(Instant now, std::span<const AgentState* const> agents) {
  const std::string wrong = changes_.look(agents);
  if (wrong.empty()) return;
  const auto space = wrong.find(' ');
  fail(wrong.substr(0, space).c_str(), now, NodeId{}, wrong.substr(space + 1));
}

void Checker::arrived(Instant now, NodeId from, NodeId to, const Message& message,
                      Incarnation life) {
  if (from.value >= kFirstClient) {
    clients_.said(message);
  } else if (to.value >= kFirstClient) {
    if (const std::string wrong = clients_.told(from, life, message); !wrong.empty())
      fail("S13", now, to, wrong);
  }
  if (const auto* accepted = std::get_if<Accepted>(&message)) {
    if (!durable_.contains(accepted->job)) {
      fail("S6", now, from,
           "acknowledged job " + to_string(accepted->job) + ", which is in no journal");
    }
  } else if (const auto* launch = std::get_if<Launch>(&message)) {
    own(now, launch->fence.partition, launch->fence.epoch, from);
  } else if (const auto* state = std::get_if<JobState>(&message)) {
    if (terminal(state->phase) && !ended_.contains(state->job) && durable_.contains(state->job)) {
      fail("S6", now, from,
           "told " + node_text(to) + " that job " + to_string(state->job) + " is " +
               name_of(state->phase) + ", which is in no journal");
    }
  }
}

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
  if (process.gpus.empty()) return;
  const PartitionId partition = partition_of(process.gpus.front());
  for (const LedgerView& ledger : world.ledgers) {
    if (ledger.partition != partition || ledger.reconciling) continue;
    const auto hold = std::find_if(ledger.holds.begin(), ledger.holds.end(),
                                   [&](const auto& h) { return h.first == process.attempt; });
    for (const GpuId gpu : process.gpus) {
      if (hold == ledger.holds.end() ||
          std::find(hold->second.begin(), hold->second.end(), gpu) == hold->second.end()) {
        fail("S2", now, ledger.owner,
             "attempt " + to_string(process.attempt) + " runs on " + gpu_text(gpu) +
                 ", which the ledger does not give it");
      }
    }
  }
}

void Checker::check_ledger(Instant now, const LedgerView& ledger) {
  std::map<GpuId, std::uint32_t> held;
  for (const auto& [attempt, gpus] : ledger.holds) {
    for (const GpuId gpu : gpus) {
      if (!ledger.gpus.contains(gpu.value)) {
        fail(
            "S9", now, ledger.owner,
            gpu_text(gpu) + " is held for " + to_string(attempt) + " but is not of this partition");
      }
      if (++held[gpu] > jobs_per_gpu_) {
        fail("S9", now, ledger.owner,
             gpu_text(gpu) + " is held too often, the last time for " + to_string(attempt));
      }
    }
  }
  if (!ledger.reconciling && ledger.quarantined > ledger.sick) {
    fail("S9", now, ledger.owner,
         std::to_string(ledger.quarantined) +
             " GPUs are quarantined although every executor has answered");
  }
  const std::size_t sum = held.size() + ledger.free + ledger.quarantined + ledger.drained;
  if (sum != ledger.gpus.size()) {
    fail("S9", now, ledger.owner,
         std::to_string(ledger.free) + " free, " + std::to_string(held.size()) + " held, " +
             std::to_string(ledger.drained) + " drained and " + std::to_string(ledger.quarantined) +
             " quarantined GPUs are " + std::to_string(sum) + " of " +
             std::to_string(ledger.gpus.size()));
  }
}

std::optional<PartitionId> Checker::own_partition(NodeId node) const {
  for (const PeerAgent& peer : partitions_) {
    if (agent_node(peer.agent) == node) return peer.partition.id;
  }
  return std::nullopt;
}

PartitionId Checker::partition_of(GpuId gpu) const {
  for (const PeerAgent& peer : partitions_) {
    if (peer.partition.gpus.contains(gpu.value)) return peer.partition.id;
  }
  check_failed("every GPU has a partition", __FILE__, __LINE__);
}

}  // namespace starling
