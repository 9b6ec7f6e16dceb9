// SPDX-License-Identifier: Apache-2.0
// Keys and members that change while endpoints live.
#include <doctest/doctest.h>

#include "bus/allow_list.h"
#include "bus/test_flock.h"

namespace starling {
namespace {

using testing::SocketFlock;

const NodeId kA = agent_node(AgentId{0});
const NodeId kB = agent_node(AgentId{1});
const std::vector<std::byte> kFrame{std::byte{1}, std::byte{2}};

bool passes(SocketFlock& world, Endpoint& from, Endpoint& to, NodeId to_id, int tries = 100) {
  for (int i = 0; i < tries; ++i) {
    from.send(to_id, kFrame);
    if (world.await(to)) return true;
  }
  return false;
}
void empty(SocketFlock& world, Endpoint& e) {
  while (world.await(e)) {
  }
}

}  // namespace

TEST_CASE("a node gets a new key in three steps, and is heard and reached in between") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  const auto a = world.open(kA), b = world.open(kB);
  const KeyPair old = world.keys[kA], fresh = generate_keys().value();
  REQUIRE(passes(world, *a, *b, kB));
  REQUIRE(passes(world, *b, *a, kA));

  Flock flock = world.flock;  // the new key is let in too
  flock[kA].also = {fresh.public_key};
  REQUIRE(a->renew(flock, old).ok());
  REQUIRE(b->renew(flock, world.keys[kB]).ok());
  CHECK(passes(world, *a, *b, kB));
  CHECK(passes(world, *b, *a, kA));

  flock[kA].public_key = fresh.public_key;  // and used
  flock[kA].also = {old.public_key};
  REQUIRE(a->renew(flock, fresh).ok());
  CHECK(passes(world, *a, *b, kB));  // b goes by the step before
  REQUIRE(b->renew(flock, world.keys[kB]).ok());
  CHECK(passes(world, *b, *a, kA));
  CHECK(passes(world, *a, *b, kB));

  // A connection with the old key, made while it counted.
  const auto thief =
      ZmqEndpoint::open({kA, "ipc://" + (world.folder.path / "thief").string(), old, {}}, flock,
                        world.clock)
          .value();
  empty(world, *b);
  REQUIRE(passes(world, *thief, *b, kB));
  flock[kA].also.clear();  // and the old one is let in no more, not even over that one
  REQUIRE(a->renew(flock, fresh).ok());
  REQUIRE(b->renew(flock, world.keys[kB]).ok());
  empty(world, *b);
  const auto nameless = b->counters().nameless;
  CHECK_FALSE(passes(world, *thief, *b, kB, 20));
  CHECK(b->counters().nameless > nameless);
  CHECK(passes(world, *a, *b, kB));
  CHECK(passes(world, *b, *a, kA));
}

TEST_CASE("a standby seat gets a new key as a node does, while it is the one that serves") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  const KeyPair old = generate_keys().value(), fresh = generate_keys().value();
  world.flock[kA].standby = {{"ipc://" + (world.folder.path / "spare").string(), old.public_key}};
  Flock flock = world.flock;
  const auto b = world.open(kB);
  ZmqOptions options{kA, "", old, {}, 1};
  const auto a = ZmqEndpoint::open(options, flock, world.clock).value();
  b->found_at(kA, 1);
  SeatAddress& seat = flock[kA].standby[0];
  const auto both = [&](const KeyPair& mine) {
    return a->renew(flock, mine).ok() && b->renew(flock, world.keys[kB]).ok() &&
           passes(world, *a, *b, kB) && passes(world, *b, *a, kA);
  };
  CHECK(both(old));
  seat.also = {fresh.public_key};
  CHECK(both(old));
  seat.public_key = fresh.public_key;
  seat.also = {old.public_key};
  CHECK(both(fresh));
  seat.also.clear();
  CHECK(both(fresh));
  CHECK_FALSE(a->renew(flock, old).ok());
}

TEST_CASE("a node that leaves the flock is heard no more, one that joins is") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  const auto a = world.open(kA), b = world.open(kB);
  REQUIRE(passes(world, *b, *a, kA));
  const NodeId third = agent_node(AgentId{2});
  world.add(third);
  const auto c = world.open(third);
  Flock flock = world.flock;
  flock.erase(kB);
  REQUIRE(a->renew(flock, world.keys[kA]).ok());
  empty(world, *a);
  CHECK_FALSE(passes(world, *b, *a, kA, 20));
  CHECK(passes(world, *c, *a, kA));
  CHECK(passes(world, *a, *c, third));
}

TEST_CASE("what is unfit is not taken on, and all stays as it was") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  const auto a = world.open(kA), b = world.open(kB);
  Flock wrong = world.flock;
  wrong.erase(kA);
  CHECK(a->renew(wrong, world.keys[kA]).error().message == "bus: node 1 is not in the flock");
  CHECK(a->renew(world.flock, generate_keys().value()).error().code == Errc::invalid);
  CHECK(a->renew(world.flock, std::nullopt).error().code == Errc::invalid);
  wrong = world.flock;
  wrong[kB].also = {world.keys[kA].public_key};
  CHECK(a->renew(wrong, world.keys[kA]).error().message.find("already another's") !=
        std::string::npos);
  CHECK(passes(world, *b, *a, kA));
}

TEST_CASE("users of the allow-list name a place and a key, and both must still hold") {
  SocketFlock world(true);
  world.add(kA);
  const std::string further = generate_keys().value().public_key;
  world.flock[kA].standby = {{"ipc:///s", generate_keys().value().public_key, {further}}};
  world.flock[kA].also = {generate_keys().value().public_key};
  const auto list = allow_list(world.flock);
  CHECK(list.size() == 4);
  CHECK(place_of_user("1/1#" + further, world.flock)->seat == 1);
  for (const auto& [raw, user] : list) {
    CHECK(raw.size() == 32);
    CHECK(place_of_user(user, world.flock)->node == kA);
  }
  const std::string key = world.flock[kA].public_key;
  CHECK(place_of_user("1#" + key, world.flock)->seat == 0);
  CHECK_FALSE(place_of_user("1/1#" + key, world.flock));
  CHECK_FALSE(place_of_user("2#" + key, world.flock));
  CHECK_FALSE(place_of_user("1", world.flock));
  CHECK_FALSE(place_of_user("1/9#" + key, world.flock));
}

TEST_CASE("further keys survive the flock's file") {
  SocketFlock world(true);
  world.add(kA);
  world.flock[kA].also = {generate_keys().value().public_key};
  world.flock[kA].standby = {
      {"ipc:///s", generate_keys().value().public_key, {generate_keys().value().public_key}}};
  const auto file = world.folder.path / "flock.json";
  REQUIRE(write_flock(file, world.flock).ok());
  CHECK(read_flock(file).value() == world.flock);
}

}  // namespace starling
