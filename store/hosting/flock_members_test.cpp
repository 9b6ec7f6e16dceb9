// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/flock_members.h"

#include <algorithm>
#include <vector>

#include "store/etcd/test_etcd.h"

using namespace starling;

namespace {

using Hosts = std::set<AgentId>;

bool serves_all(PartitionId, AgentId) { return true; }

std::vector<std::uint32_t> where(const FlockMembers& m, std::uint32_t partitions) {
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t p = 0; p < partitions; ++p) hosts.push_back(m.host_of(PartitionId{p}).value);
  return hosts;
}
std::uint32_t moves(const FlockMembers& a, const FlockMembers& b, std::uint32_t partitions) {
  std::uint32_t n = 0;
  for (std::uint32_t p = 0; p < partitions; ++p)
    n += a.host_of(PartitionId{p}) == b.host_of(PartitionId{p}) ? 0 : 1;
  return n;
}

}  // namespace

TEST_CASE("without a word every agent serves its own partition") {
  const FlockMembers none;
  CHECK(none.is_host(AgentId{17}));
  CHECK(none.host_of(PartitionId{3}) == AgentId{3});
}

TEST_CASE("a new host gets its own partition, one that leaves gives its own to the others") {
  const FlockMembers three = balanced({}, Hosts{AgentId{0}, AgentId{1}, AgentId{2}}, 4, serves_all);
  CHECK(where(three, 4) == std::vector<std::uint32_t>{0, 1, 2, 0});
  const FlockMembers four =
      balanced(three, Hosts{AgentId{0}, AgentId{1}, AgentId{2}, AgentId{3}}, 4, serves_all);
  CHECK(where(four, 4) == std::vector<std::uint32_t>{0, 1, 2, 3});
  const FlockMembers left =
      balanced(four, Hosts{AgentId{0}, AgentId{2}, AgentId{3}}, 4, serves_all);
  CHECK(where(left, 4) == std::vector<std::uint32_t>{0, 0, 2, 3});
  CHECK(where(balanced(left, left.hosts, 4, serves_all), 4) == where(left, 4));
}

TEST_CASE("numbers are even and moves are few, whatever comes and goes") {
  FlockMembers now;
  Hosts hosts{AgentId{0}};
  now = balanced(now, hosts, 16, serves_all);
  for (const std::uint32_t add : {4U, 8U, 12U, 1U, 15U}) {
    const std::uint32_t share = 16 / (static_cast<std::uint32_t>(hosts.size()) + 1);
    hosts.insert(AgentId{add});
    const FlockMembers next = balanced(now, hosts, 16, serves_all);
    CHECK(moves(now, next, 16) == share);
    now = next;
  }
  for (const std::uint32_t gone : {8U, 0U, 15U}) {
    std::map<AgentId, std::uint32_t> has;
    for (const std::uint32_t h : where(now, 16)) ++has[AgentId{h}];
    hosts.erase(AgentId{gone});
    const FlockMembers next = balanced(now, hosts, 16, serves_all);
    CHECK(moves(now, next, 16) == has[AgentId{gone}]);
    has.clear();
    for (const std::uint32_t h : where(next, 16)) ++has[AgentId{h}];
    const auto [least, most] = std::minmax_element(
        has.begin(), has.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    CHECK(most->second - least->second <= 1);
    now = next;
  }
}

TEST_CASE("no agent is given what it cannot serve") {
  const auto neighbours = [](PartitionId p, AgentId h) {
    return h.value == p.value || h.value == (p.value + 1) % 4;
  };
  const FlockMembers two = balanced({}, Hosts{AgentId{0}, AgentId{1}}, 4, neighbours);
  CHECK(two.host_of(PartitionId{3}) == AgentId{0});
  CHECK(two.host_of(PartitionId{2}) == AgentId{2});  // none can
}

TEST_CASE("members are read as they were written") {
  const FlockMembers m = balanced({}, Hosts{AgentId{1}, AgentId{3}}, 5, serves_all);
  const auto read = parse_members(to_text(m));
  REQUIRE(read.ok());
  CHECK(read.value().hosts == m.hosts);
  CHECK(read.value().preferred == m.preferred);
  CHECK(parse_members("").value().hosts.empty());
  CHECK(parse_members("hosts 1\npartition x at 2\n").error().message ==
        "members: line 2: 'partition x at 2' is neither 'hosts N...' nor 'partition N at N'");
}

TEST_CASE("of two that change the members at once one is told to look again") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("members");
  EtcdClient client(flock);
  const FlockMembers none = read_members(client, flock).value();
  CHECK(none.revision == 0);
  const FlockMembers one = balanced(none, Hosts{AgentId{0}}, 2, serves_all);
  REQUIRE(write_members(client, flock, one).ok());
  CHECK(write_members(client, flock, one).ok());  // a repeat
  const FlockMembers other = balanced(none, Hosts{AgentId{1}}, 2, serves_all);
  CHECK(write_members(client, flock, other).error().code == Errc::conflict);
  const FlockMembers read = read_members(client, flock).value();
  CHECK(read.hosts == one.hosts);
  CHECK(read.revision > 0);
  CHECK(write_members(client, flock, balanced(read, Hosts{AgentId{1}}, 2, serves_all)).ok());
}
