// SPDX-License-Identifier: Apache-2.0
#include "launch/hooks/faulty_endpoint.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "launch/system/files.h"

using namespace starling;
using namespace starling::chaos_live;

namespace {

/// Keeps what is sent.
struct Wire final : Endpoint {
  explicit Wire(std::vector<int>& sent) : sent_(sent) {}
  bool send(NodeId, std::span<const std::byte> frame) override {
    sent_.push_back(std::to_integer<int>(frame[0]));
    return true;
  }
  std::optional<Delivery> receive(Instant) override { return std::nullopt; }
  std::vector<int>& sent_;
};

struct Hand final : Clock {
  [[nodiscard]] Instant now() const noexcept override { return at; }
  Instant at{};
};

struct Fixture {
  explicit Fixture(const FrameFaults& faults)
      : file(std::filesystem::temp_directory_path() / ("frames-" + std::to_string(getpid()))) {
    REQUIRE(write_text(file, to_text(faults)).ok());
    endpoint.emplace(std::make_unique<Wire>(sent), file, Rng(1), clock);
    for (int i = 0; i < 100; ++i) send(i);
  }
  ~Fixture() { std::filesystem::remove(file); }
  void send(int i) {
    const std::byte frame[] = {static_cast<std::byte>(i)};
    CHECK(endpoint->send(NodeId{1}, frame));
  }
  void wait(double s) {
    clock.at = later(clock.at, from_seconds(s));
    CHECK(!endpoint->receive(clock.at));
  }
  std::filesystem::path file;
  std::vector<int> sent;
  Hand clock;
  std::optional<FaultyEndpoint> endpoint;
};

}  // namespace

TEST_CASE("without faults every frame passes, once and in order") {
  Fixture f({});
  REQUIRE(f.sent.size() == 100);
  CHECK(std::is_sorted(f.sent.begin(), f.sent.end()));
}

TEST_CASE("frames are lost, and their sender does not notice") {
  Fixture f({.loss = 0.5});
  CHECK(f.sent.size() > 30);
  CHECK(f.sent.size() < 70);
}

TEST_CASE("frames are repeated later") {
  Fixture f({.duplicate = 0.5, .late_ms = 100});
  CHECK(f.sent.size() == 100);
  f.wait(0.2);
  CHECK(f.sent.size() > 130);
}

TEST_CASE("frames are overtaken, and none is lost") {
  Fixture f({.reorder = 0.5, .late_ms = 100});
  CHECK(f.sent.size() < 70);
  f.wait(0.2);
  CHECK(f.sent.size() == 100);
  CHECK(!std::is_sorted(f.sent.begin(), f.sent.end()));
}

TEST_CASE("the faults end when the file says so") {
  Fixture f({.loss = 1});
  CHECK(f.sent.empty());
  REQUIRE(write_text(f.file, to_text(FrameFaults{})).ok());
  f.wait(0.2);
  f.send(1);
  CHECK(f.sent.size() == 1);
}
