// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "launch/hosts/host_board.h"

using namespace starling;

namespace {

using News = std::vector<std::string>;

std::vector<HostBoard::Seen> seen(KeptDaemon d) {
  HostBoard::Seen s;
  s.linked = true;
  s.status = HostStatus{.host = "h1", .flock = "f", .daemons = {std::move(d)}};
  return {s};
}

HostFlock one_host() {
  HostFlock flock;
  flock.hosts.emplace_back();
  flock.hosts.back().name = "h1";
  return flock;
}

}  // namespace

TEST_CASE("what is learned of a daemon after its end is told, too") {
  const HostFlock flock = one_host();
  const auto up = seen({.name = "agent-0", .up = true});
  const auto ended = seen({.name = "agent-0", .note = "agent-0 ended with exit code 0"});
  const auto known = seen({.name = "agent-0", .note = "agent-0 is no member any more"});
  CHECK(board_news(flock, up, ended) == News{"h1: agent-0 ended with exit code 0"});
  CHECK(board_news(flock, ended, ended).empty());
  CHECK(board_news(flock, ended, known) == News{"h1: agent-0 is no member any more"});
}

TEST_CASE("a daemon of which nothing is known makes no empty line") {
  const HostFlock flock = one_host();
  const auto up = seen({.name = "agent-0", .up = true});
  CHECK(board_news(flock, up, seen({.name = "agent-0"})).empty());
}

TEST_CASE("a daemon that ended and was started again is told once") {
  const HostFlock flock = one_host();
  const auto up = seen({.name = "agent-0", .up = true});
  const auto again = seen(
      {.name = "agent-0", .up = true, .restarts = 1, .note = "agent-0 was killed by signal 9"});
  CHECK(board_news(flock, up, again) ==
        News{"h1: agent-0 was killed by signal 9", "h1: agent-0 was started again"});
  CHECK(board_news(flock, again, again).empty());
}
