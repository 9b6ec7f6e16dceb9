// SPDX-License-Identifier: Apache-2.0
#include "launch/flock/flock_restart.h"

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "launch/client/session.h"
#include "launch/deployment/flock_folder.h"
#include "launch/deployment/state_dir.h"
#include "launch/hosts/host_servers.h"
#include "launch/hosts/preflight.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

constexpr Duration kPatience = std::chrono::seconds(60);

/// The process that uses a node's state; nullopt: none does.
std::optional<pid_t> process_of(const Deployment& flock, const std::string& name) {
  const auto pid = StateDir::holder(flock.node_dir(name) / "state");
  return pid && ::kill(*pid, 0) == 0 ? pid : std::nullopt;
}

/// Until another process has the node's state, or it has taken too long.
Status wait_for_next(const Deployment& flock, const std::string& name, pid_t before) {
  const Instant until = later(Session::now(), kPatience);
  for (;;) {
    const auto now = process_of(flock, name);
    if (now && *now != before) return done();
    if (stop_requested()) return {Errc::io, "interrupted; " + name + " may be down"};
    if (Session::now() > until)
      return {Errc::not_ready, name + " was not started again; 'starling top' says why"};
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

/// Jobs go on meanwhile; the next executor takes them up again.
Status restart_host(const HostFlock& flock, const Remote& remote, const Host& host) {
  // A program that was there before this could be said stops all the same.
  if (!remote.ask(host, HostFlock::node_command(host, "stop --keep-jobs"))) {
    if (const auto s = remote.ask(host, HostFlock::node_command(host, "stop")); !s)
      return s.error();
  }
  if (Status s = bring_up_to_date(remote, host); !s.ok()) return s;
  const auto started = start_keeper(flock, remote, host);
  return started ? done() : Status(started.error());
}

}  // namespace

void print_restarted(const std::string& name, double took_s) {
  std::printf("%s: ready again after %.1f s\n", name.c_str(), took_s);
  std::fflush(stdout);
}

bool is_kept(const std::filesystem::path& dir) { return !StateDir::take(dir / "supervisor").ok(); }

Status flock_is_well(const Deployment& flock) {
  auto session = Session::open(flock);
  if (!session) return session.error();
  const auto broken = []() -> std::optional<std::string> {
    return stop_requested() ? std::optional<std::string>("interrupted") : std::nullopt;
  };
  return session.value()->wait_ready(kPatience, broken);
}

Status restart_here(const Deployment& flock, const std::vector<std::string>& names,
                    const Restarted& tell) {
  if (!is_kept(flock.dir))
    return {Errc::not_ready, "the flock in " + flock.dir.string() +
                                 " is not up; 'starling up' starts it with this program"};
  const auto place = StateDir::take(flock.dir / kRestartLock);
  if (!place) return place.error();
  if (const Status s = flock_is_well(flock); !s.ok())
    return {s.error().code, "the flock is not well: " + s.error().message};
  for (const std::string& name : names) {
    const Instant began = Session::now();
    const auto before = process_of(flock, name);
    if (before) ::kill(*before, SIGUSR1);
    if (Status s = wait_for_next(flock, name, before.value_or(0)); !s.ok()) return s;
    if (const Status s = flock_is_well(flock); !s.ok())
      return {s.error().code, name + ": " + s.error().message};
    tell(name, seconds(Session::now() - began));
  }
  return done();
}

Status restart_hosts(const Deployment& deployment, const std::vector<std::string>& names,
                     std::uint16_t protocol, const Restarted& tell) {
  auto read = read_host_flock(deployment.dir);
  if (!read) return read.error();
  HostFlock& flock = read.value();
  if (flock.way == Way::slurm) {
    return {Errc::unsupported, "the daemons of an allocation begin and end with its 'starling up'"};
  }
  flock.protocol = protocol;
  std::vector<const Host*> hosts;
  for (const std::string& name : names) {
    hosts.push_back(flock.find(name));
    if (hosts.back() == nullptr) return {Errc::invalid, "the flock has no host '" + name + "'"};
  }
  if (hosts.empty()) {
    for (const Host& host : flock.hosts) hosts.push_back(&host);
  }
  const auto place = StateDir::take(deployment.dir / kRestartLock);
  if (!place) return place.error();
  const Remote remote(flock.way);
  // A host that is taken away from a flock that lacks one already may be one too many.
  if (const Status s = flock_is_well(deployment); !s.ok())
    return {s.error().code, "the flock is not well: " + s.error().message};
  for (const Host* host : hosts) {
    const Instant began = Session::now();
    Status s = stop_requested() ? Status(Error{Errc::io, "interrupted"})
                                : restart_host(flock, remote, *host);
    if (s.ok()) s = flock_is_well(deployment);
    if (!s.ok()) return {s.error().code, host->name + ": " + s.error().message};
    tell(host->name, seconds(Session::now() - began));
  }
  return done();
}

}  // namespace starling
