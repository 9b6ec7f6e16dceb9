// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/flock/configure_servers.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "base/counted.h"
#include "bus/flock.h"
#include "launch/client/flock_client.h"
#include "launch/client/job_lookup.h"
#include "launch/client/placeable.h"
#include "launch/client/session.h"
#include "launch/command_line/exit_codes.h"
#include "launch/deployment/state_dir.h"
#include "launch/flock/flock_restart.h"
#include "launch/hosts/coming_hosts.h"
#include "launch/hosts/host_servers.h"
#include "launch/hosts/key_rotation.h"
#include "launch/runs/run_options.h"
#include "launch/servers/exchange.h"
#include "launch/servers/generations.h"
#include "launch/servers/trial.h"
#include "launch/system/signals.h"
#include "topology/file/load.h"

namespace starling {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(200);
/// Until the flock's keeper has ended all daemons and looked at what they wrote.
constexpr Duration kTaken = std::chrono::seconds(120);
/// Until daemons go by the new list of members.
constexpr std::chrono::seconds kPublished{20};

/// The end of a command's patience.
class Patience {
 public:
  explicit Patience(double s) : until_(s > 0 ? later(Session::now(), from_seconds(s)) : kNever) {}
  [[nodiscard]] bool over() const { return Session::now() >= until_; }

