// SPDX-License-Identifier: Apache-2.0
// The members of etcd that a flock has its state in.
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "launch/chaos/flock/live_flock.h"
#include "launch/deployment/deployment_plan.h"
#include "store/etcd/etcd_client.h"

namespace starling::chaos_live {
namespace {

namespace fs = std::filesystem;

fs::path program_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "/usr/bin:/bin" : path;
  rest += ":/usr/sbin:/usr/local/bin:";
  for (std::size_t end = 0; (end = rest.find(':')) != std::string::npos; rest.erase(0, end + 1)) {
    fs::path candidate = fs::path(rest.substr(0, end)) / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace

Status LiveFlock::start_etcd() {
  etcd_program_ = program_in_path("etcd");
  if (etcd_program_.empty())
    return {Errc::unsupported, "no etcd is installed; 'launch/setup --tests' installs it"};
  auto ports = free_ports(std::size_t{2} * kEtcdMembers);
  if (!ports) return ports.error();
  etcd_ports_ = std::move(ports).value();
  for (std::uint32_t i = 0; i < kEtcdMembers; ++i) {
    Process p;
    p.role = Role::etcd;
    p.number = i;
    p.rack = ~0U;
    p.name = "etcd-" + std::to_string(i);
    p.host = here_;
    p.port = etcd_ports_[i];
    processes_.push_back(std::move(p));
  }
  for (Process& p : processes_) {
    if (Status s = run(p); !s.ok()) return s;
  }
  // It has a leader once it answers.
  EtcdAddress address;
  for (std::uint32_t i = 0; i < kEtcdMembers; ++i)
    address.members.emplace_back(here_, std::to_string(etcd_ports_[i]));
  EtcdClient client(address, {std::chrono::seconds(60), std::chrono::seconds(2)});
  const auto answer = client.range("/", "0", 1);
  return answer ? done() : Status(answer.error());
}

std::vector<std::string> LiveFlock::etcd_words(std::uint32_t member) const {
  const auto url = [&](std::uint16_t port) {
    return "http://" + here_ + ":" + std::to_string(port);
  };
  const auto peer_port = [&](std::uint32_t i) { return etcd_ports_[kEtcdMembers + i]; };
  std::string cluster;
  for (std::uint32_t i = 0; i < kEtcdMembers; ++i)
    cluster += (i > 0 ? ",m" : "m") + std::to_string(i) + "=" + url(peer_port(i));
  const std::string name = "m" + std::to_string(member);
  return {etcd_program_.string(),
          "--name",
          name,
          "--data-dir",
          (dir_ / "etcd" / name).string(),
          "--listen-client-urls",
          url(etcd_ports_[member]),
          "--advertise-client-urls",
          url(etcd_ports_[member]),
          "--listen-peer-urls",
          url(peer_port(member)),
          "--initial-advertise-peer-urls",
          url(peer_port(member)),
          "--initial-cluster",
          cluster,
          "--heartbeat-interval",
          "100",
          "--election-timeout",
          "1000",
          "--auto-compaction-retention",
          "5m",
          "--log-level",
          "error"};
}

}  // namespace starling::chaos_live
