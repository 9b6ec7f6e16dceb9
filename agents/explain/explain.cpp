// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "agents/explain/explain_back.h"
#include "agents/explain/explain_ended.h"
#include "agents/explain/explain_queue.h"
#include "agents/explain/explain_silence.h"
#include "agents/explain/explain_turn.h"
#include "agents/home/never_fits.h"
#include "agents/parts/means.h"
#include "agents/step/step.h"
#include "base/counted.h"
#include "scheduling/feedback.h"
#include "scheduling/running_index.h"
#include "topology/placement_text.h"

namespace starling {
namespace {

/// Of a gang over several servers, where servers are of scale-up domains; else empty.
std::string domains_text(const Topology& topology, const Placement& gpus) {
  if (topology.domains().empty() || gpus.empty()) return {};
  if (topology.server_of(gpus.front()) == topology.server_of(gpus.back())) return {};
  std::set<std::uint32_t> domains;
  for (const GpuId gpu : gpus) domains.insert(topology.domain_of(topology.server_of(gpu)));
  const bool outside = domains.erase(Topology::kNoDomain) > 0;
  if (domains.empty()) return {};
  if (domains.size() > 1 || outside) {
    return ", over " + counted(domains.size(), "scale-up domain") +
           (outside ? " and servers of none" : "");
  }
  const ScaleUpDomain& domain = topology.domains()[*domains.begin()];
  return ", within the scale-up domain of " + topology.servers()[domain.servers.first].name +
         " to " + topology.servers()[domain.servers.last - 1].name;
}

/// The most GPUs that are free in one of them, as far as it is of this partition.
std::uint32_t largest_free_domain(const Occupancy& gpus) {
  std::uint32_t most = 0;
  for (const ScaleUpDomain& domain : gpus.topology().domains()) {
    std::uint32_t free = 0;
    const std::uint32_t last = std::min(domain.servers.last, gpus.servers().last);
    for (std::uint32_t s = std::max(domain.servers.first, gpus.servers().first); s < last; ++s)
      free += gpus.free_on(ServerId{s});
    most = std::max(most, free);
  }
  return most;
}

/// Of a policy that decides in rounds; else nothing.
void explain_round(const AgentState& s, std::vector<std::string>& lines) {
  const PolicyFacts& facts = s.policy->facts();
  if (facts.round <= Duration{0}) return;
  std::string line = "policy " + std::string(facts.name) +
                     ": decides anew which job has which GPUs in rounds of " +
                     seconds_text(facts.round);
  if (s.deciding.next != kNever)
    line += ", the next one in " + seconds_text(std::max(s.deciding.next - s.now, Duration{0}));
  if (s.flock.peers.size() > 1)
    line += "; jobs that have been left to wait go to another partition then, at the latest";
  lines.push_back(std::move(line));
}

void explain_waiting(AgentState& s, const Job& job, std::vector<std::string>& lines) {
  if (job.back() != JobReason::none) {
    for (std::string& line : explain_back(s, job)) lines.push_back(std::move(line));
    return;
  }
  lines.push_back("waits at agent " + std::to_string(s.config.me.value) + " (order " +
                  std::to_string(job.order) + ", one of " + std::to_string(s.home.waiting_jobs()) +
                  " waiting" + explain_priority(s, job) + ")");
  if (const std::string reason = never_fits(s, *job.spec); !reason.empty())
    lines.push_back("can run nowhere as the servers are now: " + reason);
  std::string here = "needs " + counted(job.spec->gpus(), "GPU") + ": partition " +
                     std::to_string(s.owner.partition.id.value) + " has " +
                     std::to_string(s.owner.ledger.free_count()) + " free of " +
                     std::to_string(s.owner.partition.gpus.size()) + ", largest free server " +
                     std::to_string(s.owner.ledger.gpus().largest_free_server());
  if (!s.topology.domains().empty())
    here += ", largest free scale-up domain " +
            std::to_string(largest_free_domain(s.owner.ledger.gpus()));
  if (s.owner.ledger.quarantined_count() > 0) {
    here += ", " + std::to_string(s.owner.ledger.quarantined_count()) + " in quarantine";
  }
  if (const std::uint32_t drained = s.owner.ledger.drained_count(); drained > 0)
    here += ", " + std::to_string(drained) + " drained";
  lines.push_back(std::move(here));
  if (std::string means = means_left(s.owner.ledger.gpus(), *job.spec); !means.empty())
    lines.push_back(std::move(means));
  for (std::string& line : resting_executors(s)) lines.push_back(std::move(line));
  for (const PeerState& peer : s.flock.peers) {
    if (peer.peer.agent == s.config.me || !peer.digest) continue;
    const Digest& digest = *peer.digest;
    lines.push_back("partition " + std::to_string(peer.peer.partition.id.value) + " said it has " +
                    std::to_string(digest.free) + " free of " + std::to_string(digest.gpus) +
                    means_there(s.topology, said_by(peer), *job.spec) + ", largest free server " +
                    std::to_string(digest.largest_free_server) + ", " +
                    std::to_string(digest.waiting) + " waiting");
  }
  for (std::string line : {explain_ahead(s, job), explain_claim(s, job.spec->id)})
    if (!line.empty()) lines.push_back(std::move(line));
  explain_round(s, lines);
  for (std::string& line : explain_turn(s, job, s.now)) lines.push_back(std::move(line));
}

/// What the policy was not let do with the job, and what it says itself.
void explain_policy(AgentState& s, const Job& job, Instant now, std::vector<std::string>& lines) {
  if (const Job::Refused& refused = job.refused; refused.at != kNever) {
    lines.push_back("policy " + std::string(s.policy->facts().name) + " wanted to " + refused.wish +
                    " " + seconds_text(now - refused.at) +
                    " ago, and was refused: " + name_of(refused.why));
  }
  for (std::string& line : s.policy->explain(job.spec->id)) lines.push_back(std::move(line));
  const View view = view_for_people(s, now);
  const JobView* seen = job.run() == nullptr   ? s.home.waiting.find(job.order)
                        : view.ends == nullptr ? s.home.running.find(job)
                                               : view.ends->find(job.spec->id, now);
  if (seen == nullptr) return;
  for (std::string& line : s.policy->explain_now(view, *seen)) lines.push_back(std::move(line));
}

void explain_shares(const Job& job, std::vector<std::string>& lines) {
  for (const Participant& part : job.attempt()->parts) {
    std::string text = "partition " + std::to_string(part.share.partition.value) + ", GPUs " +
                       placement_text(part.share.gpus) + ": ";
    if (part.released) {
      text += "released";
    } else if (part.exited) {
      text += "exited";
    } else if (part.started) {
      text += "started";
    } else if (part.committed) {
      text += "committed";
    } else if (part.reserved) {
      text += "reserved";
    } else {
      text += "no answer yet";
    }
    lines.push_back(std::move(text));
  }
}

}  // namespace

std::vector<std::string> explain(AgentState& s, JobId id, Instant now) {
  std::vector<std::string> lines;
  const auto tell_silence = [&] {
    for (std::string& line : explain_silence(s, id, now)) lines.push_back(std::move(line));
  };
  if (const auto over = s.home.remembered.ended.find(id); over != s.home.remembered.ended.end())
    return explain_ended(over->second);
  if (const auto gone = s.home.remembered.moved.find(id);
      gone != s.home.remembered.moved.end() && !s.home.jobs.contains(id)) {
    lines.push_back("moved to agent " + std::to_string(gone->second.to.value));
    tell_silence();
    return lines;
  }
  const auto known = s.home.jobs.find(id);
  if (known == s.home.jobs.end()) {
    // An owner that is not its home knows of what it has of it.
    if (std::string held = explain_held(s, id); !held.empty()) {
      lines.push_back(std::move(held));
      tell_silence();
      return lines;
    }
    lines.push_back("agent " + std::to_string(s.config.me.value) + " does not know this job");
    return lines;
  }
  const Job& job = known->second;
  if (const std::string run = run_details_text(job.spec->run); !run.empty())
    lines.push_back("says how else it may run: " + run);
  if (const std::string terms = terms_text(job.spec->terms); !terms.empty())
    lines.push_back("says when it may run: " + terms);
  if (job.failures > 0) {
    lines.push_back("has failed " + counted(job.failures, "time", "times") +
                    ", last with exit code " + std::to_string(job.failure.code) + "; " +
                    counted(job.spec->terms.retries, "retry", "retries") + " in all");
  }
  switch (job.stage()) {
    case Stage::waiting:
      explain_waiting(s, job, lines);
      break;
    case Stage::offered:
      lines.push_back("offered to agent " +
                      std::to_string(std::get<Job::Offered>(job.doing).to.value) +
                      ", which has not answered yet");
      break;
    case Stage::bidding:
      if (const Job::Round& round = *job.round(); !round.claimed.empty()) {
        lines.push_back(
            "has its turn: " + counted(round.claimed.size(), "partition keeps", "partitions keep") +
            " servers for it, for " + seconds_text(round.deadline - now) + " more at most");
        break;
      }
      lines.push_back("round " + std::to_string(job.failed_rounds + 1) + ": " +
                      counted(job.round()->bids->asked.size(), "partition has", "partitions have") +
                      " not answered the request for bids");
      break;
    case Stage::running:
      lines.push_back("runs on GPUs " + placement_text(job.placement) + " since " +
                      seconds_text(now - job.started()) + ", attempt " +
                      std::to_string(job.attempts) + domains_text(s.topology, job.placement));
      if (!job.allocation.as_asked())
        lines.push_back("runs otherwise than it asks: " + allocation_text(job.allocation));
      break;
    default:
      lines.push_back(std::string(name_of(job.stage())) + " on GPUs " +
                      placement_text(all_gpus(*job.attempt())) + ", attempt " +
                      std::to_string(job.attempts));
      explain_shares(job, lines);
  }
  if (const Duration again = job.requeued_by(now); again > Duration{0})
    lines.push_back("has waited for " + seconds_text(again) + " since it first ran");
  tell_silence();
  if (!job.trouble.empty()) lines.push_back("last time: " + job.trouble);
  explain_policy(s, job, now, lines);
  return lines;
}

void Step::on(NodeId from, const Explain& question) {
  const auto chunk = s.home.remembered.archive.find(question.job);
  if (!chunk) return send(from, Explanation{question.job, explain(s, question.job, now)});
  out.recall.push_back({question.job, *chunk});
  send(from, Explanation{question.job, {}});
}

void Step::on(NodeId from, const StatusQuery&) { send(from, status_of(s)); }

namespace {

/// Upper edge of the bucket that holds the quantile, in whole microseconds.
std::uint32_t quantile_us(const std::array<std::uint64_t, 256>& times, double quantile) {
  std::uint64_t total = 0;
  for (const std::uint64_t n : times) total += n;
  if (total == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(static_cast<double>(total - 1) * quantile);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    seen += times[i];
    if (seen <= rank) continue;
    const std::uint64_t octave = std::uint64_t{1} << (i / 4);
    const std::uint64_t ns = octave + octave / 4 * (i % 4 + 1);
    return static_cast<std::uint32_t>((ns + 999) / 1000);
  }
  return 0;
}

}  // namespace

AgentStatus status_of(const AgentState& s) {
  AgentStatus status;
  status.agent = s.config.me;
  status.fence = s.fence();
  status.gpus = s.owner.partition.gpus.size();
  status.free = s.owner.ledger.free_count();
  status.quarantined = s.owner.ledger.quarantined_count();
  status.waiting = s.home.waiting_jobs();
  status.running = s.home.running_jobs;
  const Counters& c = s.counters;
  status.accepted = c.accepted;
  status.finished = c.finished;
  status.failed = c.failed;
  status.forwards = c.forwards;
  status.cross_partition_gangs = c.cross_partition_gangs;
  status.preemptions = c.preemptions;
  status.resizes = c.resizes;
  status.decisions = c.decisions;
  status.refused_frames = c.refused_frames;
  status.messages = c.messages;
  status.decision_p50_us = quantile_us(s.deciding.times, 0.5);
  status.decision_p99_us = quantile_us(s.deciding.times, 0.99);
  status.protocol = s.config.protocol;
  const auto count = [&](const Watch& watch) {
    if (watch.standing == Standing::lost) ++status.suspected;
    if (watch.standing == Standing::cut_off) ++status.cut_off;
    if (watch.foreign) ++status.foreign;
  };
  for (const PeerState& peer : s.flock.peers) count(peer.watch);
  for (const OwnedExecutor& executor : s.owner.executors) count(executor.watch);
  status.patience = static_cast<std::uint32_t>(s.flock.health.factor());
  status.drained = s.owner.ledger.drained_count();
  status.sick = s.owner.ledger.sick_count();
  status.resting = s.owner.ledger.resting_count();
  status.troubles = resting_executors(s);
  const auto list = [](const auto& from, auto& to) {
    for (const auto& id : from) {
      if (to.size() < AgentStatus::kMostListed) to.push_back(id);
    }
  };
  list(s.owner.ledger.drained(), status.drained_servers);
  list(s.owner.ledger.sick(), status.sick_gpus);
  status.speed = s.speed.health();
  return status;
}

}  // namespace starling
