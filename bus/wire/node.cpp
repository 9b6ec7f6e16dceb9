// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/node.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/planted.h"
#include "bus/wire/roles.h"

namespace starling {
namespace {

/// What answers one life of a node, or orders something of it, and means nothing to another.
bool for_one_life(const Message& message) {
  return std::holds_alternative<Launch>(message) || std::holds_alternative<Welcome>(message) ||
         std::holds_alternative<Goodbye>(message);
}

/// A page of a list is as large as a frame may be. One ends the batch, so that what a cycle holds
/// does not grow with the number of questions, and what is sent is counted before the next.
bool ends_with_page(const Output& out) {
  return !out.send.empty() && std::holds_alternative<JobList>(out.send.back().message);
}

}  // namespace

Node::Node(NodeId me, Incarnation incarnation, const Limits& limits, Endpoint& endpoint,
           Journal* journal, NodeOptions options, std::uint16_t protocol)
    : me_(me),
      incarnation_(incarnation),
      limits_(limits),
      endpoint_(endpoint),
      journal_(journal),
      options_(options),
      codec_(limits, protocol),
      protocol_(protocol),
      began_(options.began.value_or(journal == nullptr ? 0 : journal->position()) + 1) {
  STARLING_CHECK(options_.batch > 0);
}

Result<Node::Cycle> Node::pump(Instant now) {
  if (failed_) return *failed_;
  if (!may_speak(now) && !planted(Bug::speaks_after_lease)) return Cycle{};
  collect(now);
  const Cycle cycle = drain(now, 0);
  tick_core(now);
  ++counters_.ticks;
  if (Status s = flush(); !s.ok()) return s.error();
  return cycle;
}

Result<Node::Cycle> Node::absorb(Instant now) {
  if (failed_) return *failed_;
  if (!may_speak(now) && !planted(Bug::speaks_after_lease)) return Cycle{};
  collect(now);
  const Cycle cycle = drain(now, 0);
  if (Status s = flush(); !s.ok()) return s.error();
  return cycle;
}

Status Node::tick(Instant now) {
  if (failed_) return *failed_;
  if (!may_speak(now)) return done();
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
    if (now >= deadline || !may_speak(now)) return false;

    const Instant wake = more ? now : std::min({next_deadline(), deadline, speaks_until_});
    std::optional<Delivery> first = next_frame(wake);
    now = clock()->now();
    if (!may_speak(now)) {  // as after a sleep in which the process was stopped
      waiting_ = std::move(first);
      return false;
    }
    collect(now);
    if (first) take(now, *first);
    more = drain(now, first ? 1 : 0).more;
    tick_core(now);
    ++counters_.ticks;
    if (Status s = flush(); !s.ok()) return s.error();
  }
}

std::optional<Delivery> Node::next_frame(Instant deadline) {
  if (waiting_) return std::exchange(waiting_, std::nullopt);
  return endpoint_.receive(deadline);
}

bool Node::silenced() const noexcept {
  return speaks_until_ != kNever && clock() != nullptr && !may_speak(clock()->now());
}

