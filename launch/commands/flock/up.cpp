// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/flock/up.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/counted.h"
#include "base/login_name.h"
#include "launch/client/flock_hosts.h"
#include "launch/client/session.h"
#include "launch/command_line/background.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/etcd_options.h"
#include "launch/commands/flock/up_again.h"
#include "launch/deployment/deployment_check.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/deployment/etcd_state.h"
#include "launch/deployment/flock_folder.h"
#include "launch/deployment/flock_owner.h"
#include "launch/deployment/readiness.h"
#include "launch/guardian/own_cgroup.h"
#include "launch/hosts/host_flock.h"
#include "launch/hosts/keeper.h"
#include "launch/launchers/machine_sight.h"
#include "launch/processes/safe_folder.h"
#include "launch/servers/exchange.h"
#include "launch/system/signals.h"
#include "topology/file/load.h"

namespace starling {

namespace {

/// For agents to answer and executors to report, at the start.
constexpr Duration kPatience = std::chrono::seconds(60);

/// For the daemons of an `up` that was killed to be gone.
constexpr Duration kDying = std::chrono::seconds(10);

/// What `up` on one machine does with a flock that is there: keeps its daemons, and says when all
/// is there that can be.
class Up {
 public:
  Up(const Deployment& flock, const Topology& topology, const UpOptions& o, SupervisionRules rules)
      : flock_(flock),
        topology_(topology),
        options_(o),
        keeper_(flock, "", static_cast<std::uint16_t>(o.protocol), rules) {}

