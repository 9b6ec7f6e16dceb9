// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/flock/up_again.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

#include "base/short_number.h"
#include "bus/flock.h"
#include "interference/models/speed_choice.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/deployment/state_dir.h"
#include "launch/hardware/health_options.h"
#include "launch/system/dates.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "topology/file/load.h"

namespace starling {
namespace {

/// The etcd of "etcd://HOST:PORT,.../FLOCK".
std::string without_flock(const std::string& state) { return state.substr(0, state.rfind('/')); }

std::string speed_text(const std::string& speed) {
  if (speed.empty()) return "analytic with --physics full";
  const auto choice = parse_speed(speed);
  return choice ? text_of(choice.value()) : speed;
}

bool same_servers(const std::vector<const DeployedNode*>& there,
                  const std::vector<DeployedNode>& asked) {
  if (there.size() != asked.size()) return false;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (there[i]->servers.first != asked[i].servers.first ||
        there[i]->servers.last != asked[i].servers.last)
      return false;
  }
  return true;
}

/// Standbys that its agents have, of a flock in etcd.
Result<std::uint32_t> standbys_of(const Deployment& flock) {
  const auto members = read_flock(flock.dir / "flock.json");
  if (!members) return members.error();
  std::size_t most = 0;
  for (const auto& [id, member] : members.value()) most = std::max(most, member.standby.size());
  return static_cast<std::uint32_t>(most);
}

/// Servers of the largest executor; empty: with `asked` each would have those that it has.
std::string other_size(std::uint32_t asked, const Deployment& flock, const Topology& topology) {
  const auto there = flock.with_role(Role::executor);
  std::vector<std::string> hosts(topology.server_count());
  std::uint32_t most = 0;
  for (const DeployedNode* executor : there) {
    const std::uint32_t last = std::min(executor->servers.last, topology.server_count());
    for (std::uint32_t s = executor->servers.first; s < last; ++s) hosts[s] = executor->host;
    most = std::max(most, executor->servers.last - executor->servers.first);
  }
  if (asked == most) return {};
  const auto nodes = executor_nodes(topology, flock.agents(), asked, hosts);
  return nodes && !same_servers(there, nodes.value()) ? std::to_string(most) : std::string();
}

/// "--policy tetris, which is fifo; ..."; empty: nothing is asked for that the flock is not.
Result<std::string> what_differs(const UpOptions& o, const Deployment& flock,
                                 const Topology& topology) {
  std::string wrong;
  const auto differs = [&](const char* option, const std::string& asked, const std::string& is) {
    if (!o.given.contains(option) || asked == is) return;
    wrong += std::string(wrong.empty() ? "" : "; ") + option + " " + asked + ", which is " + is;
  };
  differs("--policy", o.policy, flock.policy);
  differs("--launcher", o.launcher, flock.launcher);
  differs("--physics", o.physics, flock.physics);
  differs("--speed", speed_text(o.speed), speed_text(flock.speed));
  differs("--speedup", short_number(o.speedup), short_number(flock.speedup));
  if (o.adopt) wrong = "--adopt, which is for a flock whose directory is lost";
  if (o.state != flock.state)  // with or without the flock's name in etcd
    differs("--state", o.state, flock.state.empty() ? "its directory" : without_flock(flock.state));
  differs("--etcd-user", o.etcd.user, flock.etcd.user.empty() ? "none" : flock.etcd.user);
  const auto file_differs = [&](const char* option, const std::string& asked,
                                const std::string& kept) {
    if (!o.given.contains(option)) return;
    const auto now = read_text(asked), is = read_text(flock.dir / kept);
    if (kept.empty() || !now || !is || now.value() != is.value())
      differs(option, asked,
              kept.empty() ? "none" : "another (" + (flock.dir / kept).string() + ")");
  };
  file_differs("--health", o.health, kHealthFile);
  file_differs("--etcd-ca", o.etcd.ca, flock.etcd.ca);
  file_differs("--etcd-cert", o.etcd.certificate, flock.etcd.certificate);
  file_differs("--etcd-key", o.etcd.key, flock.etcd.key);
  file_differs("--etcd-password-file", o.etcd.password, flock.etcd.password);
  const std::string agents = std::to_string(flock.agents());
  // With fewer agents than partitions the members are others than at the start.
  if (o.given.contains("--partitions"))
    differs("--partitions", std::to_string(o.partitions), agents);
  else if (flock.state.empty())
    differs("--agents", std::to_string(o.agents), agents);
  if (o.given.contains("--topology")) {
    const auto asked = load_topology(o.topology);
    if (!asked) return asked.error();
    if (to_yaml(asked.value()) != to_yaml(topology))
      differs("--topology", o.topology, "another data centre");
  }
  // After 'configure' executors have what they had, and new ones what is new.
  if (o.given.contains("--servers-per-executor") && flock.generation == 1) {
    const std::string is = other_size(o.servers_per_executor, flock, topology);
    if (!is.empty()) differs("--servers-per-executor", std::to_string(o.servers_per_executor), is);
  }
  if (o.given.contains("--standbys") && !flock.state.empty()) {
    const auto is = standbys_of(flock);
    if (!is) return is.error();
    // More than there are other agents are as many as there are, as it is with fewer agents than
    // partitions (up_plan.cpp).
    const std::uint32_t most = flock.agents() == 0 ? 0 : flock.agents() - 1;
    const std::uint32_t asked = o.partitions > o.agents ? most : std::min(o.standbys, most);
    if (asked != is.value() && std::min(o.standbys, most) != is.value())
      differs("--standbys", std::to_string(o.standbys), std::to_string(is.value()));
  }
  return wrong;
}

/// Of tcp://A:P with an IPv4 address: whether a process listens there. What is over does not count,
/// as it does not for the daemons that will listen.
bool is_taken(const std::string& at) {
  const std::string prefix = "tcp://";
  const auto colon = at.rfind(':');
  if (!at.starts_with(prefix) || colon <= prefix.size()) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(at.c_str() + colon + 1)));
  const std::string host = at.substr(prefix.size(), colon - prefix.size());
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return false;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool taken = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
                     errno == EADDRINUSE;
  close(fd);
  return taken;
}

