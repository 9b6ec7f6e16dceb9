// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/exchange.h"

#include <map>
#include <set>
#include <system_error>

#include "bus/flock.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/deployment/state_dir.h"
#include "launch/servers/generations.h"
#include "launch/servers/held_partitions.h"
#include "launch/servers/newest_servers.h"
#include "launch/servers/trial.h"
#include "launch/system/files.h"
#include "launch/system/log.h"
#include "topology/file/load.h"
#include "topology/fingerprint.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNext = "deployment.next.json";
constexpr const char* kBusy = "busy: ";

fs::path refusal_file(const fs::path& dir) { return dir / "servers" / "refused"; }

/// Free addresses that no member has, whether or not it listens now.
Result<AddressBook> new_addresses(const Flock& members, const AddressSource& source,
                                  const std::map<std::string, std::size_t>& wanted) {
  std::set<std::string> used;
  for (const auto& [id, member] : members) {
    for (std::uint32_t i = 0; i < member.seats(); ++i) used.insert(member.seat(i).address);
  }
  std::map<std::string, std::size_t> asked = wanted;
  for (auto& [host, count] : asked) count += used.size();
  auto book = source(asked);
  if (!book) return book;
  for (auto& [host, addresses] : book.value())
    std::erase_if(addresses, [&](const std::string& address) { return used.contains(address); });
  return book;
}

Status add_members(const Deployment& before, const NewServers& servers,
                   const AddressSource& source) {
  // A change of keys goes by the same file.
  const auto place = StateDir::take(before.dir / "rotation");
  if (!place) return place.error();
  const fs::path file = before.dir / "flock.json";
  auto members = read_flock(file);
  if (!members) return members.error();
  std::map<std::string, std::size_t> wanted;
  for (const std::string& name : servers.new_executors) ++wanted[servers.flock.find(name)->host];
  auto addresses = new_addresses(members.value(), source, wanted);
  if (!addresses) return addresses.error();
  for (const std::string& name : servers.new_executors) {
    const DeployedNode& node = *servers.flock.find(name);
    std::vector<std::string>& free = addresses.value()[node.host];
    if (free.empty()) return {Errc::io, node.host + ": too few free ports"};
    auto member = make_node(before, node, free.back());
    if (!member) return member.error();
    free.pop_back();
    members.value()[node.id] = std::move(member).value();
  }
  return durably(file, write_flock(file, members.value()));
}

Status take(const fs::path& dir) {
  const auto now = read_deployment(dir);
  if (!now) return now.error();
  const auto next = read_deployment_in(dir, dir / kNext);
  if (!next) return next.error();
  HeldPartitions held(now.value());
  if (Status s = try_servers(now.value(), next.value(), "", held); !s.ok()) return s;
  if (Status s = rename_durably(dir / kNext, dir / "deployment.json"); !s.ok()) return s;
  // That is the change. One that is killed here leaves it to the next agent to say so.
  if (const Status known = newest_servers(next.value()); !known.ok())
    log_error("the servers are changed; etcd does not know yet: " + known.error().message);
  return done();
}

}  // namespace

Status prepare_servers(const Deployment& before, const NewServers& servers, const Topology& after,
                       const AddressSource& addresses) {
  const fs::path& dir = before.dir;
  if (Status s = make_folder(dir / "servers"); !s.ok()) return s;
  const fs::path topology = dir / servers.flock.topology;
  if (Status s = durably(topology, write_text(topology, to_yaml(after))); !s.ok()) return s;
  const auto again = load_topology(topology.string());
  if (!again || fingerprint_of(again.value()) != servers.flock.fingerprint)
    return {Errc::invalid, "a name in the topology cannot be written down; use letters and digits"};
  const fs::path earlier = generation_file(dir, before.generation);
  if (Status s = durably(earlier, write_deployment_in(earlier, before)); !s.ok()) return s;
  if (!servers.new_executors.empty()) {
    if (Status s = add_members(before, servers, addresses); !s.ok()) return s;
  }
  return make_durable(dir / "servers");
}

Status ask_for_servers(const Deployment& next) {
  std::error_code ignored;
  fs::remove(refusal_file(next.dir), ignored);
  // Whole on the disk before it is found, since a rename then makes it what the flock goes by.
  const fs::path whole = next.dir / "servers" / "next.json";
  if (Status s = durably(whole, write_deployment_in(whole, next)); !s.ok()) return s;
  std::error_code failed;
  fs::rename(whole, next.dir / kNext, failed);
  if (failed) return cannot("rename", whole, failed);
  return done();
}

bool servers_are_asked_for(const fs::path& dir) {
  std::error_code ignored;
  return fs::exists(dir / kNext, ignored);
}

bool withdraw_servers(const fs::path& dir) {
  std::error_code failed;
  return fs::remove(dir / kNext, failed) && !failed;
}

Status take_servers(const fs::path& dir) {
  Status taken = take(dir);
  if (taken.ok()) return taken;
  const bool busy = taken.error().code == Errc::busy;
  (void)write_text(refusal_file(dir), (busy ? kBusy : "") + taken.error().message);
  (void)withdraw_servers(dir);
  return taken;
}

Status why_servers_were_refused(const fs::path& dir) {
  const auto text = read_text(refusal_file(dir));
  if (!text) return done();
  const std::string busy = kBusy;
  if (!text.value().starts_with(busy)) return {Errc::invalid, text.value()};
  return {Errc::busy, text.value().substr(busy.size())};
}

Status tidy_servers(const Deployment& now) {
  const auto earlier = earlier_generations(now);
  if (!earlier) return earlier.error();
  std::set<NodeId> gone;
  for (const Generation& was : earlier.value()) {
    for (const DeployedNode* node : was.flock.with_role(Role::executor)) {
      if (now.find(node->name) == nullptr) gone.insert(node->id);
    }
  }
  if (gone.empty()) return done();
  const auto place = StateDir::take(now.dir / "rotation");
  if (!place) return place.error();
  auto members = read_flock(now.dir / "flock.json");
  if (!members) return members.error();
  const std::size_t removed = std::erase_if(
      members.value(), [&](const auto& member) { return gone.contains(member.first); });
  return removed == 0 ? done() : write_flock(now.dir / "flock.json", members.value());
}

}  // namespace starling
