// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/roles.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/fuzz/random_message.h"

namespace starling {
namespace {

bool allowed(Role from, Role to, const Message& m) { return may_send(from, to, m.index()); }

TEST_CASE("roles go by node id") {
  CHECK(role_of(NodeId{0}) == Role::unknown);
  CHECK(role_of(agent_node(AgentId{0})) == Role::agent);
  CHECK(role_of(executor_node(0)) == Role::executor);
  CHECK(role_of(client_node(0)) == Role::client);
}

TEST_CASE("names are those of the kinds") {
  CHECK(kind_name(Message{Hello{}}.index()) == std::string("Hello"));
  CHECK(kind_name(Message{Reserve{}}.index()) == std::string("Reserve"));
  CHECK(kind_name(Message{Launch{}}.index()) == std::string("Launch"));
  CHECK(kind_name(Message{Fenced{}}.index()) == std::string("Fenced"));
  CHECK(kind_name(Message{DrainState{}}.index()) == std::string("DrainState"));
  CHECK(kind_name(999) == std::string("unknown"));
}

TEST_CASE("no node but agents says anything to executors and clients") {
  testing::RandomMessage random{Rng(3)};
  for (std::size_t kind = 0; kind < testing::RandomMessage::kinds; ++kind) {
    for (const Role from : {Role::executor, Role::client, Role::unknown}) {
      for (const Role to : {Role::executor, Role::client, Role::unknown}) {
        CHECK_FALSE(may_send(from, to, kind));
      }
    }
  }
}

TEST_CASE("each role keeps to its part") {
  const auto agent = Role::agent, executor = Role::executor, client = Role::client;
  CHECK(allowed(agent, agent, Commit{}));
  CHECK_FALSE(allowed(executor, agent, Commit{}));
  CHECK_FALSE(allowed(client, agent, Commit{}));
  CHECK_FALSE(allowed(client, agent, Release{}));
  CHECK_FALSE(allowed(client, agent, Exited{}));
  CHECK_FALSE(allowed(client, agent, Digest{}));
  CHECK_FALSE(allowed(executor, agent, Submit{}));
  CHECK_FALSE(allowed(executor, agent, Digest{}));
  CHECK(allowed(agent, agent, Digests{}));
  CHECK_FALSE(allowed(executor, agent, Digests{}));
  CHECK_FALSE(allowed(agent, agent, Launch{}));
  CHECK_FALSE(allowed(agent, agent, Kill{}));
  CHECK_FALSE(allowed(agent, agent, Inventory{}));
  CHECK_FALSE(allowed(agent, agent, StatusQuery{}));
  CHECK(allowed(agent, executor, Launch{}));
  CHECK(allowed(executor, agent, Inventory{}));
  CHECK(allowed(client, agent, Submit{}));
  CHECK(allowed(agent, client, JobState{}));
  CHECK(allowed(agent, agent, ProbeFor{}));
  CHECK_FALSE(allowed(executor, agent, ProbeFor{}));
  CHECK(allowed(client, agent, SetDrain{}));
  CHECK_FALSE(allowed(agent, agent, SetDrain{}));
  CHECK_FALSE(allowed(executor, agent, SetDrain{}));
  CHECK(allowed(executor, agent, GpuHealth{}));
  CHECK_FALSE(allowed(client, agent, GpuHealth{}));
}

TEST_CASE("an owner's words name its partition") {
  const PartitionId p{3};
  CHECK(*speaks_for(Digest{{p, Epoch{1}}, 1}) == p);
  CHECK(*speaks_for(Offer{{}, {p, {}}, 1}) == p);
  CHECK(*speaks_for(Committed{{}, p}) == p);
  CHECK(*speaks_for(Launch{{}, {p, Epoch{1}}, {}, {}, {}, {}}) == p);
  // These name the receiver's partition, not the sender's.
  CHECK(speaks_for(Reserve{{}, {p, Epoch{1}}, {}, 1}) == nullptr);
  CHECK(speaks_for(Release{{}, {p, Epoch{1}}}) == nullptr);
  CHECK(speaks_for(Ping{1}) == nullptr);
  CHECK(speaks_for(Digests{{{Digest{{p, Epoch{1}}, 1}, 0}}}) == nullptr);  // others', too
}

}  // namespace
}  // namespace starling
