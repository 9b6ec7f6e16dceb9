// SPDX-License-Identifier: Apache-2.0
#include "bus/zap.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "bus/keys.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// A CURVE server on this machine, with or without a handler that looks at keys.
struct Server {
  zmq::context_t context;
  KeyPair keys = generate_keys().value();
  zmq::socket_t socket{context, zmq::socket_type::router};
  std::string address;

  void bind(bool curve) {
    socket.set(zmq::sockopt::linger, 0);
    if (curve) {
      socket.set(zmq::sockopt::curve_server, true);
      socket.set(zmq::sockopt::curve_secretkey, keys.secret_key);
      socket.set(zmq::sockopt::zap_domain, kZapDomain);
    }
    socket.bind("tcp://127.0.0.1:*");
    address = socket.get(zmq::sockopt::last_endpoint);
  }
};

TEST_CASE("a stranger is refused where keys are looked at") {
  Server server;
  {
    ZapHandler zap(server.context, {});
    server.bind(true);
    CHECK(try_as_stranger(server.context, server.address, server.keys.public_key) ==
          StrangerTest::refused);
    server.socket.close();
    server.context.shutdown();
  }
}

TEST_CASE("its thread ends, also where the system has no more memory for threads") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    // Room for the thread's stack, none for a heap of its own: each allocation sets errno.
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (40U << 20U);
    const rlimit little{most, most};
    ::setrlimit(RLIMIT_AS, &little);
    {
      zmq::context_t context(1);
      ZapHandler zap(context, {});
      context.shutdown();
    }
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a server that lets every key in is told from one that says nothing") {
  Server open;
  open.bind(true);  // no handler answers for keys, so libzmq takes all of them
  CHECK(try_as_stranger(open.context, open.address, open.keys.public_key) == StrangerTest::let_in);

  Server gone;
  gone.bind(false);
  gone.socket.unbind(gone.address);
  CHECK(try_as_stranger(gone.context, gone.address, gone.keys.public_key, 50ms) ==
        StrangerTest::no_answer);
}

}  // namespace
}  // namespace starling
