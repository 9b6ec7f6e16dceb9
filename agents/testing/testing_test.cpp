// SPDX-License-Identifier: Apache-2.0
// The flock that the other tests drive, and that it is worth something: the same seed gives the
// same run.
#include "agents/testing/testing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>

#include "agents/agent/recall.h"
#include "agents/explain/describe_test.h"
#include "interference/models.h"
#include "topology/fingerprint.h"
#include "topology/generate/generate.h"
#include "topology/partition.h"

namespace starling {
namespace {

Topology make_topology(const FlockOptions& options) {
  GeneratorOptions flat;
  flat.servers = options.servers;
  flat.gpus_per_server = options.gpus_per_server;
  Topology::Parts parts = generate_flat(flat).value().parts();
  if (options.cpus_of_last > 0) parts.servers.back().cpus = options.cpus_of_last;
  const std::uint32_t each = options.servers_per_domain;
  if (each == 0) return Topology(parts);
  for (std::uint32_t first = 0; first + each <= options.servers; first += each)
    parts.domains.push_back({{first, first + each}, 1600});
  return Topology(parts);
}

}  // namespace

TestFlock::TestFlock(const FlockOptions& options)
    : options_(options),
      topology_(make_topology(options)),
      policies_(make_policy_registry()),
      speed_(make_flat_speed()),
      rng_(options.seed, 99) {
  plan();
}

void TestFlock::plan() {
  Timers timers;
  timers.orphan = options_.orphan;
  timers = asking_within_orphan(timers);
  if (!options_.lossy) timers.heartbeat = timers.digest = timers.orphan = Duration::max();
  std::vector<PeerAgent> flock;
  const std::vector<Partition> parts = partition(topology_, options_.agents).value();
  for (const Partition& part : parts) flock.push_back({AgentId{part.id.value}, part});
  std::uint32_t executor = 0;
  for (const PeerAgent& peer : flock) {
    AgentSlot slot;
    slot.config.me = peer.agent;
    slot.config.flock = flock;
    slot.config.timers = timers;
    slot.config.limits = options_.limits;
    slot.config.flood_most = options_.flood_most;
    if (peer.agent == AgentId{0}) slot.config.protocol = options_.protocol;
    slot.config.calendar = Duration{0};
    slot.config.topology = fingerprint_of(topology_);
    const IndexRange servers = peer.partition.servers;
    for (std::uint32_t first = servers.first; first < servers.last;
         first += options_.servers_per_executor) {
      const IndexRange range{first, std::min(first + options_.servers_per_executor, servers.last)};
      slot.config.executors.push_back({executor_node(executor), range});
      ExecutorSlot state;
      state.config.me = executor_node(executor++);
      state.config.partition = peer.partition.id;
      state.config.owner = peer.agent;
      state.config.servers = range;
      state.config.timers = timers;
      state.config.calendar = Duration{0};
      state.config.topology = fingerprint_of(topology_);
      if (executor == 1) state.config.protocol = options_.protocol;  // counted on above
      state.config.limits = options_.limits;
      executors_.push_back(std::move(state));
    }
    agents_.push_back(std::move(slot));
  }
  for (std::uint32_t a = 0; a < agents_.size(); ++a) start_agent(a, {});
  for (ExecutorSlot& e : executors_) {
    e.core = std::make_unique<Executor>(e.config, topology_, e.journal);
  }
  ClientConfig client;
  client.me = client_node(0);
  for (const PeerAgent& peer : flock) client.agents.push_back(peer.agent);
  client.timers = timers;
  client_ = std::make_unique<Client>(client, Rng(options_.seed, 5));
}

void TestFlock::set_policy(const std::string& policy, std::uint32_t jobs_per_gpu) {
  options_.policy = policy;
  for (AgentSlot& a : agents_) a.config.limits.jobs_per_gpu = jobs_per_gpu;
  for (ExecutorSlot& e : executors_) e.config.limits.jobs_per_gpu = jobs_per_gpu;
}

void TestFlock::start_agent(std::uint32_t a, const std::vector<Record>& recovered) {
  AgentSlot& slot = agents_[a];
  slot.core = std::make_unique<Agent>(slot.config, topology_, *speed_, new_policy(),
                                      Rng(options_.seed, a), recovered);
}

std::unique_ptr<Policy> TestFlock::new_policy() const {
  return options_.make_policy ? options_.make_policy() : policies_.make(options_.policy).value();
}

std::unique_ptr<Agent> TestFlock::replayed_agent(std::uint32_t a, bool compacted) const {
  const AgentSlot& slot = agents_[a];
  return std::make_unique<Agent>(slot.config, topology_, *speed_, new_policy(),
                                 Rng(options_.seed, a),
                                 compacted ? slot.core->snapshot() : slot.journal);
}

std::unique_ptr<Executor> TestFlock::replayed_executor(std::uint32_t e, bool compacted) const {
  const ExecutorSlot& slot = executors_[e];
  return std::make_unique<Executor>(slot.config, topology_,
                                    compacted ? slot.core->snapshot() : slot.journal);
}

JobId TestFlock::submit(std::uint64_t n, std::uint32_t gpus, Duration duration,
                        std::uint32_t home) {
  JobSpec spec;
  spec.id = JobId{0, n};
  spec.workers = gpus;
  spec.duration = duration;
  return submit(std::move(spec), home);
}

JobId TestFlock::submit(JobSpec spec, std::uint32_t home) {
  const JobId id = spec.id;
  client_->submit(now_, std::move(spec), AgentId{home});
  return id;
}

void TestFlock::cancel(std::uint64_t n) { client_->cancel(JobId{0, n}); }

void TestFlock::ask(std::uint32_t agent, Message message) {
  post(client_node(1), {agent_node(AgentId{agent}), std::move(message)});
}

JobPhase TestFlock::phase(std::uint64_t n) const {
  const JobOutcome* outcome = client_->find(JobId{0, n});
  return outcome == nullptr ? JobPhase::unknown : outcome->state.phase;
}

void TestFlock::post(NodeId from, const Send& send) {
  const std::string kind = name_of(send.message);
  const auto lose = lose_.find(kind);
  const bool lost = cuts_.contains({from, send.to}) || (lose != lose_.end() && lose->second > 0) ||
                    rng_.chance(options_.loss);
  if (lost) {
    if (lose != lose_.end() && lose->second > 0) --lose->second;
    return note(node_text(from) + " -> " + node_text(send.to) + "  " + describe(send.message) +
                "  LOST");
  }
  const int copies = rng_.chance(options_.duplication) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    const auto jitter = static_cast<double>(options_.jitter.count()) * rng_.uniform();
    Event event;
    event.from = from;
    event.to = send.to;
    event.message = send.message;
    queue_.emplace(now_ + options_.delay + Duration(static_cast<std::int64_t>(jitter)),
                   std::move(event));
  }
}

