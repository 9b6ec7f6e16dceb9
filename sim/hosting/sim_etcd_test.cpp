// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/sim_etcd.h"

#include <doctest/doctest.h>

#include <chrono>

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("transactions, revisions and earlier ones, as etcd has them") {
  SimEtcd etcd([] { return Instant{}; });
  const auto made = etcd.txn(
      {{EtcdCompare::revision_is("/a", 0)}, {EtcdOp::put("/a", "1"), EtcdOp::put("/b", "2")}, {}});
  REQUIRE(made.value().held);
  const std::int64_t first = made.value().revision;
  CHECK(etcd.revision_of("/a") == first);
  CHECK(etcd.revision_of("/b") == first);
  const auto again = etcd.txn(
      {{EtcdCompare::revision_is("/a", 0)}, {EtcdOp::put("/a", "x")}, {EtcdOp::get("/a")}});
  CHECK_FALSE(again.value().held);
  CHECK(again.value().revision == first);
  REQUIRE(again.value().found.size() == 1);
  CHECK(again.value().found[0].front().value == "1");
  REQUIRE(etcd.txn({{EtcdCompare::value_is("/b", "2")}, {EtcdOp::erase_range("/a", "/b")}, {}})
              .value()
              .held);
  CHECK(etcd.revision_of("/a") == 0);
  const auto page = etcd.range("/", "0", 1, first).value();
  CHECK(page.more);
  REQUIRE(page.entries.size() == 1);
  CHECK(page.entries[0].key == "/a");
  CHECK(etcd.range("/", "0", 10, 0).value().entries.size() == 1);
}

TEST_CASE("a key lives with its lease, and a new leader gives leases their whole time") {
  Instant now{};
  SimEtcd etcd([&] { return now; });
  const std::int64_t lease = etcd.grant(5s).value().id;
  REQUIRE(etcd.txn({{}, {EtcdOp::put("/alive", "me", lease)}, {}}).ok());
  const std::int64_t before = etcd.revision_of("/alive");
  now += 4s;
  CHECK(etcd.keep_alive(lease).value() == 5s);
  now += 4s;
  CHECK(etcd.revision_of("/alive") == before);
  etcd.new_leader();
  now += 4s;
  CHECK(etcd.revision_of("/alive") == before);
  now += 1s;
  CHECK(etcd.revision_of("/alive") == 0);
  CHECK(etcd.keep_alive(lease).value() == 0s);
  CHECK(etcd.txn({{}, {EtcdOp::put("/alive", "me", lease)}, {}}).error().code == Errc::not_found);

  INFO("a put without the lease takes the key off it; revoking removes the rest");
  const std::int64_t other = etcd.grant(5s).value().id;
  REQUIRE(etcd.txn({{}, {EtcdOp::put("/x", "1", other), EtcdOp::put("/y", "1", other)}, {}}).ok());
  REQUIRE(etcd.txn({{}, {EtcdOp::put("/x", "2")}, {}}).ok());
  REQUIRE(etcd.revoke(other).ok());
  CHECK(etcd.revision_of("/x") != 0);
  CHECK(etcd.revision_of("/y") == 0);
}

}  // namespace
}  // namespace starling
