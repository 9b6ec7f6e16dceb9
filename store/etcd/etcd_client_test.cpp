// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_client.h"

#include <sys/resource.h>

#include "store/etcd/test_etcd.h"

using namespace starling;
using std::chrono::milliseconds;

TEST_CASE("an etcd address says what it wants") {
  const auto address = EtcdAddress::parse("etcd://10.0.0.1:2379,db.example:80/blue-1");
  REQUIRE(address.ok());
  REQUIRE(address.value().members.size() == 2);
  CHECK(address.value().members[1].first == "db.example");
  CHECK(address.value().members[1].second == "80");
  CHECK(address.value().name == "blue-1");
  CHECK(address.value().url() == "etcd://10.0.0.1:2379,db.example:80/blue-1");
  CHECK(EtcdAddress::parse("etcd://a:1").value().url() == "etcd://a:1");
  for (const char* wrong :
       {"", "etcd://", "http://a:1", "etcd://a", "etcd://a:0", "etcd://a:65536", "etcd://a:1,",
        "etcd://:1", "etcd://a:1/", "etcd://a:1/b/c", "etcd://a:x"}) {
    const auto refused = EtcdAddress::parse(wrong);
    REQUIRE_FALSE_MESSAGE(refused.ok(), wrong);
    CHECK(refused.error().code == Errc::invalid);
    CHECK(refused.error().message.find("etcd://HOST:PORT") != std::string::npos);
  }
}

TEST_CASE("no member there: an error that names every member, in time") {
  EtcdAddress nobody;
  nobody.members = {{"127.0.0.1", "1"}, {"127.0.0.1", "2"}};
  EtcdClient client(nobody, {milliseconds(300), milliseconds(100)});
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = client.grant(std::chrono::seconds(5));
  CHECK(std::chrono::steady_clock::now() - begin < milliseconds(600));
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().code == Errc::io);
  CHECK(answer.error().message.find("127.0.0.1:1: cannot connect") != std::string::npos);
  CHECK(answer.error().message.find("127.0.0.1:2: cannot connect") != std::string::npos);
}

TEST_CASE("keys, transactions and pages in a real etcd") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  EtcdClient client(etcd->flock("client"));
  const std::string a = "/starling/client/a", odd("\0\xff\n", 3);

  auto made = client.txn({{EtcdCompare::revision_is(a, 0)}, {EtcdOp::put(a, odd)}, {}});
  REQUIRE(made.ok());
  CHECK(made.value().held);
  const auto again =
      client.txn({{EtcdCompare::revision_is(a, 0)}, {EtcdOp::put(a, "x")}, {EtcdOp::get(a)}});
  REQUIRE(again.ok());
  CHECK_FALSE(again.value().held);
  REQUIRE(again.value().found.size() == 1);
  REQUIRE(again.value().found[0].size() == 1);
  CHECK(again.value().found[0][0].value == odd);
  CHECK(again.value().found[0][0].revision == made.value().revision);

  const auto by_value = client.txn(
      {{EtcdCompare::value_is(a, odd), EtcdCompare::revision_is(a, made.value().revision)},
       {EtcdOp::erase(a)},
       {}});
  CHECK(by_value.value().held);

  EtcdTxn many;
  for (int i = 0; i < 10; ++i)
    many.then.push_back(EtcdOp::put("/starling/client/n" + std::to_string(i), ""));
  REQUIRE(client.txn(many).ok());
  const std::string first = "/starling/client/n";
  const auto page = client.range(first, behind(first), 4);
  REQUIRE(page.ok());
  CHECK(page.value().entries.size() == 4);
  CHECK(page.value().more);
  REQUIRE(client.erase_prefix("/starling/client/").value() == 10);
  INFO("a page as of an earlier revision does not see what came later");
  CHECK(client.range(first, behind(first), 100, page.value().revision).value().entries.size() ==
        10);
  CHECK(client.range(first, behind(first), 100).value().entries.empty());
}

TEST_CASE("leases: kept alive, revoked, gone with their keys") {
  TestEtcd* const etcd = TestEtcd::get();
  if (etcd == nullptr) return;
  EtcdClient client(etcd->flock("leases"));
  const auto lease = client.grant(std::chrono::seconds(5));
  REQUIRE(lease.ok());
  CHECK(lease.value().ttl >= std::chrono::seconds(5));
  const std::string key = "/starling/leases/alive";
  REQUIRE(client.txn({{}, {EtcdOp::put(key, "me", lease.value().id)}, {}}).ok());
  CHECK(client.range(key, behind(key), 1).value().entries.at(0).lease == lease.value().id);
  CHECK(client.keep_alive(lease.value().id).value() > std::chrono::seconds(0));
  CHECK(client.revoke(lease.value().id).ok());
  CHECK(client.revoke(lease.value().id).ok());
  CHECK(client.keep_alive(lease.value().id).value() == std::chrono::seconds(0));
  CHECK(client.range(key, behind(key), 1).value().entries.empty());
  const auto late = client.txn({{}, {EtcdOp::put(key, "me", lease.value().id)}, {}});
  REQUIRE_FALSE(late.ok());
  CHECK(late.error().code == Errc::not_found);
}

TEST_CASE("a process that may open no more files is told so, and goes on when it may") {
#ifdef __SANITIZE_ADDRESS__
  MESSAGE("skipped: the sanitizer looks at memory through a pipe, and here there is no descriptor");
  return;
#endif
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 3;
  EtcdAddress nobody;
  nobody.members.emplace_back("127.0.0.1", "1");
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  EtcdClient client(nobody, {milliseconds(200), milliseconds(100)});
  const auto refused = client.range("/", "0", 1);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("Too many open files") != std::string::npos);
  const auto again = client.range("/", "0", 1);
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().message.find("Too many open files") == std::string::npos);
}
