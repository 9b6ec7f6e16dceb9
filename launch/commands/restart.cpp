#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "launch/commands/commands.h"
#include "launch/commands/up.h"
#include "launch/exit_codes.h"
#include "launch/hosts/preflight.h"
#include "launch/session.h"
#include "launch/signals.h"
#include "launch/state_dir.h"

namespace starling {
namespace {

struct Options {
  std::string flock;
  std::uint32_t protocol = kNewestProtocol;
  std::vector<std::string> hosts;
};

/// The next host's turn is when everything is as it was.
Status ready(const Deployment& deployment) {
  auto session = Session::open(deployment);
  if (!session) return session.error();
  const auto broken = []() -> std::optional<std::string> {
    return stop_requested() ? std::optional<std::string>("interrupted") : std::nullopt;
  };
  return session.value()->wait_ready(std::chrono::seconds(60), broken);
}

/// Jobs go on meanwhile; the next executor takes them up again.
Status restart_host(const HostFlock& flock, const Remote& remote, const Host& host) {
  // A program that was there before this could be said stops all the same.
  if (!remote.ask(host, HostFlock::node_command(host, "stop --keep-jobs"))) {
    if (const auto s = remote.ask(host, HostFlock::node_command(host, "stop")); !s)
      return s.error();
  }
  if (Status s = bring_up_to_date(remote, host); !s.ok()) return s;
  const auto started = remote.ask(host, flock.keeper_command(host, "start"));
  return started ? done() : Status(started.error());
}

int restart(const Options& o) {
  const auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  const auto deployment = read_deployment(dir.value());
  if (!deployment) return failed(deployment.error());
  if (!is_host_flock(dir.value())) {
    return bad_input("restart: the flock in " + dir.value().string() +
                     " lives on this machine alone; 'starling down' and 'starling up'");
  }
  auto read = read_host_flock(dir.value());
  if (!read) return failed(read.error());
  HostFlock& flock = read.value();
  if (flock.way == Way::slurm)
    return bad_input("restart: the daemons of an allocation begin and end with its 'starling up'");
  flock.protocol = static_cast<std::uint16_t>(o.protocol);
  std::vector<const Host*> hosts;
  for (const std::string& name : o.hosts) {
    hosts.push_back(flock.find(name));
    if (hosts.back() == nullptr) return bad_input("restart: the flock has no host '" + name + "'");
  }
  if (hosts.empty()) {
    for (const Host& host : flock.hosts) hosts.push_back(&host);
  }
  catch_stop_signals();
  const auto place = StateDir::take(dir.value() / kRestartLock);
  if (!place) return bad_input("restart: " + place.error().message);
  const Remote remote(flock.way);
  // A host that is taken away from a flock that lacks one already may be one too many.
  if (const Status s = ready(deployment.value()); !s.ok())
    return work_failed("restart: the flock is not well: " + s.error().message);
  for (const Host* host : hosts) {
    const Instant began = Session::now();
    Status s = stop_requested() ? Status(Error{Errc::io, "interrupted"})
                                : restart_host(flock, remote, *host);
    if (s.ok()) s = ready(deployment.value());
    if (!s.ok()) return work_failed("restart: " + host->name + ": " + s.error().message);
    std::printf("%s: ready again after %.1f s\n", host->name.c_str(),
                seconds(Session::now() - began));
    std::fflush(stdout);
  }
  return kDone;
}

}  // namespace

void add_restart(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command = root.sub(
      "restart", "start the daemons of a flock on hosts anew with this program, host by host");
  command.option("--flock", o->flock, "DIR", "its directory; default $STARLING_FLOCK");
  command.option("--protocol", o->protocol, "N",
                 "newest version of the protocol that they speak (default 2)", kOldestProtocol,
                 kNewestProtocol);
  command.rest("HOST", o->hosts, "which ones (default: all)");
  command.examples({"starling restart --flock ~/flock", "starling restart --protocol 1 h1"});
  command.action([o] { return restart(*o); });
}

}  // namespace starling