Node::Cycle Node::drain(Instant now, std::uint32_t taken) {
  while (taken < options_.batch && !ends_with_page(out_)) {
    const std::optional<Delivery> delivery = next_frame(now);
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
  if (!fresh(now, delivery, frame.value())) {
    ++counters_.stale;
    return;
  }
  if (const auto* goodbye = std::get_if<Goodbye>(&frame.value().message)) {
    if (hear_outlived(delivery.from, *goodbye)) return;
    goodbye_ = goodbye->reason;
  }
  const std::uint16_t spoken = spoken_with(delivery.from);
  receive(now, Received{delivery.from, std::move(frame.value().message), spoken, delivery.by});
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

bool Node::fresh(Instant now, const Delivery& delivery, const Frame& frame) {
  const NodeId from = delivery.from;
  auto it = seen_.find(from);
  if (it == seen_.end()) {
    if (seen_.size() >= limits_.peers) {
      // Callers come and go; what is known of one is only which protocol it speaks.
      std::erase_if(seen_, [](const auto& peer) { return role_of(peer.first) == Role::client; });
      if (seen_.size() >= limits_.peers) return false;
    }
    Seen first{frame.header.incarnation};
    if (const auto known = known_.find(from); known != known_.end())
      first = {known->second.life, known->second.born, known->second.written};
    it = seen_.emplace(from, first).first;
  }
  Seen& seen = it->second;
  if (old_copy(frame.header, seen) && !planted(Bug::earlier_life_heard)) {
    tell_old_copy(now, from, frame.header, seen);
    return false;
  }
  if (frame.header.incarnation > seen.incarnation) {
    seen = Seen{frame.header.incarnation};
    std::erase_if(out_.send, [from](const Send& send) {
      return send.to == from && for_one_life(send.message);  // decided on the word of the last one
    });
  }
  if (!seen.found) endpoint_.found_at(from, delivery.seat);
  seen.found = true;
  learn(from, frame.header, seen);
  if (frame.header.meant_for != Incarnation{} && frame.header.meant_for != incarnation_)
    return false;
  seen.protocol = std::min(protocol_, frame.header.speaks);

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
  // A Launch from before the owner heard of this life may be of an attempt that is over. One that
  // does not say which life is meant has to come after the owner's first word to it.
  if (std::holds_alternative<Welcome>(frame.message) ||
      std::holds_alternative<InventoryRequest>(frame.message))
    seen.greeting = std::max(seen.greeting, frame.header.sequence);
  if (!std::holds_alternative<Launch>(frame.message)) return true;
  return frame.header.meant_for != Incarnation{} || frame.header.sequence > seen.greeting;
}

Incarnation Node::meant_for(NodeId peer, const Message& message) const {
  if (!for_one_life(message)) return {};
  const auto* goodbye = std::get_if<Goodbye>(&message);
  if (goodbye != nullptr && goodbye->of_life != Incarnation{}) return goodbye->of_life;
  const auto seen = seen_.find(peer);
  return seen == seen_.end() ? Incarnation{} : seen->second.incarnation;
}

std::uint16_t Node::spoken_with(NodeId peer) const {
  const auto seen = seen_.find(peer);
  return seen == seen_.end() ? kOldestProtocol : seen->second.protocol;
}

void Node::send_all() {
  for (const Send& send : out_.send) {
    if (silenced()) {
      ++counters_.unsaid;
      continue;
    }
    const std::uint16_t known = spoken_with(send.to);
    if (least_protocol_of(send.message) > known) {
      ++counters_.withheld;
      continue;
    }
    const std::uint16_t spoken = std::min(known, wholly_said_in(send.message));
    FrameHeader header{spoken, incarnation_, ++sequence_};
    header.meant_for = meant_for(send.to, send.message);
    header.born = options_.born;
    if (journal_ != nullptr && options_.born != 0) {
      header.written = journal_->position();
      header.began = began_;
    }
    const auto bytes = codec_.encode(header, send.message);
    if (!bytes.empty() && endpoint_.send(send.to, bytes)) {
      ++counters_.frames_out;
    } else {
      ++counters_.dropped;
    }
  }
  out_.send.clear();
}

Status Node::flush() {
  if (failed_) return out_.clear(), Status(*failed_);
  if (planted(Bug::sends_before_sync)) send_all();
  const auto wrote = [this](const Status& done) {
    if (!done.ok()) failed_ = done.error();
    return done.ok();
  };
  // What it recalls for itself it hears now, so that what follows is written below.
  if (std::ranges::any_of(out_.send, [this](const Send& send) { return send.to == me_; }))
    fill_in();
  for (const ArchiveChunk& chunk : out_.archive) {
    STARLING_CHECK(journal_ != nullptr);
    if (!wrote(journal_->archive(chunk.number, chunk.records))) return *failed_;
  }
  if (!out_.persist.empty()) {
    STARLING_CHECK(journal_ != nullptr);
    keep_known();
    if (!wrote(journal_->append(out_.persist))) return *failed_;
    ++counters_.appends;
    counters_.records += out_.persist.size();
  }
  if (!out_.recall.empty() || !out_.read.empty()) fill_in();
  send_all();
  if (!out_.forget.empty() && !wrote(journal_->forget(out_.forget.back()))) return *failed_;
  run_commands();
  out_.clear();
  return done();
}

}  // namespace starling
