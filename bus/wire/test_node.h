// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bus/wire/node.h"
#include "bus/wire/test_inbox.h"

namespace starling::testing {

inline const NodeId kMe = agent_node(AgentId{0});
inline const NodeId kPeer = agent_node(AgentId{1});

/// Remembers in which order things left.
using Story = std::vector<std::string>;

struct FakeEndpoint : Inbox {
  explicit FakeEndpoint(Story& s) : story(s) {}
  bool send(NodeId to, std::span<const std::byte> frame) override {
    if (!taking) return false;
    story.push_back("send");
    sent.push_back({to, {frame.begin(), frame.end()}});
    return true;
  }
  std::optional<Delivery> receive(Instant deadline) override {
    waits.push_back(deadline);
    return Inbox::receive(deadline);
  }
  void found_at(NodeId node, std::uint32_t) override { found.push_back(node); }
  void arrive(NodeId from, const Message& m, std::uint64_t incarnation = 1,
              std::uint64_t sequence = 1, std::uint64_t meant_for = 0) {
    FrameHeader header{1, Incarnation{incarnation}, sequence};
    header.meant_for = Incarnation{meant_for};
    const auto bytes = codec.encode(header, m);
    waiting.push_back({from, {bytes.begin(), bytes.end()}});
  }

  Story& story;
  Codec codec;
  bool taking = true;
  std::vector<Delivery> sent;
  std::vector<Instant> waits;
  std::vector<NodeId> found;
};

struct FakeJournal : Journal {
  explicit FakeJournal(Story& s) : story(s) {}
  Status append(std::span<const Record> records) override {
    if (broken) return {Errc::io, "disk full"};
    story.push_back("append " + std::to_string(records.size()));
    return done();
  }
  Result<std::vector<Record>> recover() override { return std::vector<Record>{}; }
  Status compact(std::span<const Record>) override { return done(); }

  Story& story;
  bool broken = false;
};

struct FakeClock : Clock {
  Instant now() const noexcept override { return at += std::chrono::milliseconds(1); }
  mutable Instant at{};
};

/// A core that writes one record and answers for each message, and says one thing at each Tick on
/// request.
class EchoNode : public Node {
 public:
  EchoNode(Endpoint& endpoint, Journal& journal, NodeOptions options = {}, NodeId me = kMe)
      : Node(me, Incarnation{5}, Limits{}, endpoint, &journal, options) {}
  [[nodiscard]] Instant next_deadline() const noexcept override { return deadline; }

  std::vector<Message> got;
  int refusals = 0, runs = 0;
  Instant deadline = kNever;
  bool speak = false;
  std::vector<Message> words;
  std::optional<Message> answer;  // instead of the Ping
  NodeId to = kPeer;              // of the words

 private:
  void receive(Instant, Received r) override {
    got.push_back(std::move(r.message));
    out_.persist.emplace_back(ShareLaunched{});
    out_.send.push_back({r.from, answer ? *answer : Ping{got.size()}});
  }
  void tick_core(Instant) override {
    if (speak) out_.send.push_back({kPeer, Ping{99}});
    for (Message& m : words) out_.send.push_back({to, std::move(m)});
    words.clear();
  }
  void refused() override { ++refusals; }
  void run_commands() override { ++runs; }
};

struct NodeFixture {
  Story story;
  FakeEndpoint endpoint{story};
  FakeJournal journal{story};
};

}  // namespace starling::testing
