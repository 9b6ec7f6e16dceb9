// SPDX-License-Identifier: Apache-2.0
// Who gets what there is: the rules of share_out.h, as the keeper goes by them.
#include <doctest/doctest.h>

#include "agents/quota/kept_queues_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("queues below their guarantee come first, then those that have least for their weight") {
  KeptQueues k({row_of("a", 6), row_of("b", 0, kFree, 3), row_of("c")});
  k.ask(0, {want_of("a", 0, 99), want_of("b", 0, 99), want_of("c", 0, 99)});
  (void)k.share();
  CHECK(k.may(0, "a") == 6);
  CHECK(k.may(0, "b") == 10);
  CHECK(k.may(0, "c") == 4);
}

TEST_CASE("shares are those of a level: a team with many queues has no more than one with one") {
  KeptQueues k({row_of("a"), row_of("a/1"), row_of("a/2"), row_of("a/3"), row_of("b")});
  k.ask(0, {want_of("a/1", 0, 99), want_of("a/2", 0, 99), want_of("a/3", 0, 99)});
  k.ask(1, {want_of("b", 0, 99)});
  (void)k.share();
  CHECK(k.may(1, "b") == 10);
}

TEST_CASE("what a queue has had lately counts against it") {
  KeptQueues k({row_of("a"), row_of("b")});
  k.ask(0, {want_of("a", 20, 0)});
  (void)k.share();
  k.now += 6h;
  k.ask(0, {want_of("a", 0, 99)});
  k.ask(1, {want_of("b", 0, 99)});
  (void)k.share();
  CHECK(k.may(1, "b") > k.may(0, "a"));
}

TEST_CASE("what is lent leaves the guarantees of others that are wanted, and not idle ones") {
  KeptQueues k({row_of("a", 8), row_of("b")});
  k.ask(0, {want_of("b", 14, 99)});
  (void)k.share();
  CHECK(k.may(0, "b") == 20);
  k.ask(0, {want_of("b", 14, 99)});
  k.ask(1, {want_of("a", 0, 8, 8)});
  (void)k.share();
  CHECK(k.may(0, "b") == 14);
  CHECK(k.may(1, "a") == 0);
  k.ask(0, {want_of("b", 12, 99)});
  (void)k.share();
  CHECK(k.may(1, "a") == 8);
}

TEST_CASE("guarantees in which no job fits keep nothing from others") {
  KeptQueues k({row_of("t", 0, 8), row_of("t/a", 3), row_of("t/b", 2)});
  k.ask(0, {want_of("t/a", 0, 7, 7)});
  k.ask(1, {want_of("t/b", 0, 7, 7)});
  (void)k.share();
  CHECK(k.may(0, "t/a") + k.may(1, "t/b") == 7);
}

TEST_CASE("in a queue the home whose first job is most urgent comes first, then the longest wait") {
  KeptQueues k({row_of("a", 0, 4)}, 3);
  k.ask(0, {want_of("a", 0, 4, 4, 0, 9s)});
  k.ask(1, {want_of("a", 0, 4, 4, 5, 1s)});
  k.ask(2, {want_of("a", 0, 4, 4, 5, 2s)});
  (void)k.share();
  CHECK(k.may(2, "a") == 4);
  k.ask(2, {});
  (void)k.share();
  CHECK(k.may(1, "a") == 4);
  CHECK(k.may(0, "a") == 0);
  CHECK(k.row(0, "a").bound == "a");
}

TEST_CASE("less than the first job needs is of no use, and goes to another") {
  KeptQueues k({row_of("a", 0, 10)});
  k.ask(0, {want_of("a", 4, 8, 8)});
  k.ask(1, {want_of("a", 0, 3, 2)});
  (void)k.share();
  CHECK(k.may(0, "a") == 4);
  CHECK(k.may(1, "a") == 3);
}

TEST_CASE("a large job that has waited for long gets what comes free") {
  KeptQueues k({row_of("a", 0, 8)});
  k.ask(0, {want_of("a", 0, 8, 8, 0, kQuotaPatience)});
  k.ask(1, {want_of("a", 4, 4, 1)});
  (void)k.share();
  CHECK(k.may(1, "a") == 4);
  k.ask(1, {want_of("a", 0, 4, 1)});
  (void)k.share();
  CHECK(k.may(0, "a") == 8);
  CHECK(k.may(1, "a") == 0);
}

}  // namespace
}  // namespace starling
