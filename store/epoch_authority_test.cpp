// SPDX-License-Identifier: Apache-2.0
#include "store/epoch_battery.h"
#include "store/etcd/test_etcd.h"
#include "store/static_authority.h"

namespace starling {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("the static authority passes the battery") {
  epoch_battery([] { return std::make_unique<StaticAuthority>(); });
}

TEST_CASE("the authority in etcd passes the battery") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  epoch_battery([&] { return std::make_unique<EtcdAuthority>(etcd->flock("battery")); });
}

TEST_CASE(
    "a lease that lapses: told in time, had again at the same epoch, or taken over for good") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("takeover");
  EtcdAuthorityOptions options;
  options.ttl = seconds(2);
  EtcdAuthority first(flock, options);
  EtcdAuthority second(flock, options);
  const PartitionId p{0};
  first.acquire(p, Epoch{}, AgentId{0});
  const Ownership old = expect_event<EpochGranted>(first).mine;

  INFO("while it is renewed no other agent gets it, however long that is");
  for (int i = 0; i < 5; ++i) {
    first.renew(old);
    second.acquire(p, old.epoch, AgentId{1});
    CHECK(expect_event<EpochRefused>(second).why.code == Errc::conflict);
    std::this_thread::sleep_for(milliseconds(450));
  }
  CHECK(first.poll().empty());

  INFO("not renewed: told before etcd lets go, and had again where no other agent wants it");
  const auto lapse = expect_event<EpochLost>(first);
  CHECK(lapse.mine == old);
  CHECK(lapse.current == old);
  CHECK(first.holds_for(old) <= Duration{0});
  std::this_thread::sleep_for(seconds(1));
  first.renew(old);
  CHECK(expect_event<EpochGranted>(first).mine == old);
  CHECK(first.holds_for(old) > seconds(1));
  CHECK(first.holds_for(old) < milliseconds(1800));

  INFO("not renewed again: another takes over, at a higher epoch");
  const auto taken = await_epoch(second, p, AgentId{1}, [](const EpochRefused&) { return true; });
  REQUIRE(taken.ok());
  CHECK(taken.value().epoch > old.epoch);
  CHECK(taken.value().owner == AgentId{1});
  for (const EpochEvent& event : first.poll()) CHECK(std::get<EpochLost>(event).current == old);
  first.renew(old);
  const auto lost = expect_event<EpochLost>(first);
  CHECK(lost.mine == old);
  CHECK(lost.current == taken.value());
  CHECK(first.holds_for(old) <= Duration{0});
}

TEST_CASE("many want a partition at once: one gets each epoch") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  std::vector<std::unique_ptr<EtcdAuthority>> rivals;
  for (int i = 0; i < 6; ++i)
    rivals.push_back(std::make_unique<EtcdAuthority>(etcd->flock("rivals")));
  for (std::size_t i = 0; i < rivals.size(); ++i)
    rivals[i]->acquire(PartitionId{0}, Epoch{}, AgentId{static_cast<std::uint32_t>(i)});
  int granted = 0;
  for (auto& rival : rivals) {
    const auto events = events_within(*rival, seconds(10));
    REQUIRE(events.size() == 1);
    if (std::holds_alternative<EpochGranted>(events.front())) ++granted;
  }
  CHECK(granted == 1);
}

TEST_CASE("one holder's next life takes over at once, a released partition is any agent's") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  const EtcdAddress flock = etcd->flock("holder");
  const auto begin = std::chrono::steady_clock::now();
  const Ownership one = next_epoch(flock, "disk-1");
  const Ownership two = next_epoch(flock, "disk-1");
  CHECK(two.epoch > one.epoch);
  {
    EtcdAuthorityOptions options;
    options.holder = "disk-1";
    EtcdAuthority last(flock, options);
    last.acquire(PartitionId{0}, two.epoch, AgentId{0});
    last.release(expect_event<EpochGranted>(last).mine);
  }
  CHECK(next_epoch(flock, "disk-2").epoch > two.epoch);
  CHECK(std::chrono::steady_clock::now() - begin < seconds(4));
}

TEST_CASE("no etcd: the refusal says so") {
  EtcdAddress nobody;
  nobody.members = {{"127.0.0.1", "1"}};
  nobody.name = "none";
  EtcdAuthorityOptions options;
  options.calls = {milliseconds(200), milliseconds(100)};
  EtcdAuthority authority(nobody, options);
  authority.acquire(PartitionId{0}, Epoch{}, AgentId{0});
  const auto refused = expect_event<EpochRefused>(authority);
  CHECK(refused.why.code == Errc::io);
  CHECK(refused.why.message.find("127.0.0.1:1") != std::string::npos);
}

}  // namespace
}  // namespace starling
