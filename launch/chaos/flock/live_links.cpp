// SPDX-License-Identifier: Apache-2.0
// The ways between the processes of a flock: a proxy for each, in place of the real address.
#include <cstdlib>
#include <utility>

#include "bus/flock.h"
#include "launch/chaos/flock/live_flock.h"
#include "store/etcd/etcd_address.h"

namespace starling::chaos_live {
namespace {

namespace fs = std::filesystem;

/// tcp://HOST:PORT
std::pair<std::string, std::uint16_t> host_and_port(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  return {address.substr(6, colon - 6),
          static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1))};
}
std::string tcp(const std::string& host, std::uint16_t port) {
  return "tcp://" + host + ":" + std::to_string(port);
}

}  // namespace

const LiveFlock::Process* LiveFlock::host_of(NodeId node, std::uint32_t seat) const {
  for (const DeployedNode& d : deployment_.nodes) {
    if (d.id != node) continue;
    const std::string host =
        d.role == starling::Role::agent
            ? "agent-" + std::to_string(host_of_seat(d.partition, seat, deployment_.agents()).value)
            : d.name;
    for (const Process& p : processes_) {
      if (p.name == host) return &p;
    }
  }
  return nullptr;
}

Status LiveFlock::make_links() {
  for (const DeployedNode& node : deployment_.nodes) {
    if (node.role == starling::Role::client) continue;
    Process p;
    p.role = node.role == starling::Role::agent ? Role::agent : Role::executor;
    p.rack = node.partition.value;
    p.name = node.name;
    p.number = static_cast<std::uint32_t>(std::atoi(node.name.c_str() + node.name.find('-') + 1));
    processes_.push_back(std::move(p));
  }
  const fs::path file = dir_ / "flock" / "flock.json";
  auto read = read_flock(file);
  if (!read) return read.error();
  Flock real = std::move(read).value();
  for (auto& [id, member] : real) {
    if (member.address.empty()) continue;
    for (std::uint32_t seat = 0; seat < member.seats(); ++seat) {
      std::string& address = seat == 0 ? member.address : member.standby[seat - 1].address;
      auto [host, port] = host_and_port(address);
      Process* at = const_cast<Process*>(host_of(id, seat));
      if (namespaces_) address = tcp(host = namespaces_->address(at->rack), port);
      if (seat == 0) at->host = host, at->port = port;
    }
  }
  if (namespaces_) {
    if (Status s = write_flock(file, real); !s.ok()) return s;
  }
  const auto link = [&](const Process& from, const std::string& to, const std::string& host,
                        std::uint16_t port) -> Result<std::uint16_t> {
    auto here = proxies_.add(here_, host, port);
    if (here) ends_.push_back({from.name, to});
    return here;
  };
  for (const Process& from : processes_) {
    if (from.role == Role::etcd) continue;
    Flock view = real;
    for (auto& [id, member] : view) {
      if (member.address.empty()) continue;
      for (std::uint32_t seat = 0; seat < member.seats(); ++seat) {
        const Process& to = *host_of(id, seat);
        const bool agent = from.role == Role::agent;
        // Executors speak to their own partition's agent alone; agents without seats elsewhere to
        // their own executors.
        const bool speaks =
            agent ? to.role == Role::agent || to.rack == from.rack || !deployment_.state.empty()
                  : to.role == Role::agent;
        if (to.name == from.name || !speaks) continue;
        std::string& address = seat == 0 ? member.address : member.standby[seat - 1].address;
        const auto [host, port] = host_and_port(address);
        auto here = link(from, to.name, host, port);
        if (!here) return here.error();
        address = tcp(here_, here.value());
      }
    }
    if (Status s = write_flock(dir_ / "members" / (from.name + ".json"), view); !s.ok()) return s;
    if (from.role != Role::agent || deployment_.state.empty()) continue;
    auto address = EtcdAddress::parse(deployment_.state);
    if (!address) return address.error();
    for (std::uint32_t i = 0; i < kEtcdMembers; ++i) {
      auto here = link(from, "etcd-" + std::to_string(i), here_, etcd_ports_[i]);
      if (!here) return here.error();
      address.value().members[i] = {here_, std::to_string(here.value())};
    }
    state_of_[from.name] = address.value().url();
  }
  wanted_.resize(ends_.size());
  applied_.resize(ends_.size());
  proxies_.start();
  return done();
}

std::vector<std::size_t> LiveFlock::links_of(const Process& from, const Process& to) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    if (ends_[i].from == from.name && ends_[i].to == to.name) found.push_back(i);
  }
  return found;
}

void LiveFlock::apply_links() {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (wanted_[i] == applied_[i]) continue;
    proxies_.set(i, applied_[i] = wanted_[i]);
  }
}

}  // namespace starling::chaos_live
