// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/deployment.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "base/test_folder.h"
#include "bus/flock.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/deployment/state_dir.h"
#include "topology/generate/generate.h"

using namespace starling;

namespace {

Topology sixteen_servers() {
  GeneratorOptions shape;
  shape.servers = 16;
  return generate_leaf_spine(shape).value();
}

}  // namespace

TEST_CASE("executors cover every server once and never cross a partition") {
  const auto nodes = executor_nodes(sixteen_servers(), 3, 4).value();
  std::uint32_t next = 0;
  for (const DeployedNode& node : nodes) {
    CHECK(node.servers.first == next);
    CHECK(node.servers.size() <= 4);
    next = node.servers.last;
  }
  CHECK(next == 16);
  CHECK(nodes.front().partition == PartitionId{0});
  CHECK(nodes.back().partition == PartitionId{2});
}

TEST_CASE("what is deployed reads back, with secrets for their owner alone") {
  const TestFolder folder("deployment");
  DeploymentPlan plan;
  plan.dir = folder.path / "flock";
  plan.agents = 2;
  plan.policy = "consolidate";
  plan.speedup = 12.5;
  REQUIRE(create_deployment(plan, sixteen_servers()).ok());
  const Deployment d = read_deployment(plan.dir).value();
  CHECK(d.policy == "consolidate");
  CHECK(d.speedup == 12.5);
  CHECK(d.agents() == 2);
  CHECK(d.with_role(Role::executor).size() == 2);
  CHECK(d.with_role(Role::client).size() == plan.clients);
  CHECK(d.state.empty());
  Deployment elsewhere = d;
  elsewhere.state = "etcd://127.0.0.1:2379/blue";
  REQUIRE(write_deployment(elsewhere).ok());
  CHECK(read_deployment(plan.dir).value().state == elsewhere.state);
  CHECK_FALSE(d.for_chaos);
  elsewhere.for_chaos = true;
  REQUIRE(write_deployment(elsewhere).ok());
  CHECK(read_deployment(plan.dir).value().for_chaos);
  const Flock members = read_flock(plan.dir / "flock.json").value();
  CHECK(members.size() == d.nodes.size());
  std::set<std::string> keys;
  for (const auto& [id, member] : members) keys.insert(member.public_key);
  CHECK(keys.size() == members.size());
  struct stat info {};
  REQUIRE(stat((d.node_dir("agent-0") / "keys.json").c_str(), &info) == 0);
  CHECK((info.st_mode & 0077) == 0);
}

TEST_CASE("a flock is changed by no other user, whatever umask its maker has") {
  const TestFolder folder("deployment");
  DeploymentPlan plan;
  plan.dir = folder.path / "flock";
  const mode_t before = ::umask(0);
  const bool made = create_deployment(plan, sixteen_servers()).ok();
  CHECK(::umask(before) == 0);
  REQUIRE(made);
  int looked_at = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(plan.dir)) {
    CAPTURE(entry.path());
    struct stat info {};
    REQUIRE(::lstat(entry.path().c_str(), &info) == 0);
    CHECK((info.st_mode & 022) == 0);
    ++looked_at;
  }
  CHECK(looked_at > 10);
}

TEST_CASE("standby seats belong to the next agents in the circle") {
  CHECK(host_of_seat(PartitionId{1}, 0, 3) == AgentId{1});
  CHECK(host_of_seat(PartitionId{1}, 1, 3) == AgentId{2});
  CHECK(host_of_seat(PartitionId{1}, 2, 3) == AgentId{0});
  // No agent stands in for one whose journal is on its own disk.
  const TestFolder folder("deployment");
  DeploymentPlan plan;
  plan.dir = folder.path / "flock";
  plan.agents = 2;
  plan.standbys = 3;
  REQUIRE(create_deployment(plan, sixteen_servers()).ok());
  const Flock members = read_flock(plan.dir / "flock.json").value();
  for (const auto& [id, member] : members) CHECK(member.seats() == 1);
}

TEST_CASE("a flock is not made for an etcd that is not there, or badly named") {
  const TestFolder folder("deployment");
  DeploymentPlan plan;
  plan.dir = folder.path / "flock";
  plan.state = "etcd://nowhere";
  CHECK(create_deployment(plan, sixteen_servers()).error().code == Errc::invalid);
  plan.state = "etcd://127.0.0.1:1";
  const auto made = create_deployment(plan, sixteen_servers());
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == Errc::io);
  CHECK(made.error().message.find("--state: etcd has not answered") == 0);
  CHECK_FALSE(is_deployment(plan.dir));
}

TEST_CASE("a broken deployment names the file") {
  const TestFolder folder("deployment");
  CHECK(read_deployment(folder.path).error().code == Errc::not_found);
  std::ofstream(folder.path / "deployment.json") << "{\"topology\": 3}";
  const auto read = read_deployment(folder.path);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message.find("deployment.json") != std::string::npos);
}

TEST_CASE("a state directory has one user, and no two lives are the same") {
  const TestFolder folder("deployment");
  auto first = StateDir::take(folder.path / "state");
  REQUIRE(first.ok());
  CHECK(StateDir::take(folder.path / "state").error().code == Errc::conflict);
  CHECK(first.value().next_incarnation().value() == Incarnation{1});
  CHECK(first.value().next_incarnation().value() == Incarnation{2});
  const std::string name = first.value().name().value();
  CHECK(name.size() == 32);
  CHECK(first.value().name().value() == name);
  CHECK(StateDir::take(folder.path / "other").value().name().value() != name);
  // Without its counter the journal's lives still count.
  std::filesystem::remove(folder.path / "state" / "incarnation");
  const Incarnation again = first.value().next_incarnation().value();
  const std::vector<Record> journal = {LifeBegan{Incarnation{2}, Epoch{1}}};
  CHECK(after_last_life(again, journal) == Incarnation{3});
  CHECK(after_last_life(Incarnation{7}, journal) == Incarnation{7});
}