 private:
  Instant until_;
};

/// Above every executor that there ever was.
Result<std::uint32_t> first_unused(const Deployment& flock) {
  const auto earlier = earlier_generations(flock);
  if (!earlier) return earlier.error();
  std::uint32_t next = 0;
  const auto look = [&](const Deployment& d) {
    for (const DeployedNode* node : d.with_role(Role::executor))
      next = std::max(next, node->id.value - executor_node(0).value + 1);
  };
  look(flock);
  for (const Generation& was : earlier.value()) look(was.flock);
  return next;
}

/// Everything that one call goes by.
struct Change {
  Deployment before;
  Topology old_topology, new_topology;
  NewServers servers;
};

/// What keeps the flock, and how it goes over: one machine, or hosts.
struct Keeping {
  bool runs = false;
  std::optional<HostFlock> hosts;
  std::unique_ptr<Remote> remote;
};

Result<Change> change_of(const Deployment& flock, const Topology& before, Topology after,
                         const Keeping& keeping, const ServersOptions& o) {
  const auto unused = first_unused(flock);
  if (!unused) return unused.error();
  const std::uint32_t each =
      o.servers_per_executor > 0 ? o.servers_per_executor : usual_servers_per_executor(flock);
  std::vector<std::string> where;
  if (keeping.hosts) {
    auto found = coming_hosts(*keeping.hosts, flock, before, after, o.hosts);
    if (!found) return found.error();
    where = std::move(found).value();
  }
  auto servers = plan_servers(flock, before, after, each, unused.value(), where);
  if (!servers) return servers.error();
  // Those of hosts are there, and looked at there.
  if (Status s = health_files_allow(flock, "", before, after); !s.ok()) return s.error();
  return Change{flock, before, std::move(after), std::move(servers).value()};
}

/// Nothing new is placed on the servers from here on, and what runs there ends, by itself or not.
Status empty_servers(const Change& change, const ServersOptions& o, const Patience& patience) {
  const std::vector<ServerId> leaving = to_be_drained(change.servers.change);
  if (leaving.empty()) return done();
  auto found = FlockClient::open(change.before.dir);
  if (!found) return found.error();
  FlockClient& flock = *found.value();
  std::map<ServerId, std::uint64_t> versions;
  std::optional<std::size_t> told;
  for (;;) {
    std::size_t left = 0, busy = 0;
    for (const ServerId server : leaving) {
      const std::uint64_t version = versions.contains(server) ? versions[server] : 0;
      const auto state = flock.drain({server, true, o.evict, version});
      const std::string& name = flock.topology().server(server).name;
      if (stop_requested()) return {Errc::io, "interrupted; the servers stay drained"};
      if (!state) return {state.error().code, name + ": " + state.error().message};
      versions[server] = state.value().version;
      left += state.value().attempts;
      busy += state.value().attempts > 0 ? 1U : 0U;
    }
    if (left == 0) return done();
    if (told != left) {
      std::printf("%s on %s; waiting for %s\n", counted(left, "attempt").c_str(),
                  counted(busy, "server").c_str(),
                  o.evict ? "their end" : "them to end (--evict requeues them)");
      std::fflush(stdout);
    }
    told = left;
    if (patience.over()) {
      return {Errc::busy, counted(left, "attempt") +
                              " still there; the servers stay drained: run this again, with "
                              "--evict to requeue them, or 'starling drain SERVER --undo'"};
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

/// Until the flock's keeper has done what is asked for, or has refused.
Status wait_until_taken(const std::filesystem::path& dir, std::uint32_t generation) {
  const Instant until = later(Session::now(), kTaken);
  while (servers_are_asked_for(dir)) {
    // Only a keeper that has not begun with it lets go of it.
    if ((stop_requested() || Session::now() > until) && withdraw_servers(dir)) {
      return {Errc::not_ready, stop_requested()
                                   ? "interrupted; nothing is changed"
                                   : "the flock's keeper does not do it; was it started by an "
                                     "earlier program? end it and start it with 'starling up'"};
    }
    std::this_thread::sleep_for(kPollEvery);
  }
  const auto now = read_deployment(dir);
  if (!now) return now.error();
  if (now.value().generation >= generation) return done();
  const Status why = why_servers_were_refused(dir);
  return why.ok() ? Status(Error{Errc::conflict, "another command has withdrawn the change"}) : why;
}

/// One try.
Status go_over(const Change& change, Keeping& keeping) {
  const std::filesystem::path& dir = change.before.dir;
  if (keeping.hosts) {
    return go_over_on_hosts(*keeping.hosts, *keeping.remote, change.before, change.servers,
                            change.new_topology, keeping.runs);
  }
  if (Status s = prepare_servers(change.before, change.servers, change.new_topology); !s.ok())
    return s;
  if (Status s = ask_for_servers(change.servers.flock); !s.ok()) return s;
  auto place = StateDir::take(dir / "supervisor");
  if (place) return take_servers(dir);
  return wait_until_taken(dir, change.servers.flock.generation);
}

/// Jobs that wait are not refused for what comes after them, but their users should hear of it.
void warn_of_misfits(const Deployment& flock, const Topology& after) {
  auto session = Session::open(flock);
  if (!session) return;
  std::size_t count = 0;
  std::string first;
  for (const JobState& job : all_jobs(*session.value()).jobs) {
    if (terminal(job.phase) || job.phase == JobPhase::moved || !job.ask) continue;
    JobSpec spec;
    spec.workers = job.ask->workers;
    spec.gpus_per_worker = job.ask->gpus_per_worker;
    spec.gpu_types = job.ask->gpu_types;
    const Status fits = can_ever_fit(after, spec);
    if (!fits.ok() && count++ == 0) first = to_string(job.job) + ": " + fits.error().message;
  }
  if (count == 0) return;
  std::fprintf(stderr, "starling: %s cannot run in this size on the servers to come; %s\n",
               counted(count, "open job").c_str(), first.c_str());
}

/// What is left of a change of hosts that was decided, or given up: each is told, and runs.
Status finish_on_hosts(const Keeping& keeping) {
  const std::filesystem::path& dir = keeping.hosts->dir;
  const auto place = restart_lock(dir);
  if (!place) return place.error();
  if (keeping.runs || hosts_are_stopped(dir))
    return start_stopped_hosts(*keeping.hosts, *keeping.remote);
  return tell_stopped_hosts(*keeping.hosts, *keeping.remote);
}

/// A node that is not of the flock any more is let in no longer.
Status tidy(const Deployment& now, const Keeping& keeping) {
  if (Status s = tidy_servers(now); !s.ok() || !keeping.hosts) return s;
  const auto place = StateDir::take(now.dir / "rotation");  // keys change by the same file
  if (!place) return place.error();
  const auto members = read_flock(now.dir / "flock.json");
  return members ? publish_flock(now, members.value(), kPublished) : Status(members.error());
}

int finish(const std::filesystem::path& dir, const Keeping& keeping) {
  const auto now = read_deployment(dir);
  if (!now) return failed(now.error());
  if (keeping.hosts) {
    if (const Status s = finish_on_hosts(keeping); !s.ok())
      return work_failed(
          "configure: the flock has its servers, but not all hosts do: " + s.error().message +
          "\nthey get them when they are there: run this again, or 'starling up'");
  }
  if (keeping.runs) {
    if (const Status s = flock_is_well(now.value()); !s.ok())
      return work_failed("configure: the servers are changed, and the flock is not well: " +
                         s.error().message);
  }
  if (const Status s = tidy(now.value(), keeping); !s.ok())
    return work_failed("configure: the servers are changed; " + s.error().message +
                       "; run this again");
  const auto topology = load_topology((dir / now.value().topology).string());
  if (!topology) return bad_input("configure: " + topology.error().message);
  std::printf("the flock has %s with %s now\n",
              counted(topology.value().server_count(), "server").c_str(),
              counted(topology.value().gpu_count(), "GPU").c_str());
  return kDone;
}

int refused(const Status& s) {
  const bool theirs = s.error().code == Errc::invalid || s.error().code == Errc::conflict;
  const std::string text = "configure: nothing is changed: " + s.error().message;
  return theirs ? bad_input(text) : work_failed(text);
}

Result<Keeping> keeping_of(const Deployment& flock) {
  Keeping keeping;
  if (!is_host_flock(flock.dir)) {
    keeping.runs = is_kept(flock.dir);
    return keeping;
  }
  auto hosts = read_host_flock(flock.dir);
  if (!hosts) return hosts.error();
  if (hosts.value().way == Way::slurm) {
    return {
        Errc::unsupported,
        "the servers of a flock in an allocation of Slurm do not change: end it, and make a new "
        "one with 'starling up'"};
  }
  keeping.hosts = std::move(hosts).value();
  keeping.remote = std::make_unique<Remote>(keeping.hosts->way);
  // What an earlier change has stopped runs again first.
  if (hosts_are_stopped(flock.dir)) {
    if (Status s = finish_on_hosts(keeping); !s.ok()) return s.error();
  }
  const auto runs = any_keeper_runs(*keeping.hosts, *keeping.remote);
  if (!runs) return runs.error();
  keeping.runs = runs.value();
  return keeping;
}

int change_servers(const Change& change, Keeping& keeping, const ServersOptions& o) {
  const std::filesystem::path& dir = change.before.dir;
  const Patience patience(o.drain_timeout_s);
  for (const bool kept = keeping.runs;;) {
    if (kept) {
      if (const Status s = flock_is_well(change.before); !s.ok())
        return work_failed("configure: nothing is changed, for the flock is not well: " +
                           s.error().message);
      if (const Status s = empty_servers(change, o, patience); !s.ok()) return refused(s);
    }
    const Status s = go_over(change, keeping);
    const auto now = read_deployment(dir);
    if (now && now.value().generation > change.before.generation) return finish(dir, keeping);
    // An agent still has to hear of the end of what ran there.
    const bool again = kept && s.error().code == Errc::busy && !patience.over();
    if (!again && !kept && s.error().code == Errc::busy) {
      return work_failed("configure: nothing is changed: " + s.error().message +
                         "; start the flock with 'starling up', and run this again, which drains "
                         "the server first");
    }
    if (!again || stop_requested()) return refused(s);
  }
}

}  // namespace

int configure_servers(const std::filesystem::path& dir, const ServersOptions& o) {
  catch_stop_signals();
  const auto place = StateDir::take(dir / "configure");
  if (!place) return bad_input("configure: " + place.error().message);
  // One that was asked for by a command that is gone.
  if (servers_are_asked_for(dir) && is_kept(dir)) (void)wait_until_taken(dir, 0);
  const auto flock = read_deployment(dir);
  if (!flock) return failed(flock.error());
  auto keeping = keeping_of(flock.value());
  if (!keeping) return refused(keeping.error());
  if (!o.hosts.empty() && !keeping.value().hosts)
    return bad_input("configure: --hosts is for flocks on hosts; this one is on this machine");
  auto after = load_topology(o.topology);
  if (!after) return bad_input("configure: " + after.error().message);
  const auto before = load_topology((dir / flock.value().topology).string());
  if (!before) return bad_input("configure: " + before.error().message);
  if (to_yaml(before.value()) == to_yaml(after.value())) {
    // The next keeper of the flock would change them.
    if (!o.dry_run && withdraw_servers(dir)) std::printf("the change that was asked for is off\n");
    std::printf("these are its servers already\n");
    return o.dry_run ? kDone : finish(dir, keeping.value());
  }
  const auto change =
      change_of(flock.value(), before.value(), std::move(after).value(), keeping.value(), o);
  if (!change) return refused(change.error());
  for (const std::string& line :
       describe(change.value().servers, before.value(), change.value().new_topology))
    std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  if (keeping.value().runs) warn_of_misfits(flock.value(), change.value().new_topology);
  return o.dry_run ? kDone : change_servers(change.value(), keeping.value(), o);
}

}  // namespace starling
