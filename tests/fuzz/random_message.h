// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agents/message.h"
#include "base/rng.h"
#include "bus/wire/roles.h"

namespace starling::testing {

/// Random messages that a correct node could send, of every kind: the input of round-trip and
/// mutation tests.
class RandomMessage {
 public:
  explicit RandomMessage(Rng rng) : rng_(rng) {}

  static constexpr std::size_t kinds = std::variant_size_v<MessageKinds>;

  /// `kind` is an index into Message.
  Message make(std::size_t kind) { return make_at(kind, std::make_index_sequence<kinds>{}); }
  Message any() { return make(rng_.below(kinds)); }

  std::uint64_t u64() { return std::uint64_t{rng_.next()} << 32U | rng_.next(); }
  Rng& rng() { return rng_; }

 private:
  template <std::size_t... I>
  Message make_at(std::size_t kind, std::index_sequence<I...>) {
    Message out;
    ((kind == I ? void(out = of(std::variant_alternative_t<I, MessageKinds>{})) : void()), ...);
    return out;
  }

  std::uint32_t some() { return rng_.chance(0.2) ? 0 : rng_.below(1000); }
  std::string text(std::uint32_t most) {
    std::string s(rng_.below(most + 1), ' ');
    for (char& c : s) c = static_cast<char>(rng_.below(256));
    return s;
  }
  JobId job() { return {u64(), u64()}; }
  AttemptId attempt() { return {job(), Epoch{u64()}, u64()}; }
  PartitionId partition() { return PartitionId{rng_.below(64)}; }
  AgentId agent() { return AgentId{rng_.below(64)}; }
  Fence fence() { return {partition(), Epoch{u64()}}; }
  Demand demand() {
    if (rng_.chance(0.5)) return {};
    return {static_cast<std::int64_t>(rng_.below(1'000'000'000)),
            static_cast<std::int64_t>(rng_.below(1'000'000'000))};
  }
  Duration span() { return Duration{static_cast<std::int64_t>(u64() >> 3U)}; }
  Refusal refusal() { return static_cast<Refusal>(rng_.below(10)); }
  Placement gpus(std::uint32_t least) {
    Placement out;
    std::uint32_t id = rng_.below(1000);
    for (std::uint32_t n = least + rng_.below(20); n > 0; --n)
      out.push_back(GpuId{id += 1 + rng_.below(5)});
    return out;
  }
  Share share(std::uint32_t p) { return {PartitionId{p}, gpus(1)}; }
  std::vector<Share> gang() {
    std::vector<Share> out;
    std::uint32_t p = rng_.below(8);
    for (std::uint32_t n = 1 + rng_.below(4); n > 0; --n)
      out.push_back(share(p += 1 + rng_.below(3)));
    return out;
  }
  ExitStatus exit() {
    return {static_cast<std::int32_t>(rng_.below(512)) - 256, rng_.chance(0.5), text(200),
            rng_.chance(0.2)};
  }
  std::vector<std::string> texts(std::uint32_t count, std::uint32_t most) {
    std::vector<std::string> out(rng_.below(count + 1));
    for (std::string& s : out) s = text(most);
    return out;
  }
  JobSpec spec() {
    JobSpec s;
    s.id = job();
    s.name = text(40), s.user = text(10), s.queue = text(10), s.model = text(12);
    s.workers = 1 + rng_.below(32), s.gpus_per_worker = 1 + rng_.below(8);
    if (rng_.chance(0.3))
      s.min_workers = 1 + rng_.below(s.workers), s.max_workers = s.workers + rng_.below(9);
    s.cpus_per_worker = rng_.uniform() * 64, s.memory_gib_per_worker = rng_.uniform() * 512;
    s.gpu_types = texts(3, 12);
    s.priority = static_cast<std::int32_t>(rng_.next());
    s.no_requeue = s.priority % 2 != 0;
    s.as_user = s.priority % 3 != 0;
    s.duration = span();
    s.command = texts(5, 30), s.environment = texts(5, 30);
    if (rng_.chance(0.3)) {
      s.run = {1 + some() % 1000,
               rng_.uniform() * 8,
               s.gpus(),
               s.gpus() * 2,
               rng_.chance(0.5),
               std::chrono::seconds(rng_.below(600)),
               std::chrono::seconds(rng_.below(600))};
    }
    if (rng_.chance(0.3)) s.terms = terms();
    return s;
  }
  JobTerms terms() {
    JobTerms t;
    const auto time = [this] { return std::chrono::seconds(rng_.below(100'000)); };
    t.hold = rng_.chance(0.3);
    if (rng_.chance(0.3)) t.begin = time();
    for (std::uint32_t n = rng_.below(4); n > 0; --n)
      t.after.push_back({static_cast<After::How>(rng_.below(3)), job()});
    t.retries = some(), t.retry_after = time(), t.time_limit = time();
    t.signal = rng_.below(65), t.signal_before = time();
    if (rng_.chance(0.5)) t.array = job(), t.task = some(), t.tasks = some(), t.at_once = some();
    return t;
  }

  Hello of(Hello) { return {static_cast<Role>(1 + rng_.below(3)), 1, 3, text(20), u64()}; }
  Welcome of(Welcome) { return {fence(), u64()}; }
  Goodbye of(Goodbye) { return {text(50)}; }
  Ping of(Ping) { return {u64()}; }
  Pong of(Pong) { return {u64(), some()}; }
  Digest of(Digest) {
    const std::uint32_t gpus = 1 + rng_.below(1000), free = rng_.below(gpus + 1);
    Digest out{fence(), u64(), gpus, free, rng_.below(free + 1), rng_.below(free + 1),
               some(),  u64()};
    for (std::uint16_t type = 0; type < rng_.below(4); ++type) {
      const std::uint32_t one = rng_.below(free + 1);
      out.types.push_back({GpuTypeId{type}, one, rng_.below(one + 1), rng_.below(gpus + 1)});
    }
    out.out_of_service = rng_.below(gpus + 1);
    const auto amount = [&] {
      return rng_.chance(0.2) ? ServerRoom::kAnyAmount : std::int64_t{rng_.below(1'000'000)} * 1000;
    };
    for (std::uint32_t left = free; left > 0 && rng_.chance(0.6);) {
      const std::uint32_t each = 1 + rng_.below(left), servers = 1 + rng_.below(left / each);
      out.rooms.push_back({GpuTypeId{0}, each, servers, {amount(), amount()}});
      left -= each * servers;
    }
    for (std::uint32_t n = rng_.below(3) * 8; n > 0; --n)
      out.summary.push_back(static_cast<float>(rng_.normal()));
    for (std::uint16_t type = 0; type < rng_.below(4); ++type)
      out.prices.push_back({GpuTypeId{type}, static_cast<float>(rng_.uniform())});
    return out;
  }
  Submit of(Submit) {
    return {spec(), rng_.chance(0.5) ? NodeId{} : client_node(rng_.below(9)),
            span(), span(),
            some(), some(),
            some(), rng_.chance(0.5) ? Duration{-1} : span(),
            span(), some()};
  }
  Accepted of(Accepted) { return {job(), agent(), rng_.chance(0.5) ? some() : 0}; }
  Busy of(Busy) { return {job(), some()}; }
  Rejected of(Rejected) { return {job(), refusal(), text(60), rng_.chance(0.5) ? some() : 0}; }
  Cancel of(Cancel) { return {job()}; }
  Query of(Query) { return {job()}; }
  JobState of(JobState) {
    JobState s;
    s.job = job(), s.phase = static_cast<JobPhase>(rng_.below(9)), s.home = agent();
    s.queued = span(), s.elapsed = span(), s.served = span(), s.requeued = span();
    s.attempts = some(), s.forwards = some(), s.preemptions = some();
    s.placement = gpus(0);
    if (terminal(s.phase)) s.exit = exit();
    if (rng_.chance(0.5)) s.ask = ask_of(spec()), s.submitted = span(), s.begun = rng_.chance(0.5);
    s.attempt_epoch = Epoch{u64()}, s.attempt_number = u64();
    s.reason = static_cast<JobReason>(rng_.below(8)), s.failures = some(), s.until = span();
    return s;
  }
  Explain of(Explain) { return {job()}; }
  Explanation of(Explanation) { return {job(), texts(6, 80)}; }
  ListJobs of(ListJobs) { return {job(), 1 + rng_.below(1000)}; }
  JobList of(JobList) {
    JobList list;
    list.jobs.resize(rng_.below(6));
    JobId id;
    for (JobState& s : list.jobs)
      s = of(JobState{}), s.job = {id.hi += 1 + some(), u64()}, id = s.job;
    list.more = rng_.chance(0.5);
    return list;
  }
  StatusQuery of(StatusQuery) { return {}; }
  AgentStatus of(AgentStatus) {
    AgentStatus s;
    s.agent = agent(), s.fence = fence();
    s.gpus = 1 + rng_.below(1000), s.free = rng_.below(s.gpus + 1),
    s.quarantined = rng_.below(s.gpus + 1);
    s.waiting = some(), s.running = some(), s.accepted = u64(), s.finished = u64(),
    s.failed = u64();
    s.forwards = u64(), s.cross_partition_gangs = u64(), s.preemptions = u64(), s.resizes = u64();
    s.decisions = u64(), s.refused_frames = u64(), s.messages = u64();
    s.decision_p50_us = some(), s.decision_p99_us = some();
    s.protocol = static_cast<std::uint16_t>(1 + rng_.below(kNewestProtocol));
    s.foreign = some(), s.suspected = some(), s.cut_off = some(), s.patience = 1 + rng_.below(8);
    s.drained = rng_.below(s.gpus + 1), s.sick = rng_.below(s.quarantined + 1);
    s.sick_gpus = gpus(0);
    for (std::uint32_t n = rng_.below(4); n > 0; --n) s.drained_servers.push_back(ServerId{n});
    return s;
  }
  /// Half of the jobs run as they ask.
  Allocation allocation() {
    if (rng_.chance(0.5)) return {};
    return {1 + rng_.below(64), rng_.below(8), rng_.below(512), rng_.below(4), rng_.chance(0.5)};
  }
  BidRequest of(BidRequest) {
    const std::uint32_t gpus = 1 + rng_.below(100);
    BidRequest m{attempt(), gpus,    1 + rng_.below(gpus), texts(3, 12), rng_.below(1000),
                 span(),    demand()};
    if (rng_.chance(0.5)) m.gang = gpus + rng_.below(100), m.model = text(20);
    m.priority = static_cast<std::int32_t>(rng_.below(2001)) - 1000;
    return m;
  }
  Offer of(Offer) {
    Offer m{attempt(), share(rng_.below(64)), some()};
    for (std::uint32_t n = rng_.below(3); n > 0; --n)
      m.shared.push_back({attempt(), gpus(1), 1 + rng_.below(1'000'000), some()});
    return m;
  }
  NoOffer of(NoOffer) { return {attempt(), partition(), text(40)}; }
  Reserve of(Reserve) {
    Reserve m{attempt(), fence(), gpus(1), some(), demand()};
    for (std::uint32_t n = rng_.below(3); n > 0; --n) m.beside.push_back(attempt());
    return m;
  }
  Reserved of(Reserved) { return {attempt(), partition()}; }
  ReserveRefused of(ReserveRefused) { return {attempt(), partition(), refusal()}; }
  Commit of(Commit) {
    Commit m{attempt(), fence(), spec(), gang(), span(), allocation()};
    m.attempt.job = m.spec.id;
    return m;
  }
  Committed of(Committed) { return {attempt(), partition()}; }
  CommitRefused of(CommitRefused) { return {attempt(), partition(), refusal()}; }
  StartAttempt of(StartAttempt) { return {attempt(), fence()}; }
  Started of(Started) { return {attempt(), partition()}; }
  Release of(Release) { return {attempt(), fence()}; }
  Released of(Released) { return {attempt(), partition(), span()}; }
  AttemptQuery of(AttemptQuery) { return {attempt(), partition(), rng_.next()}; }
  AttemptAnswer of(AttemptAnswer) {
    return {attempt(), static_cast<AttemptLife>(1 + rng_.below(3)), rng_.next(), span()};
  }
  Launch of(Launch) {
    Launch m{attempt(), fence(), spec(), gang(), gpus(1), span(), allocation()};
    m.attempt.job = m.spec.id;
    return m;
  }
  LaunchResult of(LaunchResult) { return {attempt(), rng_.chance(0.5), text(40)}; }
  Kill of(Kill) { return {attempt(), fence()}; }
  Killed of(Killed) { return {attempt(), span()}; }
  Exited of(Exited) { return {attempt(), partition(), exit(), span()}; }
  ExitedAck of(ExitedAck) { return {attempt(), partition()}; }
  Progress of(Progress) {
    return {attempt(), span(), rng_.uniform(), rng_.chance(0.5) ? 1e4 * rng_.uniform() : 0,
            rng_.chance(0.5) ? rng_.below(100'000) : 0};
  }
  InventoryRequest of(InventoryRequest) { return {fence(), u64()}; }
  Inventory of(Inventory) {
    Inventory m{fence(), {}, u64(), gpus(0)};
    for (std::uint32_t n = rng_.below(5); n > 0; --n) {
      m.items.push_back({attempt(), gpus(1), rng_.chance(0.5), {}, span()});
      if (m.items.back().exited) m.items.back().exit = exit();
    }
    return m;
  }
  Fenced of(Fenced) { return {partition(), Epoch{u64()}}; }
  NodeId watched() {
    return rng_.chance(0.5) ? agent_node(agent()) : executor_node(rng_.below(64));
  }
  ProbeFor of(ProbeFor) { return {watched()}; }
  ProbeResult of(ProbeResult) { return {watched(), rng_.chance(0.5)}; }
  GpuHealth of(GpuHealth) { return {u64(), gpus(0)}; }
  GpuHealthSeen of(GpuHealthSeen) { return {u64()}; }
  SetDrain of(SetDrain) { return {ServerId{some()}, rng_.chance(0.5), rng_.chance(0.5), u64()}; }
  DrainState of(DrainState) {
    return {ServerId{some()}, rng_.chance(0.5), some(), refusal(), u64()};
  }
  ReadOutput of(ReadOutput) {
    return {attempt(), ServerId{some()}, client_node(rng_.below(9)), u64(), u64(), rng_.next()};
  }
  OutputPage of(OutputPage) {
    return {attempt(), ServerId{some()}, client_node(rng_.below(9)), u64(),     u64(),   u64(),
            u64(),     rng_.chance(0.5), rng_.chance(0.5),           text(300), text(30)};
  }
  Digests of(Digests) {
    Digests out;
    for (std::uint32_t n = rng_.below(5); n > 0; --n) out.words.push_back({of(Digest{}), some()});
    return out;
  }
  ChangeJob of(ChangeJob) {
    return {job(), static_cast<JobChange>(1 + rng_.below(4)), Epoch{u64()}, u64()};
  }

  std::uint64_t not_zero() { return u64() | 1U; }
  QueueSpec queue(const std::string& name, std::uint32_t guaranteed, std::uint32_t most) {
    QueueSpec q;
    q.name = name, q.guaranteed = guaranteed, q.most = most, q.weight = 1 + rng_.below(9);
    if (rng_.chance(0.3)) q.users = {"ann", "ben"};
    return q;
  }
  QueueTree tree() {
    QueueTree t;
    t.version = not_zero();
    for (std::uint32_t n = 1 + rng_.below(4), i = 0; i < n; ++i) {
      const std::uint32_t guaranteed = some(), below = rng_.below(4);
      const std::uint32_t most = rng_.chance(0.5) ? QueueSpec::kNoLimit : guaranteed + some();
      const std::string name(1, static_cast<char>('a' + i));
      t.queues.push_back(queue(name, guaranteed, most));
      for (std::uint32_t leaf = 0; leaf < below; ++leaf) {
        t.queues.push_back(queue(name + "/" + std::to_string(leaf), guaranteed / below, most));
        if (rng_.chance(0.5)) t.queues.back().most_per_user = some();
      }
    }
    if (rng_.chance(0.5)) t.fallback = t.queues.back().name;
    return t;
  }
  /// Rises with `place`.
  QuotaAccount account(std::uint32_t place) {
    return {static_cast<char>('a' + place) + text(8), rng_.chance(0.5) ? text(8) : ""};
  }
  QuotaStamp stamp() { return {Incarnation{not_zero()}, u64()}; }
  SetQueues of(SetQueues) { return {tree()}; }
  QueuesQuery of(QueuesQuery) { return {}; }
  QueuesState of(QueuesState) {
    QueuesState s;
    if (rng_.chance(0.7)) s.tree = tree();
    for (std::uint32_t n = rng_.below(5), i = 0; i < n; ++i)
      s.uses.push_back({account(i), some(), some(), rng_.next()});
    for (std::uint32_t n = rng_.below(5), i = 0; i < n; ++i) s.unaware.push_back(AgentId{7 * i});
    s.why = refusal(), s.reason = text(40);
    return s;
  }
  QuotaAsk of(QuotaAsk) {
    QuotaAsk m{stamp(), not_zero(), {}};
    for (std::uint32_t n = rng_.below(5), i = 0; i < n; ++i) {
      const std::uint32_t used = some(), keep = used + some();
      const auto priority = static_cast<std::int32_t>(rng_.next());
      m.rows.push_back({account(i), keep, used, rng_.next(), some(), priority, span()});
    }
    return m;
  }
  QuotaGrant of(QuotaGrant) {
    QuotaGrant m{stamp(), not_zero(), {}};
    for (std::uint32_t n = rng_.below(5), i = 0; i < n; ++i)
      m.rows.push_back({account(i), some(), text(8), rng_.chance(0.5), rng_.chance(0.5)});
    return m;
  }

  Rng rng_;
};

}  // namespace starling::testing
