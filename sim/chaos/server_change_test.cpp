// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/server_change.h"

#include <doctest/doctest.h>

#include "topology/compare.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

TEST_CASE("servers come at either end of an executor's, leave, and get other GPUs") {
  const Topology now =
      generate_leaf_spine({.servers = 4, .gpus_per_server = 4, .servers_per_rack = 2}).value();
  const std::vector<IndexRange> executors = {{0, 1}, {1, 2}, {2, 4}};
  ServerChange change;
  change.come = {{"front", 1, true, 2}, {"back", 2, false, 8}};
  change.leave = {now.server(ServerId{0}).name};
  change.gpus = {{now.server(ServerId{3}).name, 1}};
  const NextServers next = next_servers(now, executors, change);
  CHECK(next.executors == std::vector<IndexRange>{{0, 0}, {0, 2}, {2, 5}});
  REQUIRE(next.topology.server_count() == 5);
  CHECK(next.topology.server(ServerId{0}).name == "front");
  CHECK(next.topology.server(ServerId{1}).name == now.server(ServerId{1}).name);
  CHECK(next.topology.server(ServerId{3}).gpus.size() == 1);
  CHECK(next.topology.server(ServerId{4}).name == "back");
  CHECK(next.topology.rack_of(ServerId{0}) == next.topology.rack_of(ServerId{1}));
  CHECK(next.topology.rack_of(ServerId{3}) == next.topology.rack_of(ServerId{4}));
  const Renumbering numbers = renumbering(now, next.topology).value();
  CHECK(numbers.servers == std::vector<std::uint32_t>{Renumbering::kGone, 1, 2, 3});
  CHECK(numbers.cleared_servers == std::vector<bool>{true, false, false, true});
}

TEST_CASE("no change leaves the data centre as it is") {
  const Topology now = generate_leaf_spine({.servers = 6, .servers_per_rack = 3}).value();
  const std::vector<IndexRange> executors = {{0, 3}, {3, 6}};
  const NextServers next = next_servers(now, executors, {});
  CHECK(next.topology == now);
  CHECK(next.executors == executors);
}

}  // namespace
}  // namespace starling
