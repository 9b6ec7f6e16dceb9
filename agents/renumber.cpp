// SPDX-License-Identifier: Apache-2.0
#include "agents/renumber.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "agents/config.h"
#include "base/planted.h"

namespace starling {
namespace {

struct Renumberer {
  const Renumbering& numbers;
  const Topology& before;
  std::optional<Error> failed = std::nullopt;

  [[nodiscard]] bool known(GpuId gpu) const { return gpu.value < numbers.gpus.size(); }

  /// Of what is over.
  void past(Placement& gpus) const {
    Placement there;
    for (const GpuId gpu : gpus) {
      if (known(gpu) && numbers.gpus[gpu.value] != Renumbering::kGone)
        there.push_back(GpuId{numbers.gpus[gpu.value]});
    }
    gpus = std::move(there);
  }
  void present(AttemptId attempt, Placement& gpus) {
    for (GpuId& gpu : gpus) {
      if (known(gpu) && !numbers.cleared[gpu.value]) {
        gpu = GpuId{numbers.gpus[gpu.value]};
      } else if (!failed) {
        const std::string where = known(gpu)
                                      ? "server '" + before.server(before.server_of(gpu)).name + "'"
                                      : "a server that is not known";
        failed = Error{Errc::busy, "attempt " + to_string(attempt) + " still uses " + where};
      }
    }
  }
  void present(AttemptId attempt, std::vector<Share>& gang) {
    for (Share& share : gang) present(attempt, share.gpus);
  }

  /// False: the record has nothing to say any more.
  bool take(Record& record) {
    if (auto* starting = std::get_if<AttemptStarting>(&record)) {
      present(starting->attempt, starting->gang);
    } else if (auto* committed = std::get_if<ShareCommitted>(&record)) {
      present(committed->attempt, committed->commit.gang);
    } else if (auto* launching = std::get_if<ProcessLaunching>(&record)) {
      present(launching->launch.attempt, launching->launch.gang);
      if (!planted(Bug::here_not_renumbered))
        present(launching->launch.attempt, launching->launch.here);
    } else if (auto* plan = std::get_if<AttemptPlan>(&record)) {
      const std::size_t wanted = plan->restart_at.size();
      const bool cleared =
          std::any_of(plan->restart_at.begin(), plan->restart_at.end(),
                      [&](GpuId g) { return !known(g) || numbers.cleared[g.value]; });
      past(plan->restart_at);
      if (wanted > 0 && (cleared || plan->restart_at.size() < wanted)) {
        plan->restart_at.clear();
        // A cancel keeps the GPUs of the restart that it came before.
        if (plan->after == AfterDrain::restart) plan->after = AfterDrain::retry;
      }
    } else if (auto* ended = std::get_if<JobEnded>(&record)) {
      past(ended->state.placement);
    } else if (auto* drained = std::get_if<ServerDrained>(&record)) {
      if (drained->server.value >= numbers.servers.size() ||
          numbers.cleared_servers[drained->server.value])
        return false;
      drained->server = ServerId{numbers.servers[drained->server.value]};
    } else if (auto* drain = std::get_if<DrainVersion>(&record)) {
      if (drain->server.value >= numbers.servers.size() ||
          numbers.servers[drain->server.value] == Renumbering::kGone)
        return false;
      drain->server = ServerId{numbers.servers[drain->server.value]};
    } else if (std::holds_alternative<TopologyRead>(record)) {
      return false;  // what writes it down says which it has read
    }
    return true;
  }
};

}  // namespace

Result<std::vector<Record>> renumbered(std::vector<Record> snapshot, const Renumbering& numbers,
                                       const Topology& before) {
  Renumberer renumberer{numbers, before};
  std::vector<Record> renumbered;
  for (Record& record : snapshot) {
    if (renumberer.take(record)) renumbered.push_back(std::move(record));
  }
  if (renumberer.failed) return *renumberer.failed;
  return renumbered;
}

std::uint64_t topology_read(std::span<const Record> recovered) {
  std::uint64_t fingerprint = 0;
  for (const Record& record : recovered) {
    if (const auto* read = std::get_if<TopologyRead>(&record)) fingerprint = read->fingerprint;
  }
  return fingerprint;
}

LifeBegan last_life(std::span<const Record> recovered) {
  LifeBegan last{Incarnation{1}, Epoch{1}};
  for (const Record& record : recovered) {
    const auto* life = std::get_if<LifeBegan>(&record);
    if (life == nullptr) continue;
    last.incarnation = std::max(last.incarnation, life->incarnation);
    last.epoch = std::max(last.epoch, life->epoch);
  }
  return last;
}

Result<std::vector<Record>> renumbered_journal(std::vector<Record> snapshot,
                                               std::span<const Record> recovered,
                                               const Renumbering& numbers, const Topology& before,
                                               std::uint64_t fingerprint) {
  auto records = renumbered(std::move(snapshot), numbers, before);
  if (!records) return records;
  std::map<NodeId, PeerKnown> known;  // the last that was written of each
  for (const Record& record : recovered) {
    const auto* peer = std::get_if<PeerKnown>(&record);
    // An executor of that number may be another one from now on.
    if (peer != nullptr && peer->node < executor_node(0)) known[peer->node] = *peer;
  }
  std::vector<Record> all{TopologyRead{fingerprint}};
  for (Record& record : records.value()) all.push_back(std::move(record));
  for (const auto& [node, peer] : known) all.push_back(peer);
  return all;
}

Status replace_renumbered(Journal& journal, std::vector<Record>& records,
                          const Renumbering& numbers, const Topology& before,
                          const std::function<void()>& progress) {
  std::uint64_t last = 0;
  for (const Record& record : records) {
    if (const auto* chunk = std::get_if<JobsArchived>(&record)) last = std::max(last, chunk->chunk);
  }
  std::uint64_t next = last;
  for (Record& record : records) {
    auto* chunk = std::get_if<JobsArchived>(&record);
    if (chunk == nullptr) continue;
    progress();
    auto states = journal.archived(chunk->chunk);
    if (!states) return states.error();
    auto moved = renumbered(std::move(states).value(), numbers, before);
    if (!moved) return moved.error();
    // Until the records are the journal, the old chunk counts.
    chunk->chunk = ++next;
    if (Status put = journal.archive(chunk->chunk, moved.value()); !put.ok()) return put;
  }
  if (Status put = journal.compact(records); !put.ok()) return put;
  return last > 0 ? journal.forget(last) : done();
}

}  // namespace starling
