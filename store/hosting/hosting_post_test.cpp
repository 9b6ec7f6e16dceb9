// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/hosting_post.h"

#include <doctest/doctest.h>

#include <chrono>

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a post begins, hears how it ended, and gives back what is asked for") {
  int begun = 0, joined = 0;
  bool room = false;
  HostingPost post(AgentId{1}, HostingPlan(AgentId{1}, "standby", PartitionId{0}, 1, Instant{}),
                   {[] { return std::unique_ptr<HandBackRequest>(); }, [&] { return room; },
                    [&](const Ownership& seen) {
                      CHECK(seen.epoch == Epoch{7});
                      ++begun;
                    },
                    [&] { ++joined; }, [](const std::string&) {}});
  const PartitionStanding free{{PartitionId{0}, Epoch{7}, AgentId{0}}, "", std::nullopt};
  const FlockMembers all;
  const auto look = [&](Duration at, const PartitionStanding& standing) {
    post.look(Instant(at), standing, all);
  };
  look(10s, free);
  CHECK(begun == 0);  // no room
  room = true;
  look(11s, free);
  CHECK(begun == 1);
  CHECK(post.serving());
  post.got();
  PartitionStanding wanted{{PartitionId{0}, Epoch{8}, AgentId{1}}, "standby", AgentId{0}};
  CHECK_FALSE(post.wanted());
  look(12s, wanted);
  CHECK(post.wanted());
  CHECK(post.wanted_by() == AgentId{0});
  post.over(HostingPlan::End::given_back);
  look(13s, wanted);
  CHECK(joined == 1);
  CHECK_FALSE(post.serving());
  look(20s, free);
  CHECK(begun == 2);
  CHECK_FALSE(post.wanted());
}

}  // namespace
}  // namespace starling
