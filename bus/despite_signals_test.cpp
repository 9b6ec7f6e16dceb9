// SPDX-License-Identifier: Apache-2.0
// A process that is frozen and goes on, or hears a signal, while it opens its sockets.
#include "bus/despite_signals.h"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "bus/test_flock.h"

namespace starling {
namespace {

using testing::SocketFlock;

const NodeId kA = agent_node(AgentId{0});
const NodeId kB = agent_node(AgentId{1});

/// Interrupts the thread that made it, again and again, until it is gone.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction heard {};
    heard.sa_handler = [](int) {};  // and no SA_RESTART
    REQUIRE(sigaction(SIGUSR1, &heard, &before_) == 0);
    thread_ = std::thread([this, whom = pthread_self()] {
      while (!done_) {
        pthread_kill(whom, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::microseconds(300));
      }
    });
  }
  ~Interruptions() {
    done_ = true;
    thread_.join();
    sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

TEST_CASE("what a signal interrupts is done again, other errors are told") {
  int calls = 0;
  CHECK(despite_signals([&] {
          if (++calls < 3) {
            errno = EINTR;
            throw zmq::error_t();
          }
          return calls;
        }) == 3);
  CHECK_THROWS_AS(despite_signals([] {
                    errno = EADDRINUSE;
                    throw zmq::error_t();
                  }),
                  zmq::error_t);
}

TEST_CASE("an endpoint opens, and takes a new key, whatever signals its process hears") {
  SocketFlock world(true);
  world.add(kA), world.add(kB);
  const Interruptions interruptions;
  for (int i = 0; i < 10; ++i) {
    CAPTURE(i);
    const auto opened = ZmqEndpoint::open(
        {kA, "ipc://" + (world.folder.path / std::to_string(i)).string(), world.keys[kA], {}},
        world.flock, world.clock);
    REQUIRE_MESSAGE(opened.ok(), opened.error().message);
    const KeyPair fresh = generate_keys().value();
    Flock flock = world.flock;
    flock[kA].public_key = fresh.public_key;
    const Status renewed = opened.value()->renew(flock, fresh);
    REQUIRE_MESSAGE(renewed.ok(), renewed.error().message);
  }
}

}  // namespace
}  // namespace starling