void TestFlock::set_cut(NodeId a, NodeId b, bool is_cut) {
  for (const auto& way : {std::pair(a, b), std::pair(b, a)})
    is_cut ? void(cuts_.insert(way)) : void(cuts_.erase(way));
  note(node_text(a) + " and " + node_text(b) + (is_cut ? " are cut off" : " are connected"));
}

bool TestFlock::tick_one() {
  for (std::uint32_t a = 0; a < agents_.size(); ++a) {
    if (agents_[a].frozen_until > now_) continue;
    if (agents_[a].core == nullptr || agents_[a].core->next_deadline() > now_) continue;
    step_agent(a, Tick{});
    return true;
  }
  for (std::uint32_t e = 0; e < executors_.size(); ++e) {
    if (executors_[e].core == nullptr || executors_[e].core->next_deadline() > now_) continue;
    step_executor(e, Tick{});
    return true;
  }
  if (client_->next_deadline() > now_) return false;
  step_client(Tick{});
  return true;
}

Instant TestFlock::next_instant() const {
  Instant next = queue_.empty() ? kNever : queue_.begin()->first;
  for (const AgentSlot& a : agents_) {
    if (a.core == nullptr) continue;
    next = std::min(next, std::max(a.core->next_deadline(), a.frozen_until));
  }
  for (const ExecutorSlot& e : executors_) {
    if (e.core != nullptr) next = std::min(next, e.core->next_deadline());
  }
  return std::max(now_, std::min(next, client_->next_deadline()));
}

bool TestFlock::step() {
  if (!queue_.empty() && queue_.begin()->first <= now_) {
    const Event event = std::move(queue_.begin()->second);
    queue_.erase(queue_.begin());
    handle(event);
    check();
    return true;
  }
  if (tick_one()) {
    check();
    return true;
  }
  const Instant next = next_instant();
  if (next == kNever) return false;
  now_ = next;
  return true;
}

void TestFlock::run_for(Duration d) {
  const Instant end = now_ + d;
  while (next_instant() <= end && step()) {
  }
  now_ = end;
}

bool TestFlock::settled() const {
  if (!client_->all_over() || !processes_.empty()) return false;
  return std::all_of(agents_.begin(), agents_.end(), [](const AgentSlot& a) {
    if (a.core == nullptr) return false;
    const AgentState& s = a.core->state();
    return s.home.jobs.empty() && s.owner.ledger.holds().empty() && !s.owner.reconciling() &&
           s.owner.ledger.free_count() == s.owner.partition.gpus.size();
  });
}

bool TestFlock::settle(Duration most) {
  const Instant end = now_ + most;
  while (!settled() && next_instant() <= end && step()) {
  }
  return settled();
}

