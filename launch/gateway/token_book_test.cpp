// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/token_book.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <string>
#include <thread>
#include <vector>

#include "base/test_folder.h"
#include "launch/gateway/gateway.h"
#include "launch/system/files.h"

namespace starling {
namespace {

using std::chrono::hours;

Date some_day() { return Date{std::chrono::seconds(1'800'000'000)}; }

TEST_CASE("a token is known until it expires, by nothing but itself, and is in no file") {
  const TestFolder folder("tokens");
  const auto file = folder.path / "tokens.json";
  TokenBook book;
  const auto ann = book.add("ann", CallerRole::user, some_day(), some_day() + hours(2));
  const auto bob = book.add("bob", CallerRole::operator_, some_day(), some_day() + hours(1));
  REQUIRE(ann);
  REQUIRE(bob);
  CHECK(ann.value() != bob.value());
  REQUIRE(book.write(file).ok());
  const auto text = read_text(file);
  REQUIRE(text);
  CHECK(text.value().find(ann.value().substr(10)) == std::string::npos);

  const auto read = TokenBook::read(file);
  REQUIRE(read);
  const auto caller = read.value().caller(ann.value(), some_day());
  REQUIRE(caller);
  CHECK(caller->user == "ann");
  CHECK(caller->may(CallerRole::user));
  CHECK_FALSE(caller->may(CallerRole::operator_));
  CHECK(read.value().caller(bob.value(), some_day())->may(CallerRole::operator_));
  CHECK_FALSE(read.value().caller(bob.value(), some_day() + hours(1)));
  CHECK(read.value().caller(ann.value(), some_day() + hours(1)));
  CHECK_FALSE(read.value().caller("", some_day()));
  CHECK_FALSE(read.value().caller(ann.value() + " ", some_day()));
  // Who has read the file cannot use what is in it.
  CHECK_FALSE(read.value().caller(read.value().entries()[0].sha256, some_day()));
}

TEST_CASE("a name that the file could not have is no user's, and leaves the file as it is") {
  TokenBook book;
  for (const std::string& wrong : {std::string(), std::string(257, 'x'), std::string("a\nb"),
                                   std::string("a\x1b[31m"), std::string("\xff")}) {
    const auto token = book.add(wrong, CallerRole::user, some_day(), some_day() + hours(1));
    REQUIRE_FALSE(token);
    CHECK(token.error().code == Errc::invalid);
  }
  CHECK(book.entries().empty());
}

TEST_CASE("changes at the same time are one after the other, and none is lost") {
  const TestFolder folder("tokens_at_once");
  const auto file = folder.path / "tokens.json";
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&file, i] {
      for (int n = 0; n < 4; ++n) {
        const Status changed = TokenBook::change(file, [i](TokenBook& book) -> Status {
          const auto token = book.add("user" + std::to_string(i), CallerRole::user, some_day(),
                                      some_day() + hours(1));
          return token ? done() : Status(token.error());
        });
        CHECK(changed.ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(TokenBook::read(file).value().entries().size() == 32);
}

TEST_CASE("a token that is revoked is not known any more; the others are named") {
  TokenBook book;
  const auto ann = book.add("ann", CallerRole::user, some_day(), some_day() + hours(2));
  const auto bob = book.add("bob", CallerRole::viewer, some_day(), some_day() + hours(2));
  const std::string id = book.entries()[0].id;
  REQUIRE(book.remove(id).ok());
  CHECK_FALSE(book.caller(ann.value(), some_day()));
  CHECK(book.caller(bob.value(), some_day()));
  const Status again = book.remove(id);
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().message.find(book.entries()[0].id) != std::string::npos);
}

TEST_CASE("a file that others may read, or that says something else, is refused by name") {
  const TestFolder folder("tokens");
  const auto file = folder.path / "tokens.json";
  const auto refusal = [&](const std::string& text, unsigned mode = 0600) {
    REQUIRE(write_text(file, text, mode).ok());
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    const auto read = TokenBook::read(file);
    return read ? std::string() : read.error().message;
  };
  CHECK(refusal(R"({"tokens": []})").empty());
  CHECK(refusal(R"({"tokens": []})", 0644).find("chmod 600") != std::string::npos);
  CHECK_FALSE(refusal("{").empty());
  CHECK_FALSE(refusal("{}").empty());
  const std::string digest(64, 'a');
  const auto entry = [&](const std::string& sha, const std::string& role) {
    return R"({"tokens": [{"sha256": ")" + sha + R"(", "user": "ann", "role": ")" + role +
           R"(", "made": 1, "expires": 2}]})";
  };
  CHECK(refusal(entry(digest, "user")).empty());
  CHECK(refusal(entry(digest, "root")).find("viewer, user or operator") != std::string::npos);
  CHECK(refusal(entry("A", "user")).find("sha256") != std::string::npos);
}

TEST_CASE("lifetimes") {
  CHECK(parse_lifetime("90s") == std::chrono::seconds(90));
  CHECK(parse_lifetime("12h") == hours(12));
  CHECK(parse_lifetime("3653d") == hours(24 * 3653));
  for (const char* wrong : {"", "d", "3", "-1d", "0d", "3654d", "1w", "99999999999999999999d"})
    CHECK_FALSE(parse_lifetime(wrong));
}

TEST_CASE(
    "the door reads the tokens again when their file has changed, and stays shut while it is "
    "wrong") {
  const TestFolder folder("door");
  const auto file = folder.path / "tokens.json";
  GatewayDoor door(file);
  REQUIRE(door.look().ok());
  TokenBook book;
  const auto token = book.add("ann", CallerRole::user, some_day(), some_day() + hours(1));
  HttpRequest request;
  request.bearer = token.value();
  CHECK_FALSE(door.caller(request, some_day()));
  REQUIRE(book.write(file).ok());
  REQUIRE(door.look().ok());
  CHECK(door.caller(request, some_day())->user == "ann");
  REQUIRE(::chmod(file.c_str(), 0644) == 0);
  CHECK_FALSE(door.look().ok());
  CHECK_FALSE(door.caller(request, some_day()));

  HttpRequest nobody;
  nobody.address = "10.0.0.1";
  CHECK(door.caller(nobody, some_day())->role == CallerRole::anonymous);
  HttpRequest local;
  local.uid = 0;
  CHECK(door.caller(local, some_day())->role == CallerRole::operator_);
  local.uid = 64'123;
  CHECK(door.caller(local, some_day())->role == CallerRole::user);
}

}  // namespace
}  // namespace starling
