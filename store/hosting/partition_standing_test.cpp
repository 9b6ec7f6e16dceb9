// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/partition_standing.h"

#include "base/machine_clock.h"
#include "store/epoch_battery.h"
#include "store/etcd/test_etcd.h"

using namespace starling;

TEST_CASE("an agent that may take over sees owner, lease and request of several partitions") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("standing");
  EtcdClient client(flock);
  const std::vector<PartitionId> both = {PartitionId{0}, PartitionId{7}};
  const auto look = [&] { return look_at_partitions(client, flock, both).value().partitions; };

  INFO("no agent ever owned them");
  for (const PartitionStanding& s : look()) {
    CHECK(s.current.epoch == Epoch{});
    CHECK(s.holder.empty());
    CHECK_FALSE(s.wanted);
  }

  INFO("one is served by agent 3");
  EtcdAuthorityOptions options;
  options.holder = "disk-3";
  EtcdAuthority authority(flock, options);
  authority.acquire(PartitionId{7}, Epoch{}, AgentId{3});
  const Ownership mine = expect_event<EpochGranted>(authority).mine;
  auto seen = look();
  CHECK(seen[0].current.epoch == Epoch{});
  CHECK(seen[1].current == mine);
  CHECK(seen[1].holder == "disk-3");

  INFO("its own host wants it back, and then no longer");
  {
    const MachineClock clock;
    HandBackRequest request(std::make_unique<EtcdClient>(flock), flock, PartitionId{7}, AgentId{4},
                            clock);
    CHECK_FALSE(look()[1].wanted);
    request.keep();
    request.keep();
    CHECK(look()[1].wanted == AgentId{4});
    CHECK_FALSE(look()[0].wanted);
  }
  CHECK_FALSE(look()[1].wanted);

  INFO("released: the epoch stays, the lease is gone");
  authority.release(mine);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  do seen = look();
  while (!seen[1].holder.empty() && std::chrono::steady_clock::now() < until);
  CHECK(seen[1].holder.empty());
  CHECK(seen[1].current == mine);
}