constexpr const char* kChanges = "'starling configure' changes policy, speed model and servers";

}  // namespace

Status fits_flock(const UpOptions& o, const Deployment& flock, const Topology& topology) {
  const auto wrong = what_differs(o, flock, topology);
  if (!wrong) return {Errc::invalid, "up: " + wrong.error().message};
  if (wrong.value().empty()) return done();
  return {Errc::invalid, "up: the flock in " + flock.dir.string() +
                             " is there already, and is not changed by this command: it was asked "
                             "for " +
                             wrong.value() + "; leave that out (" + kChanges +
                             "), or give another --flock"};
}

Status is_free(const Deployment& flock, Duration patience) {
  const auto members = read_flock(flock.dir / "flock.json");
  if (!members) return members.error();
  std::vector<std::string> places;
  for (const DeployedNode& node : flock.nodes) {
    const auto member = members.value().find(node.id);
    if (node.role != Role::client && member != members.value().end())
      places.push_back(member->second.address);
  }
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    std::vector<std::string> taken;
    for (const std::string& place : places) {
      if (is_taken(place)) taken.push_back(place);
    }
    if (taken.size() * 2 <= places.size()) return done();
    if (std::chrono::steady_clock::now() >= until) {
      return {Errc::conflict,
              "up: " + std::to_string(taken.size()) + " of the " + std::to_string(places.size()) +
                  " ports of the flock in " + flock.dir.string() +
                  " are in use, though it is not up (" + taken.front() +
                  "): is that directory a copy of another, whose flock is up? End that one first "
                  "('starling down' there), or work with it"};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

Error is_up_already(const UpOptions& o, const std::filesystem::path& dir, const Error& why) {
  const auto place = dir / "supervisor";
  struct stat info {};
  if (why.code != Errc::conflict || ::stat((place / "in-use").c_str(), &info) != 0)
    return {why.code, "up: " + why.message};
  // The process that takes the lock writes its number there.
  const Date since = std::chrono::system_clock::from_time_t(info.st_mtime);
  std::string text = "up: the flock in " + dir.string() + " is up already, since " +
                     formatted(since, "%Y-%m-%d %H:%M:%S", Zone::local);
  if (const auto pid = StateDir::holder(place)) text += " (process " + std::to_string(*pid) + ")";
  const auto flock = read_deployment(dir);
  if (flock && !o.given.empty()) {
    const auto topology = load_topology((dir / flock.value().topology).string());
    const auto wrong = topology ? what_differs(o, flock.value(), topology.value())
                                : Result<std::string>(topology.error());
    if (!wrong) {
      text += ", and what was asked for cannot be compared: " + wrong.error().message;
    } else if (wrong.value().empty()) {
      text += ", and what was asked for is what it has";
    } else {
      text += ", and is not changed by this command: it was asked for " + wrong.value() + " (" +
              kChanges + ")";
    }
  }
  return {Errc::conflict, text +
                              "; 'starling top' shows it, 'starling restart' takes a new "
                              "program to it, 'starling down' ends it"};
}

}  // namespace starling
