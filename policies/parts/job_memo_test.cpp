// SPDX-License-Identifier: Apache-2.0
#include "policies/parts/job_memo.h"

#include <doctest/doctest.h>

#include "base/rng.h"

namespace starling {
namespace {

TEST_CASE("a table of jobs remembers those that each call shows, and tells which have gone") {
  Rng rng(3);
  JobMemo<int, int> table;
  std::map<int, int> expected;
  table.add(-1) = 7;  // known before any call, and never shown
  expected[-1] = 7;
  std::vector<int> list;
  for (int call = 0, next = 0; call < 300; ++call) {
    while (rng.chance(0.7)) list.push_back(next++);
    for (int go = static_cast<int>(rng.below(9)); go > 4 && !list.empty(); --go)
      list.erase(list.begin() + rng.below(static_cast<std::uint32_t>(list.size())));
    if (rng.chance(0.2) && !list.empty())  // one goes to the end, as jobs that start
      std::rotate(list.begin(), list.begin() + 1, list.end());
    table.begin();
    for (const int key : list) {
      const auto look = table.see(key);
      CHECK(look.fresh == !expected.contains(key));
      CHECK(look.value == expected[key]);
      look.value = expected[key] = call;
    }
    std::map<int, int> gone;
    table.end([&](int key, int value) { gone[key] = value; });
    for (auto at = expected.begin(); at != expected.end();) {
      const bool stays = std::ranges::find(list, at->first) != list.end();
      CHECK(gone.contains(at->first) == !stays);
      if (!stays) CHECK(gone[at->first] == at->second);
      at = stays ? std::next(at) : expected.erase(at);
    }
    CHECK(gone.size() <= 10);
    for (const auto& [key, value] : expected) CHECK(table.at(key) == value);
  }
}

}  // namespace
}  // namespace starling
