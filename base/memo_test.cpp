// SPDX-License-Identifier: Apache-2.0
#include "base/memo.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

TEST_CASE("what is asked again is not looked for again, until there is too much of it") {
  Memo<int, int, 3> memo;
  int searches = 0;
  const auto ask = [&](int question) {
    return memo.of(question, [&] { return ++searches, question * 10; });
  };
  for (const int question : {1, 2, 1, 3, 2, 3}) CHECK(ask(question) == question * 10);
  CHECK(searches == 3);
  CHECK(memo.size() == 3);
  CHECK(ask(4) == 40);
  CHECK(memo.size() == 1);
  CHECK(ask(1) == 10);
  CHECK(searches == 5);
}

TEST_CASE("there is never more in it than it may keep") {
  Memo<int, int, 8> memo;
  for (int question = 0; question < 100; ++question) {
    CHECK(memo.of(question % 17, [&] { return question % 17; }) == question % 17);
    CHECK(memo.size() <= 8);
  }
}

}  // namespace
}  // namespace starling
