// SPDX-License-Identifier: Apache-2.0
// Which partitions a gang claims in its turn, by what their owners have told.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "agents/home/scripted_home_test.h"
#include "agents/home/turn.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// One of three homes with four GPUs each. It has heard from the others how many of theirs are out
/// of service, and no heartbeat falls into its patience.
struct HeardHome {
  HeardHome(std::uint32_t out_of_first, std::uint32_t out_of_second)
      : out{out_of_first, out_of_second} {
    hear();
  }
  void hear() {
    ++heard;
    for (const std::uint32_t agent : {1U, 2U}) {
      Digest digest{{PartitionId{agent}, Epoch{1}}, heard};
      digest.gpus = 4;
      digest.out_of_service = out[agent - 1];
      home.hear(AgentId{agent}, digest);
    }
  }
  static AgentConfig config() {
    AgentConfig config;
    config.timers.heartbeat = kGangPatience;
    return config;
  }
  std::array<std::uint32_t, 2> out;
  std::uint64_t heard = 0;
  ScriptedHome home{3, config()};
};

TEST_CASE("what is out of service elsewhere is not counted on, so more partitions are claimed") {
  for (const std::uint32_t out : {0U, 2U}) {
    CAPTURE(out);
    HeardHome heard(out, out);
    ScriptedHome& home = heard.home;
    home.submit(1, 8);  // four here, and four or twice two there
    home.tick(kGangPatience);
    REQUIRE(home.job(1).round() != nullptr);
    CHECK(home.job(1).round()->claimed.size() == (out == 0 ? 2 : 3));
  }
}

TEST_CASE("partitions that are whole are claimed before others") {
  HeardHome heard(2, 0);
  ScriptedHome& home = heard.home;
  home.submit(1, 8);  // four here, and four there at the second one
  home.tick(kGangPatience);
  REQUIRE(home.job(1).round() != nullptr);
  CHECK(home.job(1).round()->claimed == std::vector{PartitionId{0}, PartitionId{2}});
}

TEST_CASE("after a turn in vain, where GPUs are out of service, all partitions are claimed") {
  for (const std::uint32_t out : {0U, 1U}) {
    HeardHome heard(out, out);
    ScriptedHome& home = heard.home;
    home.submit(1, 7);  // four here, and three there
    home.tick(kGangPatience);
    REQUIRE(home.job(1).round() != nullptr);
    REQUIRE(home.job(1).round()->claimed.size() == 2);
    home.tick(10s);
    REQUIRE(home.job(1).turns == 1);
    heard.hear();
    home.tick(kGangPatience);  // the next heartbeat
    REQUIRE(home.job(1).round() != nullptr);
    CHECK(home.job(1).round()->claimed.size() == (out == 0 ? 2 : 3));
  }
}

TEST_CASE("a gang that is cancelled in its turn lets go of what it claims") {
  HeardHome heard(0, 0);
  ScriptedHome& home = heard.home;
  const JobId gang = home.submit(1, 12);
  home.tick(kGangPatience);
  REQUIRE(home.job(1).round() != nullptr);
  REQUIRE(home.job(1).round()->claimed.size() == 3);
  REQUIRE(home.state().owner.claim);
  home.hear(client_node(0), Cancel{gang});
  CHECK_FALSE(home.state().owner.claim);
  for (const std::uint32_t agent : {1U, 2U}) CHECK(home.count<Release>(AgentId{agent}) == 1);
}

}  // namespace
}  // namespace starling
