// SPDX-License-Identifier: Apache-2.0
#include "bus/keys.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"
#include "bus/flock.h"
#include "bus/test_flock.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

TEST_CASE("keys survive a file that only the owner can read") {
  const TestFolder folder("keys");
  const fs::path file = folder.path / "agent.key";
  const KeyPair keys = generate_keys().value();
  CHECK(is_key(keys.public_key));
  CHECK_FALSE(is_key("short"));
  REQUIRE(write_key_file(file, keys).ok());
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  const Result<KeyPair> read = read_key_file(file);
  REQUIRE(read.ok());
  CHECK(read.value().public_key == keys.public_key);
  CHECK(read.value().secret_key == keys.secret_key);

  CHECK(write_key_file(file, keys).error().code == Errc::conflict);
  for (const fs::perms p :
       {fs::perms::group_read, fs::perms::others_read, fs::perms::group_write}) {
    fs::permissions(file, fs::perms::owner_read | p);
    CHECK(read_key_file(file).error().message.ends_with(
        "others may read this secret; run chmod 600 on it"));
  }
}

TEST_CASE("files that are no keys are refused") {
  const TestFolder folder("keys");
  const fs::path file = folder.path / "agent.key";
  CHECK(read_key_file(file).error().code == Errc::invalid);
  CHECK(read_key_file(folder.path).error().code == Errc::invalid);
  const KeyPair keys = generate_keys().value(), others = generate_keys().value();
  REQUIRE(write_key_file(file, {others.public_key, keys.secret_key}).ok());
  CHECK(read_key_file(file).error().message.find("should be " + keys.public_key) !=
        std::string::npos);
  put(file, "{}");
  CHECK(read_key_file(file).error().message.find("not a key file") != std::string::npos);
  put(file, "garbage");
  CHECK(read_key_file(file).error().message.find("not a key file") != std::string::npos);
}

TEST_CASE("a flock survives its file") {
  const TestFolder folder("keys");
  const fs::path file = folder.path / "flock.json";
  const std::string key = generate_keys().value().public_key;
  Flock flock;
  flock[NodeId{1}] = {NodeId{1},
                      Role::agent,
                      "tcp://10.0.0.1:7001",
                      key,
                      {{"tcp://10.0.0.2:7005", generate_keys().value().public_key}}};
  flock[executor_node(0)] = {executor_node(0), Role::executor, "ipc:///run/e0", "", {}};
  flock[client_node(3)] = {client_node(3), Role::client, "", "", {}};
  flock[client_node(4)] = {client_node(4), Role::client, "", "", {}, {}, {"ann", false}};
  flock[client_node(5)] = {client_node(5), Role::client, "", "", {}, {}, {"olga", true}};
  REQUIRE(write_flock(file, flock).ok());
  const Result<Flock> read = read_flock(file);
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
  CHECK(read.value() == flock);
  CHECK(text_of(file).find("secret") == std::string::npos);
}

TEST_CASE("flaws of a flock are named") {
  const TestFolder folder("keys");
  const fs::path file = folder.path / "flock.json";
  const auto flaw = [&](const std::string& members) {
    put(file, R"({"flock": 1, "members": [)" + members + "]}");
    const Result<Flock> r = read_flock(file);
    return r.ok() ? std::string() : r.error().message.substr(file.string().size() + 2);
  };
  CHECK(flaw("").empty());
  CHECK(flaw("7") == "members[0] is not an object");
  CHECK(flaw(R"({"role": "agent"})") == "members[0] has no \"node\"");
  CHECK(flaw(R"({"node": -1})") == "members[0] \"node\" is not a number below 2^32");
  CHECK(flaw(R"({"node": 1, "role": "king"})") ==
        "members[0] \"role\" must be agent, executor or client");
  CHECK(flaw(R"({"node": 1, "rôle": "agent"})").starts_with("members[0] unknown field"));
  CHECK(flaw(R"({"node": 1, "role": "agent"})") == "node 1: only clients may have no address");
  CHECK(flaw(R"({"node": 1, "role": "executor", "address": "tcp://a:1"})")
            .starts_with("node 1: is no executor's number"));
  CHECK(flaw(R"({"node": 1, "role": "agent", "address": "tcp://a:1", "key": "x"})") ==
        "node 1: \"key\" is not a public key of 40 characters");
  const std::string one = R"({"node": 1, "role": "agent", "address": "tcp://a:1"})";
  CHECK(flaw(one + "," + one) == "members[1]: node 1 is listed twice");
  CHECK(flaw(one + R"(,{"node": 2, "role": "agent", "address": "tcp://a:1"})") ==
        "node 2: address tcp://a:1 is already another's");
  CHECK(flaw(R"({"node": 1, "role": "agent", "address": "tcp://a:1", "standby": [{"port": 1}]})") ==
        "members[0] a standby seat has \"address\", \"key\", perhaps \"also\", and nothing else");
  const std::string client =
      R"({"node": )" + std::to_string(kFirstClient) + R"(, "role": "client")";
  CHECK(flaw(client + "}").empty());
  CHECK(flaw(client + R"(, "user": "ann", "operator": true})").empty());
  CHECK(flaw(client + R"(, "operator": true})") == "members[0] has \"operator\" without \"user\"");
  CHECK(flaw(client + R"(, "user": "ann", "operator": "yes"})") ==
        "members[0] \"operator\" is neither true nor false");
  CHECK(flaw(client + R"(, "user": ""})").starts_with("members[0] \"user\" is empty"));
  CHECK(flaw(client + R"(, "user": "../ann"})").find("cannot be a login name") !=
        std::string::npos);
  CHECK(flaw(R"({"node": 1, "role": "agent", "address": "tcp://a:1", "user": "ann"})") ==
        "node 1: only clients may have a user");
  put(file, "{\n\"flock\" 1}");
  CHECK(read_flock(file).error().message.find("line 2") != std::string::npos);
  put(file, "[]");
  CHECK(read_flock(file).error().message.find("expected {\"flock\": 1") != std::string::npos);
}

}  // namespace
}  // namespace starling
