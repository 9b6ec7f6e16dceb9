// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/namespaces.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace starling::chaos_live {
namespace {

bool run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

std::string Namespaces::missing() {
  if (geteuid() != 0) return "network namespaces need root";
  if (!run("command -v ip")) return "ip(8) is not installed";
  if (!run("command -v nft")) return "nft(8) is not installed";
  const std::string probe = "stl" + std::to_string(getpid() % 100'000) + "p";
  const bool can = run("ip netns add " + probe);
  if (can) run("ip netns del " + probe);
  return can ? "" : "this kernel or container lets no process make network namespaces";
}

Result<std::unique_ptr<Namespaces>> Namespaces::make(std::uint32_t racks, const Reaper& reaper) {
  std::unique_ptr<Namespaces> made(new Namespaces);
  const auto pid = static_cast<std::uint32_t>(getpid());
  made->prefix_ = "stl" + std::to_string(pid % 100'000);
  made->subnet_ = "10." + std::to_string(128 + pid % 100) + "." + std::to_string(pid / 100 % 250);
  const std::string bridge = made->prefix_ + "b";
  const auto must = [](const std::string& command) -> Status {
    if (run(command)) return done();
    return {Errc::io, "network namespaces: this failed: " + command};
  };
  reaper.at_end("ip link del " + bridge);
  for (const std::string& command :
       {"ip link add " + bridge + " type bridge",
        "ip addr add " + made->here() + "/24 dev " + bridge, "ip link set " + bridge + " up"}) {
    if (const Status s = must(command); !s.ok()) return s.error();
  }
  for (std::uint32_t rack = 0; rack < racks; ++rack) {
    const std::string name = made->name(rack), in = "ip netns exec " + name + " ";
    reaper.at_end("ip netns del " + name);
    made->racks_ = rack + 1;
    for (const std::string& command :
         {"ip netns add " + name, "ip link add " + name + " type veth peer name " + name + "i",
          "ip link set " + name + " master " + bridge + " up",
          "ip link set " + name + "i netns " + name,
          in + "ip addr add " + made->address(rack) + "/24 dev " + name + "i",
          in + "ip link set " + name + "i up", in + "ip link set lo up"}) {
      if (const Status s = must(command); !s.ok()) return s.error();
    }
  }
  return made;
}

Namespaces::~Namespaces() {
  for (std::uint32_t rack = 0; rack < racks_; ++rack) run("ip netns del " + name(rack));
  run("ip link del " + prefix_ + "b");
}

std::vector<std::string> Namespaces::inside(std::uint32_t rack) const {
  const std::string ip = access("/usr/sbin/ip", X_OK) == 0 ? "/usr/sbin/ip"
                         : access("/sbin/ip", X_OK) == 0   ? "/sbin/ip"
                                                           : "/usr/bin/ip";
  return {ip, "netns", "exec", name(rack)};
}

void Namespaces::link(std::uint32_t rack, bool up) const {
  run("ip link set " + name(rack) + (up ? " up" : " down"));
}

void Namespaces::loss(std::uint32_t rack, double share) const {
  const std::string nft = "ip netns exec " + name(rack) + " nft ";
  run(nft + "delete table ip chaos");
  if (share <= 0) return;
  const auto below = static_cast<std::uint32_t>(share * 10'000);
  const std::string rule = " numgen random mod 10000 '<' " + std::to_string(below) + " drop";
  run(nft + "add table ip chaos");
  for (const std::string hook : {"input", "output"}) {
    run(nft + "add chain ip chaos " + hook + " '{ type filter hook " + hook + " priority 0; }'");
    run(nft + "add rule ip chaos " + hook + " ip protocol tcp" + rule);
  }
}

}  // namespace starling::chaos_live