  /// Until a stop is requested, or there is nothing that could ever serve: the exit status. Until
  /// other servers are asked for: nothing, and no daemon runs.
  std::optional<int> run() {
    if (!keeper_.members_known().ok()) return failed(keeper_.members_known().error());
    if (const Status ready = wait_ready(); !ready.ok()) {
      if (stop_requested()) return work_failed("interrupted");
      const bool serves = ready.error().code == Errc::not_ready && found_.agents > 0;
      if (!serves) {
        for (const std::string& line : troubles()) announce(line);
        return refused_ ? bad_input(ready.error().message) : work_failed(ready.error().message);
      }
      announce(ready.error().message + "; going on with what is there");
    }
    if (const std::string why = set_queues_of(options_, flock_.dir); !why.empty()) announce(why);
    tell_ready();
    if (const Status away = background_ready(flock_.dir / kUpLog); !away.ok()) {
      keeper_.stop();
      return failed(away.error());
    }
    tell_service_manager("READY=1");
    while (!stop_requested()) {
      look();
      if (servers_are_asked_for(flock_.dir)) {
        announce("the servers change: all daemons begin anew, jobs go on");
        keeper_.stop(true);
        return std::nullopt;
      }
      if (options_.no_restart && keeper_.running() == 0) {
        keeper_.stop();
        return work_failed("no daemon is left");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    announce("stopping");
    tell_service_manager("STOPPING=1");
    keeper_.stop();
    return kDone;
  }

 private:
  void look() {
    for (const std::string& line : keeper_.look()) announce(line);
  }
  std::set<std::string> away() const {
    std::set<std::string> names;
    for (std::size_t i = 0; i < keeper_.daemons().daemons().size(); ++i) {
      if (keeper_.daemons().away(i)) names.insert(keeper_.daemons().daemons()[i].name);
    }
    return names;
  }
  std::vector<std::string> troubles() const { return keeper_.status().troubles(); }
  /// Why no agent will ever answer, if that is so.
  std::optional<std::string> why_no_agent_serves() {
    if (options_.no_restart && keeper_.running() == 0) return "no daemon is left";
    const Supervision& core = keeper_.daemons();
    refused_ = true;
    for (std::size_t i = 0; i < core.daemons().size(); ++i) {
      const Supervised& d = core.daemons()[i];
      if (flock_.find(d.name)->role == Role::agent && d.wanted && !core.refused(i))
        refused_ = false;
    }
    if (refused_) return "no agent can start with what it reads";
    return std::nullopt;
  }
  Status wait_ready() {
    const Instant until = later(Session::now(), kPatience);
    const auto broken = [&] {
      look();
      return why_no_agent_serves();
    };
    for (;;) {
      auto session = Session::open(flock_);
      if (session) {
        return session.value()->wait_ready(
            std::max(until - Session::now(), Duration(std::chrono::seconds(1))), broken,
            [&](const std::vector<AgentStatus>& all) -> std::optional<std::string> {
              found_ = readiness(flock_, topology_, all, away());
              return found_.ready ? std::nullopt : std::optional(found_.missing);
            });
      }
      // Places of clients are free again when other commands have ended.
      if (session.error().code != Errc::busy || Session::now() > until || stop_requested())
        return session.error();
      if (auto why = broken()) return {Errc::io, *why};
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  void tell_ready() const {
    const std::size_t executors = flock_.with_role(Role::executor).size();
    std::size_t gone = 0;
    for (const std::string& name : away()) gone += name.starts_with("executor") ? 1U : 0U;
    for (const std::string& line : troubles()) announce(line);
    if (flock_.launcher == "process") {
      const IndexRange all{0, static_cast<std::uint32_t>(topology_.servers().size())};
      const std::string short_of = lacking(look_at_machine(), topology_, all);
      if (!short_of.empty()) announce(short_of);
    }
    const auto of = [](std::size_t there, std::size_t all, const char* what) {
      return (there == all ? "" : std::to_string(there) + " of ") + counted(all, what);
    };
    std::printf("ready: %s, %s; use it with\n  export STARLING_FLOCK=%s\n",
                of(found_.agents, flock_.agents(), "agent").c_str(),
                of(executors - gone, executors, "executor").c_str(),
                std::filesystem::absolute(flock_.dir).c_str());
    if (geteuid() != 0) std::printf("one user: all jobs run as '%s'\n", login_name().c_str());
    std::fflush(stdout);
  }

  const Deployment& flock_;
  const Topology& topology_;
  const UpOptions& options_;
  bool refused_ = false;  ///< every agent that is to run, because of what it reads
  Readiness found_;
  Keeper keeper_;
};

Result<Deployment> make_flock(const UpOptions& o, const std::filesystem::path& dir) {
  if (const Status free = can_take_folder(dir); !free.ok())
    return {Errc::invalid, "up: " + free.error().message};
  const auto made = up_plan(o, dir);
  if (!made) return made.error();
  if (const Status safe = make_flock_folder(dir); !safe.ok())
    return {Errc::invalid, "up: " + safe.error().message};
  DeploymentPlan plan = made.value().plan;
  plan.user = login_name();
  auto flock = create_deployment(plan, made.value().topology);
  if (flock) {
    Status rest = keep_health(o, dir);
    if (rest.ok() && plan.agents > o.agents) rest = choose_members(flock.value(), o.agents);
    if (!rest.ok()) {
      give_up_etcd_name(flock.value());
      flock = rest.error();
    }
  }
  if (!flock) undo_flock_folder(dir);
  return flock;
}

int up(const UpOptions& o) {
  auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  ignore_hangup();
  leave_delegated_cgroup();
  if (o.detach) {
    if (o.json)
      return bad_input("up: --json writes to a terminal or a program, which --detach leaves");
    if (const Status away = enter_background(); !away.ok()) return failed(away.error());
  }
  if (is_deployment(dir.value())) {
    if (const Status may = may_manage(dir.value(), "up"); !may.ok()) return failed(may.error());
  }
  if (const Status good = check_health(o); !good.ok()) return failed(good.error());
  if (!o.hosts.empty() || is_host_flock(dir.value())) return up_on_hosts(o, dir.value());
  if (const Status safe = is_safe_folder(dir.value()); !safe.ok())
    return bad_input("up: " + safe.error().message);
  const bool again = is_deployment(dir.value());
  auto flock = again ? read_deployment(dir.value()) : make_flock(o, dir.value());
  if (!flock) return failed(flock.error());
  std::fputs(idle_standbys(o, flock.value().state).c_str(), stderr);
  auto place = StateDir::take(dir.value() / "supervisor");
  if (!place) return bad_input(is_up_already(o, dir.value(), place.error()).message);

  // State in etcd has leases: an agent of it may be served from elsewhere.
  if (again && flock.value().state.empty()) {
    if (const Status free = is_free(flock.value(), kDying); !free.ok())
      return bad_input(free.error().message);
  }

  SupervisionRules rules;
  rules.restart = !o.no_restart;
  for (bool asked = again;; asked = false) {
    if (servers_are_asked_for(dir.value())) {
      const Status taken = take_servers(dir.value());
      announce(taken.ok() ? "the flock has other servers now"
                          : "the servers stay what they are: " + taken.error().message);
      flock = read_deployment(dir.value());
      if (!flock) return failed(flock.error());
    }
    const auto topology = load_topology((dir.value() / flock.value().topology).string());
    if (!topology) return bad_input("up: " + topology.error().message);
    if (const Status fits = fits_topology(flock.value(), topology.value()); !fits.ok())
      return bad_input("up: " + fits.error().message);
    if (const Status same = fits_flock(o, flock.value(), topology.value()); asked && !same.ok())
      return bad_input(same.error().message);
    catch_stop_signals();
    if (const auto status = Up(flock.value(), topology.value(), o, rules).run()) return *status;
  }
}

}  // namespace

void add_up(const Command& root) {
  const auto o = std::make_shared<UpOptions>();
  const Command command = root.sub(
      "up",
      "start a flock here or on several hosts and watch over it, until Ctrl-C or 'starling down'");
  command.option("--flock", o->flock, "DIR",
                 "its directory, made at the first start; default $STARLING_FLOCK");
  command.option("--topology", o->topology, "FILE",
                 "the data centre; at the first start only, like the following");
  command.option("--policy", o->policy, "NAME[:k=v,..]",
                 "see 'starling policies' (default starling)");
  command.option("--hosts", o->hosts, "FILE|slurm",
                 "the machines, and what lives where (docs/hosts.md); slurm: those of the "
                 "allocation (default: all is on this machine)");
  command.option("--agents", o->agents, "N", "default 1, or one a host", 1U, 4096U);
  command.option("--partitions", o->partitions, "M",
                 "of the data centre; with --state etcd more than there are agents yet (default: "
                 "--agents)",
                 1U, 4096U);
  command.option("--servers-per-executor", o->servers_per_executor, "N", "default 8", 1U, 65'536U);
  command.option("--launcher", o->launcher, "process|emulated",
                 "jobs are commands, or pretend to run (default process)");
  command.option("--physics", o->physics, "trace|full", "of emulated jobs (default trace)");
  command.option(
      "--speed", o->speed, "MODEL",
      "what agents ask how fast jobs run beside others: analytic, learned[:FILE], "
      "frozen[:FILE], which takes up nothing measured, adaptive[:FILE], which adapts to other "
      "hardware (FILE: weights or a prior), or physics, that of emulated jobs (default analytic "
      "with --physics full)");
  command.option("--speedup", o->speedup, "X", "of emulated jobs (default 1)", 0.0);
  command.option("--health", o->health, "FILE",
                 "how executors look after their machines: probe, GPUs (docs/reliability.md)");
  command.option("--queues", o->queue_file, "FILE",
                 "how many GPUs each queue and user may have (docs/queues.md), once the flock is "
                 "up, as 'starling queues set'; also at later starts");
  command.option("--state", o->state, "etcd[s]://HOST:PORT[,...]",
                 "the agents' journals are there; etcds:// with TLS (default: in the flock's "
                 "directory)");
  command.flag("--adopt", o->adopt,
               "with --state etcd://HOST:PORT/NAME: go on with the jobs of the flock of that name, "
               "whose directory is lost, and of which nothing runs any more");
  add_etcd_options(command, o->etcd);
  command.option("--standbys", o->standbys, "K",
                 "agents that take a partition over when its own is gone; with --state etcd "
                 "(default 3)",
                 0U, 16U);
  command.option("--protocol", o->protocol, "N",
                 "newest version of the protocol that daemons speak (default " +
                     std::to_string(kNewestProtocol) + ")",
                 kOldestProtocol, kNewestProtocol);
  command.flag("--no-restart", o->no_restart,
               "daemons that end are not started again (partitions are still taken over)");
  command.flag("--detach", o->detach,
               "go on in the background once the flock is ready; what happens then is in "
               "DIR/up.log, and 'starling down' ends it");
  command.option("--max-skew", o->most_skew_s, "S",
                 "seconds that the clocks of hosts may differ from this machine's (default 5)",
                 0.0);
  command.flag("--json", o->json, "with --hosts: a JSON line on stdout whenever something changed");
  command.examples(
      {"starling up --flock ~/flock --topology cluster.yaml --agents 2 --policy consolidate",
       "starling up --flock ~/flock --detach",
       "starling up --flock ~/flock --topology cluster.yaml --hosts hosts.yaml"});
  command.action([o, command] {
    for (const char* name :
         {"--topology", "--policy", "--agents", "--partitions", "--servers-per-executor",
          "--launcher", "--physics", "--speed", "--speedup", "--health", "--state", "--etcd-ca",
          "--etcd-cert", "--etcd-key", "--etcd-user", "--etcd-password-file", "--standbys"}) {
      if (command.given(name)) o->given.insert(name);
    }
    if (const Status queues = read_queues(*o); !queues.ok()) return failed(queues.error());
    return up(*o);
  });
}

}  // namespace starling
