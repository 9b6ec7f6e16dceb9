// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/gateway.h"

#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/test_folder.h"
#include "launch/client/session.h"

namespace starling {
namespace {

/// What the server's thread would do, done by the test.
class Pump {
 public:
  void later(std::function<void()> what) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(what));
  }
  void turn() {
    std::deque<std::function<void()>> now;
    {
      const std::lock_guard lock(mutex_);
      now.swap(waiting_);
    }
    for (const auto& what : now) what();
  }

 private:
  std::mutex mutex_;
  std::deque<std::function<void()>> waiting_;
};

/// A gateway to a flock that there is not.
struct GatewayAlone {
  TestFolder folder{"gateway"};
  Pump pump;
  GatewayFlock flock{folder.path / "none", {}, [this](std::function<void()> what) {
                       pump.later(std::move(what));
                     }};
  GatewayDoor door{folder.path / "tokens.json"};
  TokenBook book;
  std::optional<Gateway> gateway;

  explicit GatewayAlone(double burst) { gateway.emplace(flock, door, 1, burst); }

  std::string token(CallerRole role) {
    const Date now = std::chrono::system_clock::now();
    const std::string token = book.add("ann", role, now, now + std::chrono::hours(1)).value();
    REQUIRE(book.write(folder.path / "tokens.json").ok());
    REQUIRE(door.look().ok());
    return token;
  }
  HttpAnswer answer(const std::string& method, const std::string& target,
                    const std::optional<std::string>& bearer = {}, const std::string& body = "") {
    std::mutex mutex;
    std::optional<HttpAnswer> got;
    HttpRequest request;
    request.method = method;
    request.target = target;
    request.bearer = bearer;
    request.body = body;
    request.content_type = "application/json";
    request.address = "10.0.0.1";
    gateway->handle(request, [&](HttpAnswer answer) {
      const std::lock_guard lock(mutex);
      got = std::move(answer);
    });
    for (int i = 0; i < 10'000; ++i) {
      pump.turn();
      const std::lock_guard lock(mutex);
      if (got) return *got;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL("no answer to " << method << " " << target);
    return {};
  }
};

TEST_CASE(
    "a caller without a token gets the page and the description; a wrong token is no better") {
  GatewayAlone alone(1000);
  CHECK(alone.answer("GET", "/").status == 200);
  CHECK(alone.answer("GET", "/page.js").body.find("EventSource") != std::string::npos);
  CHECK(alone.answer("GET", "/v1/openapi.json").status == 200);
  CHECK(alone.answer("GET", "/healthz", "starling_wrong").status == 200);
  for (const char* target : {"/v1/jobs", "/v1/me", "/metrics", "/v1/events", "/v1/jobs/1/logs"}) {
    CHECK(alone.answer("GET", target).status == 401);
    CHECK(alone.answer("GET", target, "starling_wrong").status == 401);
  }
  // What does not exist is no secret, what is wrong in a request without a token is not looked at.
  CHECK(alone.answer("GET", "/v1/nothing").status == 404);
  CHECK(alone.answer("POST", "/v1/jobs", {}, "{").status == 401);
}

TEST_CASE("roles hold before anything is asked of the flock") {
  GatewayAlone alone(1000);
  const std::string viewer = alone.token(CallerRole::viewer), user = alone.token(CallerRole::user),
                    chief = alone.token(CallerRole::operator_);
  const std::string job = R"({"command": "true"})";
  CHECK(alone.answer("GET", "/v1/me", viewer).body.find("\"viewer\"") != std::string::npos);
  CHECK(alone.answer("POST", "/v1/jobs", viewer, job).status == 403);
  CHECK(alone.answer("PUT", "/v1/servers/a/drain", user).status == 403);
  CHECK(alone.answer("POST", "/v1/jobs", user, "{").status == 400);
  // And then the flock is missed.
  CHECK(alone.answer("POST", "/v1/jobs", user, job).status == 503);
  CHECK(alone.answer("GET", "/v1/jobs", viewer).status == 503);
  const HttpAnswer drain = alone.answer("PUT", "/v1/servers/a/drain", chief);
  CHECK(drain.status >= 400);
  CHECK(drain.status != 403);
  CHECK(alone.answer("GET", "/readyz").status == 503);
  CHECK(alone.answer("GET", "/metrics", viewer).body.find("starling_gateway_ready 0") !=
        std::string::npos);
}

TEST_CASE("an answer that goes on ends with its token, whether that is revoked or expires") {
  GatewayAlone alone(1000);
  const std::string ann = alone.token(CallerRole::viewer), bob = alone.token(CallerRole::viewer);
  const auto of_ann = alone.answer("GET", "/v1/events", ann).stream;
  const auto of_bob = alone.answer("GET", "/v1/events", bob).stream;
  REQUIRE(of_ann);
  REQUIRE(of_bob);
  const Date now = std::chrono::system_clock::now();
  alone.pump.turn();
  alone.gateway->end_streams(now);
  CHECK_FALSE(of_ann->closed());
  REQUIRE(alone.book.remove(alone.book.entries()[0].id).ok());
  REQUIRE(alone.book.write(alone.folder.path / "tokens.json").ok());
  REQUIRE(alone.door.look().ok());
  alone.gateway->end_streams(now);
  CHECK(of_ann->closed());
  CHECK_FALSE(of_bob->closed());
  alone.gateway->end_streams(now + std::chrono::minutes(59));
  CHECK_FALSE(of_bob->closed());
  alone.gateway->end_streams(now + std::chrono::hours(1));
  CHECK(of_bob->closed());
}

TEST_CASE(
    "a caller that asks too often waits; others do not, and tries of tokens count by address") {
  GatewayAlone alone(4);
  const std::string ann = alone.token(CallerRole::viewer), bob = alone.token(CallerRole::viewer);
  for (int i = 0; i < 4; ++i) CHECK(alone.answer("GET", "/v1/me", ann).status == 200);
  const HttpAnswer late = alone.answer("GET", "/v1/me", ann);
  CHECK(late.status == 429);
  CHECK(late.headers.front() == std::pair<std::string, std::string>{"Retry-After", "1"});
  CHECK(alone.answer("GET", "/v1/me", bob).status == 200);
  unsigned last = 0;
  for (int i = 0; i < 6; ++i)
    last = alone.answer("GET", "/v1/me", "starling_" + std::to_string(i)).status;
  CHECK(last == 429);
}

}  // namespace
}  // namespace starling
