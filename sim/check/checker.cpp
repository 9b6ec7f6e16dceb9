// SPDX-License-Identifier: Apache-2.0
#include "sim/check/checker.h"

#include <array>
#include <cstdio>
#include <type_traits>
#include <variant>

#include "agents/executor/executor_state.h"
#include "agents/step/state.h"
#include "base/check.h"
#include "sim/check/checker_words.h"
#include "sim/check/growth.h"
#include "sim/check/queue_limits.h"
#include "workload/job_size.h"

namespace starling {

Checker::Checker(std::span<const PeerAgent> partitions, std::uint32_t jobs_per_gpu)
    : partitions_(partitions.begin(), partitions.end()), jobs_per_gpu_(jobs_per_gpu) {}

void Checker::fail(const char* rule, Instant now, NodeId node, const std::string& what) {
  if (violation_ || excused_.contains(rule)) return;
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%.9f", seconds(now.time_since_epoch()));
  violation_ = std::string(rule) + " is violated at " + time.data() + " s on " + node_text(node) +
               ": " + what;
}

Durable& Checker::journal(NodeId node) {
  const auto at = journals_.find(node);
  if (at != journals_.end()) return at->second;
  std::optional<AgentId> agent;
  if (own_partition(node)) agent = AgentId{node.value - 1};
  return journals_.emplace(node, Durable(agent)).first->second;
}

void Checker::wrote(Instant now, NodeId node, std::span<const Record> records) {
  for (const Record& record : records) {
    wrote_one(now, node, record);
    if (const std::string wrong = journal(node).apply(record); !wrong.empty())
      fail("S15", now, node, wrong);
    if (const auto* starting = std::get_if<AttemptStarting>(&record))
      check_queues(now, node, starting->attempt);
    if (const std::string wrong = clients_.wrote(node, journal(node).life(), record);
        !wrong.empty())
      fail("S13", now, node, wrong);
  }
}

void Checker::compacted(Instant now, NodeId node, std::span<const Record> records) {
  if (const std::string wrong = journal(node).compacted(records); !wrong.empty())
    fail("S15", now, node, wrong);
}

void Checker::renumber(Instant now, const Renumbering& numbers,
                       std::span<const PeerAgent> partitions) {
  partitions_.assign(partitions.begin(), partitions.end());
  clients_.servers_changed();
  for (const auto& [node, known] : journals_) renumber(now, node, numbers);
}

void Checker::shows(Instant now, NodeId client, std::span<const JobOutcome> jobs) {
  if (const std::string wrong = clients_.shows(client, jobs); !wrong.empty())
    fail("S13", now, client, wrong);
}

void Checker::process_ended(AttemptId attempt, std::size_t gpus, std::int32_t code, bool stopped) {
  if (!stopped) ends_[attempt][code] += gpus;
}

/// Of the attempt that was open when its home wrote this.
void Checker::check_end(Instant now, NodeId node, const JobEnded& ended) {
  const JobState& state = ended.state;
  const Durable::Job* job = journal(node).open(ended.job);
  const AttemptId last = job == nullptr ? AttemptId{} : job->attempt;
  const auto found = ends_.find(last);
  const auto ends = found == ends_.end() ? std::map<std::int32_t, std::size_t>{} : found->second;
  const auto with = [&](std::int32_t code) {
    const auto at = ends.find(code);
    return at == ends.end() ? std::size_t{0} : at->second;
  };
  if (state.phase == JobPhase::finished) {
    const std::size_t gpus = job == nullptr ? 0 : gpus_of(job->gang);
    // More: an executor whose disk was lost was told to launch it again, and it ended at once.
    if (gpus > 0 && with(0) >= gpus) return;
    fail("S16", now, node,
         "job " + to_string(ended.job) + " has finished, and " + std::to_string(with(0)) + " of " +
             std::to_string(gpus) + " GPUs of " + to_string(last) + " had a process that did");
  } else if (state.phase == JobPhase::failed) {
    if (state.exit.timed_out && limited_.contains(ended.job)) return;
    // Given up, and not because of a process: its last attempt is over.
    const bool given_up =
        state.exit.code == 0 && (last == AttemptId{} || once_.contains(ended.job));
    if (given_up || (!state.exit.lost && state.exit.code != 0 && with(state.exit.code) > 0)) return;
    fail("S16", now, node,
         "job " + to_string(ended.job) + " has failed with " + std::to_string(state.exit.code) +
             (state.exit.lost ? " (lost)" : "") + ", and no process of " + to_string(last) +
             " ended so by itself");
  }
}

void Checker::wrote_one(Instant now, NodeId node, const Record& record) {
  if (const auto* r = std::get_if<LifeBegan>(&record)) return began(now, node, *r);
  if (const auto* r = std::get_if<JobEnded>(&record)) {
    check_end(now, node, *r);
    return ended(now, node, *r);
  }
  if (const auto* r = std::get_if<AttemptStarting>(&record)) return starting(now, node, *r);
  if (const auto* r = std::get_if<JobAccepted>(&record)) {
    durable_.insert(r->submit.spec.id);
    if (r->submit.spec.no_requeue) once_.try_emplace(r->submit.spec.id);
    const JobTerms& terms = r->submit.spec.terms;
    if (!terms.after.empty()) after_[r->submit.spec.id] = terms.after;
    if (terms.hold && r->submit.forwards == 0) held_.insert(r->submit.spec.id);
    if (terms.time_limit > Duration{0}) limited_.insert(r->submit.spec.id);
  } else if (const auto* standing = std::get_if<JobStanding>(&record)) {
    standing->held ? (void)held_.insert(standing->job) : (void)held_.erase(standing->job);
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

/// The rule S24, of a job that starts.
void Checker::check_waits(Instant now, NodeId node, const JobId& id) {
  if (held_.contains(id)) fail("S24", now, node, "job " + to_string(id) + " starts, and is held");
  const auto waits = after_.find(id);
  if (waits == after_.end()) return;
  for (const After& after : waits->second) {
    const auto over = ended_.find(after.job);
    const bool any = over != ended_.end() && after.how == After::How::any;
    const bool ok = over != ended_.end() && over->second == JobPhase::finished;
    if (any || (over != ended_.end() && ok == (after.how == After::How::ok))) continue;
    fail(
        "S24", now, node,
        "job " + to_string(id) + " starts, and is to start after " + name_of(after.how) + " of " +
            to_string(after.job) + ", which " +
            (over == ended_.end() ? "has not ended" : std::string("has ") + name_of(over->second)));
  }
}

/// The rule S25, of an attempt whose start has just become durable.
void Checker::check_queues(Instant now, NodeId node, AttemptId started) {
  const Durable::Job* job = journal(node).open(started.job);
  if (job == nullptr) return;
  std::vector<const Durable*> agents;
  for (const PeerAgent& peer : partitions_) agents.push_back(&journal(agent_node(peer.agent)));
  if (const std::string wrong = beyond_queues(agents, job->submit.spec); !wrong.empty())
    fail("S25", now, node, "attempt " + to_string(started) + " starts, and " + wrong);
}

void Checker::starting(Instant now, NodeId node, const AttemptStarting& starting) {
  check_waits(now, node, starting.attempt.job);
  gangs_[starting.attempt] = starting.gang;
  if (!starting.allocation.as_asked()) allocations_[starting.attempt] = starting.allocation;
  if (const auto once = once_.find(starting.attempt.job); once != once_.end()) {
    if (once->second != AttemptId{} && once->second != starting.attempt) {
      fail("S18", now, node,
           "attempt " + to_string(starting.attempt) + " starts after " + to_string(once->second) +
               " of a job that must not be started again");
    }
    once->second = starting.attempt;
  }
  if (const Durable::Job* job = journal(node).open(starting.attempt.job);
      job != nullptr &&
      (job->stage == Durable::Stage::starting || job->stage == Durable::Stage::draining)) {
    fail("S3", now, node,
         "attempt " + to_string(starting.attempt) + " starts, and " + to_string(job->attempt) +
             " is not over");
  }
  if (const Durable::Job* job = journal(node).open(starting.attempt.job); job != nullptr) {
    const JobSpec& spec = job->submit.spec;
    const std::size_t gpus = gpus_of(starting.gang);
    if (!may_have_size(spec, gpus, starting.allocation)) {
      fail("S23", now, node,
           "attempt " + to_string(starting.attempt) + " starts with " + std::to_string(gpus) +
               " GPUs; its job asks for " + std::to_string(spec.gpus()) +
               " and may not have so many");
    }
  }
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

void Checker::new_disk(NodeId node, std::span<const Record> records) {
  journals_.erase(node);
  journal(node).read(records);
  if (const auto life = lives_.find(node); life != lives_.end()) life->second.epoch = Epoch{};
  std::erase_if(epochs_seen_, [&](const auto& seen) { return seen.first.first == node; });
}

void Checker::look_at(Instant now, NodeId node, const AgentState& agent) {
  if (const std::string wrong = outgrown(agent); !wrong.empty()) fail("S11", now, node, wrong);
  const std::string wrong = changes_.look(node, agent);
  if (wrong.empty()) return;
  const auto space = wrong.find(' ');
  fail(wrong.substr(0, space).c_str(), now, node, wrong.substr(space + 1));
}

void Checker::look_at(Instant now, NodeId node, const ExecutorState& executor) {
  if (const std::string wrong = outgrown(executor); !wrong.empty()) fail("S11", now, node, wrong);
  const std::string wrong = changes_.look(node, executor);
  if (!wrong.empty()) fail("S7", now, node, wrong);
}

bool Checker::reads(std::optional<std::size_t> kind) noexcept {
  constexpr auto looks_into = []<class... Ts>(std::variant<Ts...>*) {
    const auto is = []<class T>() {
      return std::is_same_v<T, Submit> || std::is_same_v<T, Accepted> ||
             std::is_same_v<T, Rejected> || std::is_same_v<T, JobState> ||
             std::is_same_v<T, JobList> || std::is_same_v<T, Inventory> ||
             std::is_same_v<T, Launch>;
    };
    return std::array{is.template operator()<Ts>()...};
  };
  static constexpr auto kReads = looks_into(static_cast<Message*>(nullptr));
  return kind && kReads[*kind];
}

void Checker::arrived(Instant now, NodeId from, NodeId to, const Message& message, Incarnation life,
                      std::uint64_t sequence) {
  if (from.value >= kFirstClient) {
    clients_.said(message);
  } else if (to.value >= kFirstClient) {
    if (const std::string wrong = clients_.told(from, life, sequence, message); !wrong.empty())
      fail("S13", now, to, wrong);
  }
  if (const auto* accepted = std::get_if<Accepted>(&message)) {
    if (!durable_.contains(accepted->job)) {
      fail("S6", now, from,
           "acknowledged job " + to_string(accepted->job) + ", which is in no journal");
    }
  } else if (const auto* inventory = std::get_if<Inventory>(&message)) {
    if (const auto partition = own_partition(to);
        partition == inventory->fence.partition && inventory->fence.epoch == journal(to).epoch())
      inventories_[{to, from}] = journal(to).life();
  } else if (const auto* launch = std::get_if<Launch>(&message)) {
    own(now, launch->fence.partition, launch->fence.epoch, from);
  } else if (const auto* state = std::get_if<JobState>(&message)) {
    if (const JobState* end = journal(from).ended(state->job);
        end != nullptr && terminal(state->phase) &&
        (end->phase != state->phase || end->exit != state->exit || end->served != state->served)) {
      fail("S6", now, from,
           "told " + node_text(to) + " of another end of job " + to_string(state->job) +
               " than it has in its journal");
    }
    if (terminal(state->phase) && !ended_.contains(state->job) && durable_.contains(state->job)) {
      fail("S6", now, from,
           "told " + node_text(to) + " that job " + to_string(state->job) + " is " +
               name_of(state->phase) + ", which is in no journal");
    }
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
