// SPDX-License-Identifier: Apache-2.0
// libzmq ends the process where it gets no file descriptor, so it must not be asked then. Each test
// runs with the limit of this process lowered, and would end it as a whole.
#include "bus/spare_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bus/test_flock.h"

namespace starling {
namespace {

using testing::SocketFlock;
using Bytes = std::vector<std::byte>;

const NodeId kA = agent_node(AgentId{0}), kB = agent_node(AgentId{1});
const Bytes kFrame{std::byte{42}};

/// Leaves this process so many descriptors that it may still open, for its own life; a few more if
/// libzmq's threads close some meanwhile.
class FewFiles {
 public:
  explicit FewFiles(std::size_t spare) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    for (few.rlim_cur = 3;; ++few.rlim_cur) {
      setrlimit(RLIMIT_NOFILE, &few);
      if (spare_files() >= spare) break;
    }
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

TEST_CASE("what is left is what can be opened") {
  for (const std::size_t spare : {0U, 1U, 2U, 7U}) {
    const FewFiles few(spare);
    std::vector<int> opened;
    for (int fd = dup(0); fd >= 0; fd = dup(0)) opened.push_back(fd);
    CHECK(opened.size() == spare);
    CHECK(spare_files() == 0);
    CHECK_FALSE(need_files(1, "this").ok());
    for (const int fd : opened) close(fd);
    CHECK(need_files(spare, "this").ok());
  }
  const FewFiles few(2);
  CHECK(need_files(3, "a door")
            .error()
            .message.starts_with("a door needs 3 file descriptors, and 2 are left of the "));
}

TEST_CASE("an endpoint opens or says why not, with any number of descriptors left") {
  for (const bool with_keys : {false, true}) {
    for (const bool over_tcp : {false, true}) {
      SocketFlock world(with_keys);
      world.add(kA);
      if (over_tcp) world.flock[kA].address = "tcp://127.0.0.1:*";
      ZmqOptions options{kA, "", std::nullopt, {}};
      if (with_keys) options.keys = world.keys.at(kA);
      std::size_t spare = 0;
      for (; spare < 60; ++spare) {
        const FewFiles few(spare);
        const auto opened = ZmqEndpoint::open(options, world.flock, world.clock);
        if (opened.ok()) break;
        CAPTURE(spare);
        CHECK(opened.error().code == Errc::io);
        CHECK(opened.error().message.find("file descriptors") != std::string::npos);
      }
      CHECK(spare < 60);
    }
  }
}

TEST_CASE(
    "an endpoint whose process has no descriptor left lives on, and reaches its peers later") {
  for (const bool with_keys : {false, true}) {
    SocketFlock world(with_keys);
    world.add(kA), world.add(kB);
    const auto a = world.open(kA), b = world.open(kB);
    {
      const FewFiles few(0);
      for (int i = 0; i < 20; ++i) CHECK_FALSE(a->send(kB, kFrame));
      CHECK(a->counters().short_of_files > 0);
      CHECK_FALSE(world.await(*b));
    }
    bool heard = false;
    for (int i = 0; i < 200 && !heard; ++i) {
      a->send(kB, kFrame);
      heard = world.await(*b).has_value();
    }
    CHECK(heard);
  }
}

TEST_CASE("a key that there are no descriptors to change to is refused whole") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  const auto a = world.open(kA), b = world.open(kB);
  const KeyPair fresh = generate_keys().value();
  Flock next = world.flock;
  next.at(kA).public_key = fresh.public_key;
  {
    const FewFiles few(2);
    CHECK(a->renew(next, fresh).error().code == Errc::io);
  }
  const auto heard = [&](Endpoint& from, Endpoint& to, NodeId at) {
    for (int i = 0; i < 200; ++i) {
      from.send(at, kFrame);
      if (world.await(to)) return true;
    }
    return false;
  };
  CHECK(heard(*b, *a, kA));  // with the old key
  CHECK(a->renew(next, fresh).ok());
  CHECK(b->renew(next, world.keys.at(kB)).ok());
  CHECK(heard(*b, *a, kA));
}

}  // namespace
}  // namespace starling
