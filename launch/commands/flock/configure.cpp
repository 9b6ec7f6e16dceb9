// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/flock/configure_servers.h"
#include "launch/commands/flock/up.h"
#include "launch/deployment/flock_owner.h"
#include "launch/deployment/state_dir.h"
#include "launch/flock/flock_restart.h"
#include "launch/hosts/preflight.h"
#include "launch/servers/exchange.h"
#include "launch/system/signals.h"
#include "launch/wiring/wiring.h"
#include "scheduling/policy.h"

namespace starling {
namespace {

/// Executors let as many jobs on a GPU as the policy that their flock had at their start.
bool executors_care(const Deployment& before, const Deployment& after) {
  const auto policies = all_policies();
  const auto was = policies.make(before.policy), is = policies.make(after.policy);
  const bool full = before.full_physics();
  return !was || !is ||
         jobs_per_gpu(was.value()->facts(), full) != jobs_per_gpu(is.value()->facts(), full);
}

Status spread(const Deployment& flock) {
  if (Status s = write_deployment(flock); !s.ok() || !is_host_flock(flock.dir)) return s;
  const auto hosts = read_host_flock(flock.dir);
  if (!hosts) return hosts.error();
  const Remote remote(hosts.value().way);
  std::vector<std::string> wrong(hosts.value().hosts.size());
  for_each_at_once(hosts.value().hosts.size(), [&](std::size_t i) {
    const Host& host = hosts.value().hosts[i];
    const Status s = copy_files(hosts.value(), remote, host, {"deployment.json"});
    if (!s.ok()) wrong[i] = host.name + ": " + s.error().message;
  });
  return together(wrong);
}

bool is_up(const Deployment& flock) { return is_host_flock(flock.dir) || is_kept(flock.dir); }

Status begin_anew(const Deployment& before, const Deployment& after) {
  if (is_host_flock(after.dir)) return restart_hosts(after, {}, kNewestProtocol, print_restarted);
  std::vector<std::string> names;
  for (const DeployedNode* node : after.with_role(Role::agent)) names.push_back(node->name);
  if (executors_care(before, after)) {
    for (const DeployedNode* node : after.with_role(Role::executor)) names.push_back(node->name);
  }
  return restart_here(after, names, print_restarted);
}

int configure(UpOptions& o, const ServersOptions& servers) {
  const auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  auto read = read_deployment(dir.value());
  if (!read) return failed(read.error());
  const bool changes = servers.topology.empty() ? !o.given.empty() : !servers.dry_run;
  if (changes) {
    if (const Status may = may_manage(dir.value(), "configure"); !may.ok())
      return failed(may.error());
  }
  if (!servers.topology.empty()) {
    if (!o.given.empty())
      return bad_input("configure: --topology goes alone; change policy and speed model after it");
    return configure_servers(dir.value(), servers);
  }
  if (o.given.empty()) {
    const Deployment& flock = read.value();
    std::printf("policy %s\nspeed %s\ntopology %s\n", flock.policy.c_str(),
                flock.speed.empty() ? "by default" : flock.speed.c_str(),
                (flock.dir / flock.topology).c_str());
    return kDone;
  }
  // Of two commands at once the later would put back what the earlier has changed.
  const auto place = StateDir::take(dir.value() / "configure");
  if (!place) return bad_input("configure: " + place.error().message);
  if (servers_are_asked_for(dir.value())) {
    return work_failed(
        "configure: nothing is changed: the flock is about to get other servers; 'starling "
        "configure --topology FILE' finishes that, or gives it up with the servers that it has");
  }
  read = read_deployment(dir.value());
  if (!read) return failed(read.error());
  const Deployment& before = read.value();
  Deployment after = before;
  if (o.given.contains("--policy")) {
    if (auto policy = all_policies().make(o.policy); !policy)
      return bad_input("configure: --policy: " + policy.error().message);
    after.policy = o.policy;
  }
  if (o.given.contains("--speed")) {
    o.launcher = before.launcher;
    o.physics = before.physics;
    auto speed = usable_speed(o);
    if (!speed) return bad_input("configure: --speed: " + speed.error().message);
    after.speed = std::move(speed).value();
  }
  if (after.policy == before.policy && after.speed == before.speed) {
    std::printf("nothing changes\n");
    return kDone;
  }
  catch_stop_signals();
  const bool up = is_up(before);
  if (const Status s = up ? flock_is_well(before) : done(); !s.ok())
    return work_failed("configure: nothing is changed, for the flock is not well: " +
                       s.error().message);
  Status s = spread(after);
  if (s.ok() && up) s = begin_anew(before, after);
  if (s.ok()) return kDone;
  const Status undone = spread(before);
  return work_failed("configure: " + s.error().message + "; the flock's description is " +
                     (undone.ok() ? "what it was: 'starling restart' makes all daemons go by it"
                                  : "half changed: " + undone.error().message));
}

}  // namespace

void add_configure(const Command& root) {
  const auto o = std::make_shared<UpOptions>();
  const auto servers = std::make_shared<ServersOptions>();
  const Command command = root.sub(
      "configure", "another policy, speed model or servers for a flock, which may be running");
  command.option("--flock", o->flock, "DIR", "its directory; default $STARLING_FLOCK");
  command.option("--policy", o->policy, "NAME[:k=v,..]", "see 'starling policies'");
  command.option("--speed", o->speed, "MODEL", "as of 'starling up'");
  command.option(
      "--topology", servers->topology, "FILE",
      "its servers from now on: those that leave or change are drained first, jobs on the "
      "others go on");
  command.option("--hosts", servers->hosts, "FILE",
                 "with --topology, for a flock on hosts: on which of them each server is");
  command.flag("--dry-run", servers->dry_run, "with --topology: say what would change");
  command.flag("--evict", servers->evict,
               "with --topology: requeue what runs on servers that leave, instead of waiting for "
               "its end");
  command.option("--drain-timeout", servers->drain_timeout_s, "S",
                 "with --topology: seconds to wait for that (default: as long as it takes)", 0.0);
  command.option("--servers-per-executor", servers->servers_per_executor, "N",
                 "with --topology: of new executors (default: as many as others have)", 1U,
                 65'536U);
  command.examples({"starling configure --policy tetris",
                    "starling configure --topology more.yaml --dry-run",
                    "starling configure --topology fewer.yaml --evict", "starling configure"});
  command.action([o, servers, command] {
    for (const char* name :
         {"--hosts", "--dry-run", "--evict", "--drain-timeout", "--servers-per-executor"}) {
      if (command.given(name) && servers->topology.empty())
        return bad_input(std::string("configure: ") + name + " goes with --topology");
    }
    for (const char* name : {"--policy", "--speed"}) {
      if (command.given(name)) o->given.insert(name);
    }
    return configure(*o, *servers);
  });
}

}  // namespace starling
