// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/link_proxies.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

using namespace starling::chaos_live;

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

/// A caller and a called one with a link between them.
struct Fixture {
  Fixture() {
    listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in a = loopback(0);
    socklen_t size = sizeof a;
    REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&a), size) == 0);
    REQUIRE(listen(listener, 8) == 0);
    REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&a), &size) == 0);
    auto made = proxies.add("127.0.0.1", "127.0.0.1", ntohs(a.sin_port));
    REQUIRE(made.ok());
    port = made.value();
    proxies.start();
    caller = socket(AF_INET, SOCK_STREAM, 0);
    a = loopback(port);
    REQUIRE(connect(caller, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0);
    called = accept(listener, nullptr, nullptr);
  }
  ~Fixture() {
    for (const int fd : {listener, caller, called}) close(fd);
  }
  static void say(int fd, const std::string& text) {
    REQUIRE(send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  /// What has come within `ms`; "gone" if the connection has ended.
  static std::string hear(int fd, int ms) {
    pollfd p{fd, POLLIN, 0};
    if (poll(&p, 1, ms) <= 0) return "";
    char text[256];
    const ssize_t size = recv(fd, text, sizeof text, 0);
    return size <= 0 ? "gone" : std::string(text, static_cast<std::size_t>(size));
  }
  LinkProxies proxies{1};
  std::uint16_t port = 0;
  int listener = -1, caller = -1, called = -1;
};

}  // namespace

TEST_CASE("a link passes bytes both ways, and the end") {
  Fixture f;
  f.say(f.caller, "hello");
  CHECK(f.hear(f.called, 5000) == "hello");
  f.say(f.called, "yes");
  CHECK(f.hear(f.caller, 5000) == "yes");
  close(std::exchange(f.caller, -1));
  CHECK(f.hear(f.called, 5000) == "gone");
}

TEST_CASE("a link that is cut passes nothing; when it is healed, what waited") {
  Fixture f;
  f.proxies.set(0, {.cuts = 1});
  f.say(f.caller, "hello");
  CHECK(f.hear(f.called, 300) == "");
  f.proxies.set(0, {});
  CHECK(f.hear(f.called, 5000) == "hello");
}

TEST_CASE("a slow link passes everything later") {
  Fixture f;
  f.proxies.set(0, {.delay_s = 0.3});
  const auto began = std::chrono::steady_clock::now();
  f.say(f.caller, "hello");
  CHECK(f.hear(f.called, 5000) == "hello");
  CHECK(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(290));
}

TEST_CASE("connections are closed, and bits are flipped") {
  Fixture f;
  SUBCASE("closed") {
    f.proxies.set(0, {.closes_per_s = 100});
    CHECK(f.hear(f.called, 5000) == "gone");
    // The proxies' thread counts a moment after it has closed.
    for (int i = 0; i < 100 && f.proxies.counters().closed == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(f.proxies.counters().closed == 1);
  }
  SUBCASE("flipped") {
    f.proxies.set(0, {.corrupt = 1});
    f.say(f.caller, "hello");
    const std::string heard = f.hear(f.called, 5000);
    CHECK(heard.size() == 5);
    CHECK(heard != "hello");
  }
}
