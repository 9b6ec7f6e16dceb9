#include "bus/node.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "bus/roles.h"

namespace starling {

Node::Node(NodeId me, Incarnation incarnation, const Limits& limits, Endpoint& endpoint,
           Journal* journal, NodeOptions options)
    : me_(me),
      incarnation_(incarnation),
      limits_(limits),
      endpoint_(endpoint),
      journal_(journal),
      options_(options),
      codec_(limits) {
  STARLING_CHECK(options_.batch > 0);
}

Result<Node::Turn> Node::pump(Instant now) {
  if (failed_) return *failed_;
  collect(now);
  const Turn turn = drain(now, 0);
  tick_core(now);
  ++counters_.ticks;
  if (Status s = flush(); !s.ok()) return s.error();
  return turn;
}

Result<Node::Turn> Node::absorb(Instant now) {
  if (failed_) return *failed_;
  collect(now);
  const Turn turn = drain(now, 0);
  if (Status s = flush(); !s.ok()) return s.error();
  return turn;
}

Status Node::tick(Instant now) {
  if (failed_) return *failed_;
  tick_core(now);
  ++counters_.ticks;
  return flush();
}

Result<bool> Node::run_until(Instant deadline) {
  STARLING_CHECK(clock() != nullptr);
  bool more = false;
  for (;;) {
    if (failed_) return *failed_;
    if (stop_.load(std::memory_order_relaxed)) return true;
    Instant now = clock()->now();
    if (now >= deadline) return false;

    const Instant wake = more ? now : std::min(next_deadline(), deadline);
    std::optional<Delivery> first = endpoint_.receive(wake);
    now = clock()->now();
    collect(now);
    if (first) take(now, *first);
    more = drain(now, first ? 1 : 0).more;
    tick_core(now);
    ++counters_.ticks;
    if (Status s = flush(); !s.ok()) return s.error();
  }
}

Node::Turn Node::drain(Instant now, std::uint32_t taken) {
  while (taken < options_.batch) {
    const std::optional<Delivery> delivery = endpoint_.receive(now);
    if (!delivery) return {taken, false};
    take(now, *delivery);
    ++taken;
  }
  return {taken, true};
}

void Node::take(Instant now, const Delivery& delivery) {
  ++counters_.frames_in;
  Result<Frame> frame = codec_.decode(delivery.frame);
  if (!frame) {
    ++counters_.bad_frames;
    return refused();
  }
  if (!authorised(delivery.from, frame.value().message)) {
    ++counters_.unauthorised;
    return refused();
  }
  if (!fresh(delivery.from, frame.value())) {
    ++counters_.stale;
    return;
  }
  receive(now, Received{delivery.from, std::move(frame.value().message)});
}

bool Node::authorised(NodeId from, const Message& message) const {
  const Role sender = role_of(from);
  if (!may_send(sender, role_of(me_), message.index())) return false;
  if (sender != Role::agent || owners_.empty()) return true;
  const PartitionId* partition = speaks_for(message);
  if (partition == nullptr) return true;
  const auto owner = owners_.find(*partition);
  return owner != owners_.end() && owner->second == from;
}

bool Node::fresh(NodeId from, const Frame& frame) {
  auto it = seen_.find(from);
  if (it == seen_.end()) {
    if (seen_.size() >= limits_.peers) return false;
    it = seen_.emplace(from, Seen{frame.header.incarnation, 0, 0}).first;
  }
  Seen& seen = it->second;
  if (frame.header.incarnation < seen.incarnation) return false;
  if (frame.header.incarnation > seen.incarnation) seen = Seen{frame.header.incarnation, 0, 0};

  // Hints only ever move forward: a repeated or overtaken one says nothing new.
  const auto advance = [](std::uint64_t& last, std::uint64_t next) {
    if (next <= last) return false;
    last = next;
    return true;
  };
  if (const auto* digest = std::get_if<Digest>(&frame.message)) {
    return advance(seen.digest, digest->version);
  }
  if (const auto* pong = std::get_if<Pong>(&frame.message))
    return advance(seen.pong, pong->sequence);
  return true;
}

Status Node::flush() {
  if (!out_.persist.empty()) {
    STARLING_CHECK(journal_ != nullptr);
    if (Status written = journal_->append(out_.persist); !written.ok()) {
      failed_ = written.error();
      return *failed_;
    }
    ++counters_.appends;
    counters_.records += out_.persist.size();
  }
  for (const Send& send : out_.send) {
    const auto bytes = codec_.encode({1, incarnation_, ++sequence_}, send.message);
    if (!bytes.empty() && endpoint_.send(send.to, bytes)) {
      ++counters_.frames_out;
    } else {
      ++counters_.dropped;
    }
  }
  run_commands();
  out_.clear();
  return done();
}

// --- Agent ------------------------------------------------------------------------------------

AgentNode::AgentNode(Agent agent, Endpoint& endpoint, Journal& journal, NodeOptions options)
    : Node(agent_node(agent.config().me), agent.config().incarnation, agent.config().limits,
           endpoint, &journal, options),
      agent_(std::move(agent)),
      journal_(journal) {
  for (const PeerAgent& peer : agent_.config().flock) {
    set_owner(peer.partition.id, agent_node(peer.agent));
  }
}

void AgentNode::receive(Instant now, Received received) {
  agent_.step(now, Event{std::move(received)}, out_);
}

void AgentNode::tick_core(Instant now) {
  // Only a Tick that something was waiting for can have decided anything.
  const bool timed = clock() != nullptr && agent_.next_deadline() <= now;
  const Instant before = timed ? clock()->now() : Instant{};
  agent_.step(now, Tick{}, out_);
  if (timed) agent_.note_decision_time(clock()->now() - before);
}

// --- Executor ---------------------------------------------------------------------------------

ExecutorNode::ExecutorNode(Executor executor, Endpoint& endpoint, Journal& journal,
                           Launcher& launcher, NodeOptions options)
    : Node(executor.config().me, executor.config().incarnation, executor.config().limits, endpoint,
           &journal, options),
      executor_(std::move(executor)),
      journal_(journal),
      launcher_(launcher) {
  set_owner(executor_.config().partition, agent_node(executor_.config().owner));
}

Instant ExecutorNode::next_deadline() const noexcept {
  if (!failed_starts_.empty()) return Instant::min();
  return std::min(executor_.next_deadline(), launcher_.next_deadline());
}

void ExecutorNode::receive(Instant now, Received received) {
  executor_.step(now, ExecutorEvent{std::move(received)}, out_);
}

void ExecutorNode::tick_core(Instant now) { executor_.step(now, Tick{}, out_); }

void ExecutorNode::collect(Instant now) {
  for (Exit& exit : failed_starts_) executor_.step(now, ExecutorEvent{std::move(exit)}, out_);
  failed_starts_.clear();
  for (Exit& exit : launcher_.reap()) executor_.step(now, ExecutorEvent{std::move(exit)}, out_);
}

void ExecutorNode::run_commands() {
  for (const RunCommand& command : out_.run) {
    if (const auto* stop = std::get_if<StopSpec>(&command)) {
      launcher_.stop(stop->attempt, stop->grace);
      continue;
    }
    const auto& start = std::get<LaunchSpec>(command);
    if (Status started = launcher_.start(start); !started.ok()) {
      failed_starts_.push_back(
          {start.attempt, start.server, {127, false, started.error().message}, {}});
    }
  }
}

}  // namespace starling
