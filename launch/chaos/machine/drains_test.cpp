// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/drains.h"

#include <doctest/doctest.h>

#include <vector>

using namespace starling;
using namespace starling::chaos_live;

namespace {

constexpr ServerId kServer{3};
constexpr AgentId kOwner{1};

std::vector<SetDrain> said(const Drains& drains, bool speaks = true) {
  std::vector<SetDrain> all;
  drains.say([&](AgentId) { return speaks; },
             [&](AgentId to, const SetDrain& word) {
               CHECK(to == kOwner);
               all.push_back(word);
             });
  return all;
}

}  // namespace

TEST_CASE("a drain is said until its owner has confirmed it") {
  Drains drains;
  CHECK(drains.confirmed());
  drains.want(kServer, kOwner, true, true);
  CHECK(said(drains, false).empty());
  REQUIRE(said(drains).size() == 1);
  const SetDrain word = said(drains).front();
  CHECK(word.drained);
  CHECK(word.evict);
  drains.hear({kServer, true, 0, Refusal::unknown, word.version});
  CHECK(drains.confirmed());
  CHECK(said(drains).empty());
}

TEST_CASE("a version that was used is left behind, and a late answer confirms nothing") {
  Drains drains;
  drains.want(kServer, kOwner, true, false);
  drains.hear({kServer, false, 0, Refusal::expired, 9});
  REQUIRE(said(drains).size() == 1);
  CHECK(said(drains).front().version == 10);
  drains.want(kServer, kOwner, false, false);
  drains.hear({kServer, true, 0, Refusal::unknown, 10});
  CHECK(!drains.confirmed());
  drains.hear({kServer, false, 0, Refusal::unknown, 11});
  CHECK(drains.confirmed());
}
