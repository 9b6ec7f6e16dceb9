// SPDX-License-Identifier: Apache-2.0
#include "sim/check/growth.h"

#include <algorithm>

#include "agents/executor/executor_state.h"
#include "agents/step/state.h"

namespace starling {
namespace {

constexpr std::size_t kWords = 4096;    // of text that is made here, beyond what a job printed
constexpr std::size_t kQuestions = 16;  // open at a time
constexpr std::size_t kPings = 128;
constexpr std::size_t kUnheard = 4096;
constexpr std::size_t kAsked = 256;

struct Count {
  std::string wrong;
  // Hundreds of times a cycle, and nothing is wrong in nearly all of them.
  [[gnu::always_inline]] void operator()(const char* what, std::size_t size, std::size_t most) {
    if (size > most) [[unlikely]]
      note(what, size, most);
  }
  [[gnu::noinline]] void note(const char* what, std::size_t size, std::size_t most) {
    if (!wrong.empty()) return;
    wrong = std::string(what) + ": " + std::to_string(size) + " of at most " + std::to_string(most);
  }
};

void count_job(Count& count, const AgentState& s, const Job& job) {
  const std::size_t peers = s.config.flock.size(), gpus = s.topology.gpu_count();
  const std::size_t text = s.config.limits.log_tail_bytes + kWords;
  count("homes that a job was offered to", job.offered.size(), peers);
  count("a job's GPUs", job.placement.size(), gpus);
  count("a job's trouble in bytes", job.trouble.size(), text);
  if (const Attempt* attempt = job.attempt())
    count("an attempt's parts", attempt->parts.size(),
          std::min<std::size_t>(peers, s.config.limits.participants_per_job));
  if (const Job::Round* round = job.round()) {
    count("a round's claims", round->claimed.size(), peers);
    count("a round's bidders", round->bids ? round->bids->asked.size() : 0, peers);
    count("a round's offers", round->bids ? round->bids->offers.size() : 0, peers);
  }
  if (const Job::Run* run = job.run()) {
    count("GPUs to restart at", run->drain ? run->drain->restart_at.size() : 0, gpus);
    count("a job's last words in bytes", run->exit.log_tail.size(), text);
  }
}

void count_share(Count& count, const AgentState& s, const OwnedShare& share) {
  const std::size_t peers = s.config.flock.size();
  count("a share's task groups", share.task_groups.size(), s.config.executors.size());
  count("a share's gang", share.gang.size(), peers);
  count("those who deny a share", share.denied.size(), peers);
  count("open questions about a share", share.asked.size(), kQuestions);
  count("a share's last words in bytes", share.exit.log_tail.size(),
        s.config.limits.log_tail_bytes + kWords);
}

std::size_t given_away(const AgentState& s) {
  std::size_t given = 0;
  for (const auto& [attempt, hold] : s.owner.ledger.holds()) {
    // What is found running, or in a journal, has its GPUs anyway.
    const bool fresh = hold.given || hold.phase == HoldPhase::reserved;
    given += fresh || hold.phase == HoldPhase::committed ? 1 : 0;
  }
  return given;
}

}  // namespace

std::string outgrown(const AgentState& s) {
  const Limits& limits = s.config.limits;
  const std::size_t gpus = s.owner.partition.gpus.size();
  // An earlier life may have let more jobs share a GPU than this one does.
  const std::size_t tenants = gpus * std::max<std::size_t>(limits.jobs_per_gpu, 8);
  const std::size_t nodes = s.config.flock.size() + s.config.executors.size();
  const std::size_t servers = s.owner.partition.servers.size();
  Count count;
  // What another home gives away is taken beyond the limit while own jobs are on offer.
  count("open jobs", s.home.jobs.size(), 3 * std::size_t{limits.jobs_waiting});
  count("jobs that are over", s.home.remembered.ended.size(), limits.jobs_remembered);
  count("jobs that have moved", s.home.remembered.moved.size(), limits.jobs_remembered);
  count("jobs that are over, in order", s.home.remembered.ended_order.size(),
        s.home.remembered.ended.size());
  count("jobs that have moved, in order", s.home.remembered.moved_order.size(),
        limits.jobs_remembered);
  count("jobs in the archive", s.home.remembered.archive.jobs().size(), limits.jobs_remembered);
  count("bytes in the archive", s.home.remembered.archive.bytes(), limits.archive_bytes);
  count("chunks of the archive", s.home.remembered.archive.chunks().size(),
        s.home.remembered.archive.jobs().size());
  count("offers owed an answer", s.home.remembered.archive.owed().size(),
        2 * std::size_t{limits.jobs_remembered});
  count("offers asked about", s.home.remembered.settling.size(), kAsked);
  count("jobs that wait", s.home.waiting.size(), s.home.jobs.size());
  count("jobs that run", s.home.running.kept(), 2 * s.home.jobs.size() + 64);
  count("priorities told apart", s.home.passing.size(), Passing::kMost);
  count("timers of jobs", s.home.timers.size(), s.home.jobs.size());
  count("holds", s.owner.ledger.holds().size(), tenants);
  if (s.owner.ledger.holds().size() > limits.holds)  // else fewer were given away, too
    count("holds given away", given_away(s), limits.holds);
  count("shares", s.owner.shares.size(), tenants);
  count("timers of shares", s.owner.share_timers.size(), tenants);
  count("lapses", s.owner.lapses.size(), tenants);
  count("lapses by hold", s.owner.lapse_at.size(), tenants);
  count("tombstones", s.owner.ledger.tombstones().size(), limits.tombstones);
  count("tombstones in order", s.owner.ledger.tombstones().order().size(), limits.tombstones);
  count("bad GPUs", s.owner.ledger.sick().size(), gpus);
  count("drained servers", s.owner.ledger.drained().size(), servers);
  count("words of operators", s.owner.drain_versions.size(), servers);
  count("executors", s.owner.executors.size(), s.config.executors.size());
  count("executors by node", s.owner.executor_index.size(), s.config.executors.size());
  count("peers", s.flock.peers.size(), s.config.flock.size());
  count("digests of others", s.flock.others.size(), s.config.flock.size());
  count("probes for others", s.flock.probes.size(), nodes * nodes);
  count("words to itself", s.loop.size(), 0);
  for (const auto& [id, job] : s.home.jobs) count_job(count, s, job);
  for (const auto& [attempt, share] : s.owner.shares) count_share(count, s, share);
  return count.wrong;
}

std::string outgrown(const ExecutorState& s) {
  const Limits& limits = s.config.limits;
  const std::size_t tenants =
      std::size_t{s.gpus.size()} * std::max<std::size_t>(limits.jobs_per_gpu, 2);
  Count count;
  std::size_t ended = 0;
  for (const auto& [attempt, run] : s.runs) {
    ended += run.phase == Run::Phase::exited ? 1 : 0;
    count("parts of an attempt", run.parts.size(), s.config.servers.size());
    count("an attempt's last words in bytes", run.exit.log_tail.size(),
          limits.log_tail_bytes + kWords);
  }
  count("attempts that run", s.runs.size() - ended, tenants);
  count("ends that no home has heard of", ended, kUnheard + tenants);
  count("tombstones", s.forgotten.size(), limits.tombstones);
  count("tombstones in order", s.forgotten.order().size(), limits.tombstones);
  count("ends to be said again", s.resends.size(), ended);
  count("pings without an answer", s.pinged.size(), kPings);
  count("bad GPUs", s.sick.size(), s.gpus.size());
  return count.wrong;
}

}  // namespace starling
