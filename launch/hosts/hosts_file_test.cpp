// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/hosts_file.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "base/test_folder.h"
#include "topology/generate/generate.h"

using namespace starling;

namespace {

/// p0-r0-s0 to p0-r0-s5, with 2 GPUs each.
Topology six() {
  GeneratorOptions shape;
  shape.servers = 6;
  shape.gpus_per_server = 2;
  return generate_flat(shape).value();
}

HostSet read(const std::string& text) {
  auto set = parse_hosts(text, "h.yaml", six(), "blue");
  REQUIRE_MESSAGE(set.ok(), (set.ok() ? "" : set.error().message));
  return set.value();
}

std::string flaw(const std::string& text) {
  const auto set = parse_hosts(text, "h.yaml", six(), "blue");
  return set.ok() ? "" : set.error().message;
}

using Numbers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a hosts file says which daemons live where, and how ssh gets there") {
  const HostSet set = read(
      "defaults: {user: root, port: 2222, identity: id}\n"
      "hosts:\n"
      "- {name: h1, address: 127.0.0.2, servers: [p0-r0-s5, p0-r0-s0..p0-r0-s1], agents: 2}\n"
      "- {name: h2, address: 127.0.0.3, ssh: front, user: me, servers: \"p0-*-s2\", directory: "
      "/d}\n"
      "- {name: h3, address: 127.0.0.4, servers: [p0-r0-s3, p0-r0-s4], program: /bin/x}\n");
  CHECK(set.server_host == Numbers{0, 0, 1, 2, 2, 0});
  REQUIRE(set.hosts.size() == 3);
  CHECK(set.hosts[0] ==
        Host{"h1", "127.0.0.2", "127.0.0.2", "root", 2222, "id", "", ".starling/blue/h1", "", 2});
  CHECK(set.hosts[1].ssh == "front");
  CHECK(set.hosts[1].user == "me");
  CHECK(set.hosts[1].directory == "/d");
  CHECK(set.hosts[2].program == "/bin/x");
}

TEST_CASE("the hosts of a file alone: what they say of servers is not looked at") {
  const TestFolder dir("hosts");
  const auto file = dir.path / "h.yaml";
  std::ofstream(file) << "hosts:\n- {name: a, address: 127.0.0.1, servers: [nobody-knows]}\n"
                         "- {name: b, address: 127.0.0.2, port: 2222}\n";
  const auto set = load_host_list(file);
  REQUIRE_MESSAGE(set.ok(), (set.ok() ? "" : set.error().message));
  REQUIRE(set.value().hosts.size() == 2);
  CHECK(set.value().hosts[1].port == 2222);
  CHECK(set.value().server_host.empty());
  std::ofstream(file) << "hosts: []\n";
  CHECK_FALSE(load_host_list(file).ok());
  CHECK(load_host_list(dir.path / "none").error().message.find("give a hosts file") !=
        std::string::npos);
}

TEST_CASE("without servers they are spread, in blocks") {
  const HostSet set = read(
      "hosts: [{name: a, address: 127.0.0.1}, {name: b, address: 127.0.0.1}, "
      "{name: c, address: 127.0.0.1}, {name: d, address: 127.0.0.1}]");
  CHECK(set.server_host == Numbers{0, 0, 1, 2, 2, 3});
  CHECK(spread_servers(2, 4) == Numbers{0, 2});
}

TEST_CASE("agents live where most GPUs of their partition are, as many as the file says") {
  HostSet set = read(
      "hosts:\n"
      "- {name: a, address: 127.0.0.1, servers: [p0-r0-s4, p0-r0-s5]}\n"
      "- {name: b, address: 127.0.0.1, servers: p0-r0-s0..p0-r0-s3}\n");
  CHECK(default_agents(set, six()) == 2);
  CHECK(place_agents(set, six(), 2).value() == Numbers{1, 0});
  CHECK(place_agents(set, six(), 3).value() == Numbers{1, 0, 0});
  set.hosts[0].agents = 0;
  CHECK(default_agents(set, six()) == 1);
  CHECK(place_agents(set, six(), 3).value() == Numbers{1, 1, 1});
  set.hosts[1].agents = 2;
  CHECK(place_agents(set, six(), 3).error().message ==
        "the hosts file places 2 agents, but 3 are wanted; change a host's agents:, or --agents");
  CHECK(place_agents(set, six(), 1).error().code == Errc::invalid);
}