void TestFlock::handle(const Event& event) {
  if (!event.message) {
    const auto at = processes_.find({event.attempt, event.server});
    if (at == processes_.end() || at->second.version != event.version) return;
    const Process process = at->second;
    processes_.erase(at);
    note("hardware: " + attempt_text(event.attempt) + " ends on server " +
         std::to_string(event.server.value) + " with code " + std::to_string(process.code));
    const ExitStatus status{process.code, process.lost, process.lost ? "no space left" : ""};
    step_executor(process.executor,
                  Exit{event.attempt, event.server, status, now_ - process.started});
    return;
  }
  const std::uint32_t to = event.to.value;
  if (to < kFirstExecutor && agents_[to - 1].frozen_until > now_) {
    queue_.emplace(agents_[to - 1].frozen_until, event);
    return;
  }
  note(node_text(event.from) + " -> " + node_text(event.to) + "  " + describe(*event.message));
  if (to >= kFirstClient) {
    if (event.to == client_node(0)) step_client(Received{event.from, *event.message});
  } else if (to >= kFirstExecutor) {
    const std::uint32_t e = to - kFirstExecutor;
    const auto* launch = std::get_if<Launch>(&*event.message);
    if (launch != nullptr && refuse_launches_ > 0) {
      --refuse_launches_;
      return post(event.to, {event.from, LaunchResult{launch->attempt, false, "no such image"}});
    }
    const std::uint16_t spoken =
        event.from == agent_node(AgentId{0}) ? options_.protocol : kNewestProtocol;
    if (executors_[e].core != nullptr)
      step_executor(e, Received{event.from, *event.message, spoken});
  } else if (agents_[to - 1].core != nullptr) {
    const bool old =
        event.from == agent_node(AgentId{0}) || event.from == executor_node(0) || to == 1;
    const std::uint16_t spoken = old ? options_.protocol : kNewestProtocol;
    step_agent(to - 1, Received{event.from, *event.message, spoken});
  }
}

void TestFlock::step_agent(std::uint32_t a, const starling::Event& event) {
  AgentSlot& slot = agents_[a];
  Output out;
  slot.core->step(now_, event, out);
  ++slot.steps;
  for (const ArchiveChunk& chunk : out.archive) slot.archive[chunk.number] = jobs_in(chunk.records);
  for (const Record& record : out.persist) check_record(a, record);
  slot.journal.insert(slot.journal.end(), out.persist.begin(), out.persist.end());
  fill_in(out, [&](std::uint64_t chunk) {
    const auto at = slot.archive.find(chunk);
    return at == slot.archive.end() ? nullptr : &at->second;
  });
  for (const std::uint64_t chunk : out.forget)
    slot.archive.erase(slot.archive.begin(), slot.archive.upper_bound(chunk));
  const bool dies = slot.crash_at > 0 && --slot.crash_at == 0;
  if (!dies || !slot.crash_before_sending) {
    for (const Send& send : out.send) post(agent_node(AgentId{a}), send);
  }
  if (dies) crash_agent(a);
}

void TestFlock::step_executor(std::uint32_t e, const ExecutorEvent& event) {
  ExecutorSlot& slot = executors_[e];
  if (slot.core == nullptr) return;
  ExecutorOutput out;
  slot.core->step(now_, event, out);
  slot.journal.insert(slot.journal.end(), out.persist.begin(), out.persist.end());
  for (const Send& send : out.send) post(slot.config.me, send);
  for (const RunCommand& command : out.run) run(e, command);
}

void TestFlock::step_client(const starling::Event& event) {
  Output out;
  client_->step(now_, event, out);
  for (const Send& send : out.send) post(client_node(0), send);
}

void TestFlock::fault(const std::string& what) {
  faults_.push_back(what);
  note("FAULT: " + what);
}

void TestFlock::note(const std::string& line) {
  char time[32];
  std::snprintf(time, sizeof time, "%9.3f  ", seconds(now_.time_since_epoch()));
  transcript_.push_back(time + line);
}

std::vector<std::string> TestFlock::take_transcript() { return std::exchange(transcript_, {}); }

TEST_CASE("equal seeds give equal runs, whatever gets lost") {
  std::vector<std::string> runs[2];
  for (auto& transcript : runs) {
    TestFlock flock({.agents = 2,
                     .servers = 2,
                     .seed = 7,
                     .delay = std::chrono::milliseconds(1),
                     .jitter = std::chrono::milliseconds(50),
                     .loss = 0.1,
                     .duplication = 0.1,
                     .lossy = true});
    for (std::uint64_t n = 1; n <= 6; ++n) {
      flock.submit(n, static_cast<std::uint32_t>(1 + n % 8), std::chrono::seconds(5), n % 2);
    }
    flock.run_for(std::chrono::minutes(2));
    CHECK(flock.faults().empty());
    transcript = flock.take_transcript();
  }
  CHECK(runs[0].size() > 100);
  CHECK(runs[0] == runs[1]);
}

}  // namespace starling
