// SPDX-License-Identifier: Apache-2.0
// What a node does: its lives, its cycles, and what becomes of what a cycle gave out.
#include <algorithm>
#include <utility>

#include "agents/executor/executor_state.h"
#include "agents/step/state.h"
#include "base/hash.h"
#include "bus/wire/codec.h"
#include "tests/search/policy.h"
#include "tests/search/world_frame.h"

namespace starling::search {
namespace {

constexpr std::uint32_t kTicksAtOneInstant = 1000;

Codec& codec() {
  static Codec one;
  return one;
}

}  // namespace

void SmallWorld::start_agent(std::uint32_t a) {
  AgentSlot& slot = agents_[a];
  ++slot.incarnation.value;
  AgentConfig config = setting_->agents[a];
  config.incarnation = slot.incarnation;
  config.epoch = slot.epoch;
  std::vector<Record> recovered;
  for (const auto& record : slot.journal) recovered.push_back(*record);
  slot.core.emplace(Agent(std::move(config), setting_->topology, *setting_->speed,
                          std::make_unique<AtOnce>(), Rng(1, a), recovered));
  slot.seen = {};
  step(a, Tick{});
}

void SmallWorld::start_executor(std::uint32_t e) {
  ExecutorSlot& slot = executors_[e];
  ++slot.incarnation.value;
  ExecutorConfig config = setting_->executors[e];
  config.incarnation = slot.incarnation;
  std::vector<Record> recovered;
  for (const auto& record : slot.journal) recovered.push_back(*record);
  slot.core.emplace(Executor(std::move(config), setting_->topology, recovered));
  slot.seen = {};
  // What ran and is gone is lost, as a launcher says that could not adopt it.
  for (const LaunchSpec& part : slot.core->running()) {
    const bool lives = std::any_of(processes_.begin(), processes_.end(), [&](const Process& p) {
      return p.attempt == part.attempt && p.server == part.server;
    });
    if (!lives) step(2 + e, Exit{part.attempt, part.server, {0, true, "the machine died"}, {}});
  }
  step(2 + e, Tick{});
}

void SmallWorld::step(std::uint32_t node, const ExecutorEvent& event) {
  if (node >= 2 && node < kDeposed) {
    step_executor(node - 2, event);
  } else {
    AgentSlot& slot = node < 2 ? agents_[node] : *deposed_;
    if (!slot.core) return;
    const auto* received = std::get_if<Received>(&event);
    step_agent(slot, node < 2 ? node : deposed_agent_, received ? Event(*received) : Event(Tick{}));
  }
  tick_due(node);
}

/// As the driver loop: what is due is done before the next frame.
void SmallWorld::tick_due(std::uint32_t node) {
  std::uint32_t ticks = 0;
  while (deadline(node) <= now_) {
    if (++ticks > kTicksAtOneInstant) return fail("a node never stops deciding");
    if (node >= 2 && node < kDeposed) {
      step_executor(node - 2, Tick{});
    } else {
      step_agent(node < 2 ? agents_[node] : *deposed_, node < 2 ? node : deposed_agent_, Tick{});
    }
  }
}

void SmallWorld::step_agent(AgentSlot& slot, std::uint32_t a, const Event& event) {
  Output out;
  slot.core->step(now_, event, out);
  if (slot.fenced && !out.persist.empty()) return slot.core.reset();
  checker_.wrote(now_, agent_node(AgentId{a}), out.persist);
  for (Record& record : out.persist) {
    slot.journal_hash = mix64(slot.journal_hash ^ search::fingerprint(record));
    if (const auto* accepted = std::get_if<JobAccepted>(&record)) {
      const JobId id = accepted->submit.spec.id;
      const auto at = std::lower_bound(accepted_.begin(), accepted_.end(), id);
      if (at == accepted_.end() || *at != id) accepted_.insert(at, id);
    }
    slot.journal.push_back(std::make_shared<const Record>(std::move(record)));
  }
  for (const Send& send : out.send) post(agent_node(AgentId{a}), slot.incarnation, send);
}

void SmallWorld::step_executor(std::uint32_t e, const ExecutorEvent& event) {
  ExecutorSlot& slot = executors_[e];
  ExecutorOutput out;
  slot.core->step(now_, event, out);
  checker_.wrote(now_, executor_node(e), out.persist);
  for (Record& record : out.persist) {
    slot.journal_hash = mix64(slot.journal_hash ^ search::fingerprint(record));
    slot.journal.push_back(std::make_shared<const Record>(std::move(record)));
  }
  for (const Send& send : out.send) post(executor_node(e), slot.incarnation, send);
  for (const RunCommand& command : out.run) run(e, command);
}

/// A set: what is under way already is not under way twice.
void SmallWorld::post(NodeId from, Incarnation incarnation, const Send& send) {
  if (std::holds_alternative<Digest>(send.message)) return;
  if (send.to.value >= kFirstClient) {
    return checker_.arrived(now_, from, send.to, send.message, incarnation);
  }
  const auto bytes = codec().encode({1, incarnation, 1}, send.message);
  TraceHash hash;
  hash.add((std::uint64_t{from.value} << 32U) | send.to.value);
  hash.add(bytes);
  const auto at = std::lower_bound(frames_.begin(), frames_.end(), hash.value(),
                                   [](const auto& f, std::uint64_t h) { return f->hash < h; });
  if (at != frames_.end() && (*at)->hash == hash.value()) return;
  auto back = codec().decode(bytes);
  if (!back) return fail("a node sent what the codec refuses: " + back.error().message);
  auto frame = std::make_shared<Frame>();
  frame->from = from;
  frame->to = send.to;
  frame->incarnation = incarnation;
  frame->message = std::move(back.value().message);
  frame->hash = hash.value();
  frames_.insert(at, std::move(frame));
}

/// Frames of a sender's earlier life are dropped, as the driver loop does.
void SmallWorld::arrive(std::uint32_t node, const Frame& frame) {
  if (frame.from.value < kFirstClient) {
    auto& seen = node < 2 ? agents_[node].seen
                          : (node < kDeposed ? executors_[node - 2].seen : deposed_->seen);
    Incarnation& newest = seen[slot_of(frame.from)];
    if (frame.incarnation < newest) return;
    newest = frame.incarnation;
  }
  step(node, Received{frame.from, frame.message});
}

void SmallWorld::deliver(const Frame& frame, bool deposed_too) {
  checker_.arrived(now_, frame.from, frame.to, frame.message, frame.incarnation);
  const std::uint32_t node = slot_of(frame.to);
  arrive(node, frame);
  if (deposed_too && node < 2 && deposed_ && deposed_agent_ == node) arrive(kDeposed, frame);
}

void SmallWorld::run(std::uint32_t e, const RunCommand& command) {
  if (const auto* launch = std::get_if<LaunchSpec>(&command)) {
    Process process{launch->attempt, launch->server, e, launch->gpus};
    const auto at = std::lower_bound(
        processes_.begin(), processes_.end(), process, [](const Process& a, const Process& b) {
          return std::tie(a.attempt, a.server) < std::tie(b.attempt, b.server);
        });
    processes_.insert(at, std::move(process));
    return note_whole();
  }
  if (std::holds_alternative<RenewSpec>(command) || std::holds_alternative<SignalSpec>(command))
    return;
  const AttemptId attempt = std::get<StopSpec>(command).attempt;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    if (processes_[p].attempt != attempt || processes_[p].executor != e) continue;
    processes_[p].stopping = true;
    if (!setting_->canary || processes_[p].reported) continue;
    processes_[p].reported = true;
    const Exit exit{attempt, processes_[p].server, {-15, false, {}}, std::chrono::seconds(1)};
    step(2 + e, exit);
  }
}

void SmallWorld::note_whole() {
  for (Process& process : processes_) {
    std::size_t parts = 0;
    for (const Process& other : processes_) parts += other.attempt == process.attempt ? 1 : 0;
    process.whole = process.whole || parts == setting_->jobs[process.attempt.job.lo - 1].gpus();
  }
}

void SmallWorld::end(std::size_t index, std::int32_t code) {
  const Process process = processes_[index];
  processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(index));
  checker_.process_ended(process.attempt, process.gpus.size(), code, process.stopping);
  if (process.reported) return;
  step(2 + process.executor,
       Exit{process.attempt, process.server, {code, false, {}}, std::chrono::seconds(1)});
}

}  // namespace starling::search
