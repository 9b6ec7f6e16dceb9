#include "launch/servers/exchange.h"

#include <set>
#include <system_error>

#include "bus/flock.h"
#include "launch/deployment_check.h"
#include "launch/deployment_plan.h"
#include "launch/files.h"
#include "launch/log.h"
#include "launch/old_state.h"
#include "launch/servers/generations.h"
#include "launch/servers/held_partitions.h"
#include "launch/servers/newest_servers.h"
#include "launch/servers/own_numbers.h"
#include "launch/state_dir.h"
#include "topology/fingerprint.h"
#include "topology/load.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNext = "deployment.next.json";
constexpr const char* kBusy = "busy: ";

fs::path refusal_file(const fs::path& dir) { return dir / "servers" / "refused"; }

/// What has just been written.
Status durable(const fs::path& file, const Status& written) {
  return written.ok() ? make_durable(file) : written;
}

/// Free ports that no member has, whether or not it listens now.
Result<std::vector<std::string>> new_addresses(const Flock& members, std::size_t count) {
  std::set<std::string> used;
  for (const auto& [id, member] : members) {
    for (std::uint32_t i = 0; i < member.seats(); ++i) used.insert(member.seat(i).address);
  }
  const auto ports = free_ports(count + used.size());
  if (!ports) return ports.error();
  std::vector<std::string> addresses;
  for (const std::uint16_t port : ports.value()) {
    const std::string address = "tcp://127.0.0.1:" + std::to_string(port);
    if (addresses.size() < count && !used.contains(address)) addresses.push_back(address);
  }
  return addresses;
}

Status add_members(const Deployment& before, const NewServers& servers) {
  // A change of keys goes by the same file.
  const auto place = StateDir::take(before.dir / "rotation");
  if (!place) return place.error();
  const fs::path file = before.dir / "flock.json";
  auto members = read_flock(file);
  if (!members) return members.error();
  const auto addresses = new_addresses(members.value(), servers.new_executors.size());
  if (!addresses) return addresses.error();
  for (std::size_t i = 0; i < servers.new_executors.size(); ++i) {
    const DeployedNode& node = *servers.flock.find(servers.new_executors[i]);
    auto member = make_node(before, node, addresses.value()[i]);
    if (!member) return member.error();
    members.value()[node.id] = std::move(member).value();
  }
  return durable(file, write_flock(file, members.value()));
}

Result<std::vector<Record>> own_records(const DeployedNode& me, const fs::path& flock,
                                        const fs::path& dir) {
  std::error_code ignored;
  if (!fs::exists(dir / "journal.db", ignored)) return std::vector<Record>{};
  const auto state = StateDir::take(dir);
  if (!state) return state.error();
  auto journal = open_own_journal(me, flock, state.value());
  if (!journal) return journal.error();
  return journal.value()->recover();
}

/// Whether what the node has written down can be said with the servers of `next`.
Status can_go_over(const DeployedNode& me, const std::vector<Generation>& earlier,
                   const Deployment& next, const Topology& topology, HeldPartitions& held) {
  const bool in_etcd = me.role == Role::agent && !next.state.empty();
  const auto recovered =
      in_etcd ? held.take(me) : own_records(me, next.dir, next.node_dir(me.name) / "state");
  if (!recovered) return recovered.error();
  const auto records = in_new_numbers(me, earlier, next, topology, recovered.value());
  if (records) return done();
  return {records.error().code, me.name + ": " + records.error().message};
}

Status take(const fs::path& dir) {
  const auto now = read_deployment(dir);
  if (!now) return now.error();
  const auto next = read_deployment_in(dir, dir / kNext);
  if (!next) return next.error();
  if (next.value().generation != now.value().generation + 1)
    return {Errc::invalid, "the flock's servers have been changed otherwise meanwhile"};
  const auto topology = load_topology((dir / next.value().topology).string());
  if (!topology) return {Errc::invalid, topology.error().message};
  if (Status fits = fits_topology(next.value(), topology.value()); !fits.ok()) return fits;
  const auto earlier = earlier_generations(next.value());
  if (!earlier) return earlier.error();
  HeldPartitions held(now.value());
  // Executors first: whoever waits for something to end should not have taken anything.
  for (const Role role : {Role::executor, Role::agent}) {
    for (const DeployedNode* node : now.value().with_role(role)) {
      Status s = can_go_over(*node, earlier.value(), next.value(), topology.value(), held);
      if (!s.ok()) return s;
    }
  }
  if (Status s = held.still_held(); !s.ok()) return s;
  std::error_code failed;
  fs::rename(dir / kNext, dir / "deployment.json", failed);
  if (failed) return cannot("rename", dir / kNext, failed);
  if (Status s = make_durable(dir); !s.ok()) return s;
  // That is the change. Who is killed here leaves it to the next agent to say so.
  if (const Status known = newest_servers(next.value()); !known.ok())
    log_error("the servers are changed; etcd does not know yet: " + known.error().message);
  return done();
}

}  // namespace

Status prepare_servers(const Deployment& before, const NewServers& servers, const Topology& after) {
  const fs::path& dir = before.dir;
  if (Status s = make_folder(dir / "servers"); !s.ok()) return s;
  const fs::path topology = dir / servers.flock.topology;
  if (Status s = durable(topology, write_text(topology, to_yaml(after))); !s.ok()) return s;
  const auto again = load_topology(topology.string());
  if (!again || fingerprint_of(again.value()) != servers.flock.fingerprint)
    return {Errc::invalid, "a name in the topology cannot be written down; use letters and digits"};
  const fs::path earlier = generation_file(dir, before.generation);
  if (Status s = durable(earlier, write_deployment_in(earlier, before)); !s.ok()) return s;
  if (!servers.new_executors.empty()) {
    if (Status s = add_members(before, servers); !s.ok()) return s;
  }
  return make_durable(dir / "servers");
}

Status ask_for_servers(const Deployment& next) {
  std::error_code ignored;
  fs::remove(refusal_file(next.dir), ignored);
  // Whole on the disk before it is found, since a rename then makes it what the flock goes by.
  const fs::path whole = next.dir / "servers" / "next.json";
  if (Status s = durable(whole, write_deployment_in(whole, next)); !s.ok()) return s;
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
  const Status taken = take(dir);
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