TEST_CASE("the example files read, with data centres as they say") {
  const char* source = std::getenv("STARLING_SOURCE");
  REQUIRE(source != nullptr);
  const std::filesystem::path dir = std::filesystem::path(source) / "examples" / "hosts";
  GeneratorOptions three;
  three.servers = 3;
  const auto plain = load_hosts(dir / "three-machines.yaml", generate_flat(three).value(), "f");
  REQUIRE_MESSAGE(plain.ok(), (plain.ok() ? "" : plain.error().message));
  CHECK(plain.value().server_host == Numbers{0, 1, 2});
  CHECK(plain.value().hosts[0].identity.starts_with("/"));
  GeneratorOptions racks;
  racks.servers = 8;
  racks.servers_per_rack = 4;
  const auto apart = load_hosts(dir / "agents-apart.yaml", generate_leaf_spine(racks).value(), "f");
  REQUIRE_MESSAGE(apart.ok(), (apart.ok() ? "" : apart.error().message));
  CHECK(apart.value().server_host == Numbers{2, 2, 2, 2, 3, 3, 3, 3});
  CHECK(place_agents(apart.value(), generate_leaf_spine(racks).value(), 2).value() ==
        Numbers{0, 1});
}

TEST_CASE("flaws of a hosts file are named with their place") {
  const std::string two = ", address: 127.0.0.1, servers: ";
  CHECK(flaw("hosts: [{name: a" + two + "[p0-r0-s9]}]")
            .starts_with("h.yaml:1:49: host 'a': the topology has no server 'p0-r0-s9'"));
  CHECK(flaw("hosts:\n- {name: a" + two + "p0-r0-s0..p0-r0-s4}")
            .starts_with("h.yaml:2:1: server 'p0-r0-s5' of the topology lives on no host"));
  CHECK(flaw("hosts:\n- {name: a" + two + "p0-*}\n- {name: b" + two + "p0-r0-s1}")
            .starts_with("h.yaml:3:42: server 'p0-r0-s1' lives on host 'a' already"));
  CHECK(flaw("hosts:\n- {name: a" + two + "p0-r0-s4..p0-r0-s1}").find("is no range") !=
        std::string::npos);
  CHECK(flaw("hosts:\n- {name: a, address: 127.0.0.1}\n- {name: a, address: 127.0.0.2}") ==
        "h.yaml:3:10: host 'a' is listed twice");
  CHECK(flaw("hosts:\n- {name: a, adress: 127.0.0.1}").find("did you mean 'address'") !=
        std::string::npos);
  CHECK(flaw("hosts:\n- {name: a, address: no.such.host.invalid}")
            .find("is no address and no name that this machine can resolve") != std::string::npos);
  CHECK(flaw("hosts:\n- {name: a/b, address: 127.0.0.1}").find("has other characters") !=
        std::string::npos);
  CHECK(flaw("hosts:\n- {name: a, address: 127.0.0.1, ssh: -oProxyCommand=x}")
            .find("begins with '-'") != std::string::npos);
  CHECK(flaw("hosts:\n- {name: a, address: 127.0.0.1, directory: /}")
            .find("is no folder for a flock alone") != std::string::npos);
  CHECK_FALSE(flaw("hosts:\n- {name: a, address: 127.0.0.1, port: 0}").empty());
  CHECK_FALSE(flaw("hosts: []").empty());
  CHECK(flaw("hosts: [\n").find("this is not YAML") != std::string::npos);
}
