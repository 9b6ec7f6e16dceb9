// SPDX-License-Identifier: Apache-2.0
// Every kind of message from every role to every role, as frames to a node.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "bus/wire/node.h"
#include "bus/wire/roles.h"
#include "tests/fuzz/random_message.h"

namespace starling {
namespace {

/// Who may say what to whom, written down a second time: A agents, E executors, C clients. A new
/// kind needs a row here too.
const std::map<std::string, std::set<std::string>> kMay{
    {"Hello", {"AA", "AE", "EA", "CA", "AC"}},
    {"Welcome", {"AA", "AE", "AC"}},
    {"Goodbye", {"AA", "AE", "EA", "CA", "AC"}},
    {"Ping", {"AA", "AE", "EA", "CA", "AC"}},
    {"Pong", {"AA", "AE", "EA", "CA", "AC"}},
    {"Digest", {"AA"}},
    {"Submit", {"CA", "AA"}},
    {"Accepted", {"AC", "AA"}},
    {"Busy", {"AC", "AA"}},
    {"Rejected", {"AC", "AA"}},
    {"Cancel", {"CA", "AA"}},
    {"Query", {"CA", "AA"}},
    {"JobState", {"AC", "AA"}},
    {"Explain", {"CA", "AA"}},
    {"Explanation", {"AC", "AA"}},
    {"ListJobs", {"CA"}},
    {"JobList", {"AC"}},
    {"StatusQuery", {"CA"}},
    {"AgentStatus", {"AC"}},
    {"BidRequest", {"AA"}},
    {"Offer", {"AA"}},
    {"NoOffer", {"AA"}},
    {"Reserve", {"AA"}},
    {"Reserved", {"AA"}},
    {"ReserveRefused", {"AA"}},
    {"Commit", {"AA"}},
    {"Committed", {"AA"}},
    {"CommitRefused", {"AA"}},
    {"StartAttempt", {"AA"}},
    {"Started", {"AA"}},
    {"Release", {"AA"}},
    {"Released", {"AA"}},
    {"AttemptQuery", {"AA"}},
    {"AttemptAnswer", {"AA", "AE"}},
    {"Launch", {"AE"}},
    {"LaunchResult", {"EA"}},
    {"Kill", {"AE"}},
    {"Killed", {"EA"}},
    {"Exited", {"EA", "AA"}},
    {"ExitedAck", {"AE", "AA"}},
    {"Progress", {"EA", "AA"}},
    {"InventoryRequest", {"AE"}},
    {"Inventory", {"EA"}},
    {"Fenced", {"EA", "AA"}},
    {"ProbeFor", {"AA"}},
    {"ProbeResult", {"AA"}},
    {"GpuHealth", {"EA"}},
    {"GpuHealthSeen", {"AE"}},
    {"SetDrain", {"CA"}},
    {"DrainState", {"AC"}},
    {"ReadOutput", {"CA", "AE"}},
    {"OutputPage", {"EA", "AC"}},
    {"Digests", {"AA"}},
    {"ChangeJob", {"CA"}},
    {"SetQueues", {"CA", "AA"}},
    {"QueuesQuery", {"CA"}},
    {"QueuesState", {"AC"}},
    {"QuotaAsk", {"AA"}},
    {"QuotaGrant", {"AA"}},
};

struct OneFrame : Endpoint {
  bool send(NodeId, std::span<const std::byte>) override { return true; }
  std::optional<Delivery> receive(Instant) override { return std::exchange(waiting, {}); }
  std::optional<Delivery> waiting;
};

class Listener final : public Node {
 public:
  Listener(NodeId me, Endpoint& endpoint)
      : Node(me, Incarnation{1}, Limits{}, endpoint, nullptr, {}) {}
  [[nodiscard]] Instant next_deadline() const noexcept override { return kNever; }
  int heard = 0, refusals = 0;

 private:
  void receive(Instant, Received) override { ++heard; }
  void tick_core(Instant) override {}
  void refused() override { ++refusals; }
};

struct Party {
  char letter;
  NodeId node;
};

}  // namespace

TEST_CASE("roles are enforced for every kind of message and every pair of roles") {
  const Party parties[] = {{'A', agent_node(AgentId{1})},
                           {'E', executor_node(1)},
                           {'C', client_node(1)},
                           {'?', NodeId{0}}};
  const std::map<char, NodeId> mine{
      {'A', agent_node(AgentId{0})}, {'E', executor_node(0)}, {'C', client_node(0)}};
  testing::RandomMessage random{Rng(11)};
  Codec codec;
  std::size_t allowed = 0, refused = 0;
  for (std::size_t kind = 0; kind < testing::RandomMessage::kinds; ++kind) {
    const std::string name = kind_name(kind);
    CHECK(name == name_of(random.make(kind)));  // the union's order is the variant's
    const auto row = kMay.find(name);
    REQUIRE_MESSAGE(row != kMay.end(), name << " needs a row in this test's table");
    for (const Party& from : parties) {
      for (const auto& [to, me] : mine) {
        OneFrame endpoint;
        Listener node(me, endpoint);
        const auto bytes = codec.encode({kNewestProtocol, Incarnation{1}, 1}, random.make(kind));
        REQUIRE_FALSE(bytes.empty());
        endpoint.waiting = Delivery{from.node, {bytes.begin(), bytes.end()}};
        REQUIRE(node.absorb(Instant{}).ok());
        const bool may = row->second.contains(std::string{from.letter, to});
        CHECK_MESSAGE(node.counters().unauthorised == (may ? 0 : 1),
                      name << " from " << from.letter << " to " << to);
        CHECK_MESSAGE(node.refusals == (may ? 0 : 1), name);
        if (!may) CHECK(node.heard == 0);
        ++(may ? allowed : refused);
      }
    }
  }
  CHECK(kMay.size() == testing::RandomMessage::kinds);
  CHECK(allowed + refused == 12 * testing::RandomMessage::kinds);
}

}  // namespace starling
