// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "base/counted.h"
#include "launch/client/flock_hosts.h"
#include "launch/client/session.h"
#include "launch/command_line/background.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/flock/up.h"
#include "launch/commands/flock/up_again.h"
#include "launch/deployment/etcd_state.h"
#include "launch/deployment/flock_folder.h"
#include "launch/deployment/readiness.h"
#include "launch/deployment/state_dir.h"
#include "launch/hosts/host_board.h"
#include "launch/hosts/host_servers.h"
#include "launch/hosts/hosts_file.h"
#include "launch/hosts/preflight.h"
#include "launch/hosts/slurm.h"
#include "launch/processes/safe_folder.h"
#include "launch/system/signals.h"
#include "store/etcd/etcd_authority.h"
#include "topology/file/load.h"

namespace starling {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// Runs `step` unless a stop was requested before.
template <class Step>
Status unless_stopped(Step step) {
  if (stop_requested()) return {Errc::io, "interrupted"};
  return step();
}

/// Plans a flock, prepares its hosts, and puts on each what it needs. Whatever goes wrong, nothing
/// is left behind, here or there.
Result<HostFlock> make(const UpOptions& o, const std::filesystem::path& dir, const UpPlan& up,
                       const HostSet& set, Remote& remote) {
  DeploymentPlan plan = up.plan;
  const std::uint32_t agents =
      o.given.contains("--agents") ? o.agents : default_agents(set, up.topology);
  const std::uint32_t partitions = o.partitions == 0 ? agents : o.partitions;
  if (partitions < agents) {
    return {Errc::invalid, "up: " + counted(agents, "agent") + ", but --partitions " +
                               std::to_string(partitions) + "; there is one at least for each"};
  }
  plan.agents = partitions;
  plan.clients = 8;
  // Every agent there is must be able to serve what those that are not there would.
  if (partitions > agents) plan.standbys = std::max(plan.standbys, partitions - 1);
  const auto agent_hosts = place_agents(set, up.topology, partitions);
  if (!agent_hosts) return agent_hosts.error();
  for (const std::uint32_t h : agent_hosts.value()) plan.agent_hosts.push_back(set.hosts[h].name);
  for (const std::uint32_t h : set.server_host) plan.server_hosts.push_back(set.hosts[h].name);

  HostFlock flock{dir, new_holder(), set.way, set.hosts, static_cast<std::uint16_t>(o.protocol)};
  Preflight preflight(flock, remote);
  HostNeeds needs;
  needs.most_skew_s = o.most_skew_s;
  std::optional<Deployment> deployed;
  const auto work = [&]() -> Status {
    if (Status s = preflight.look(needs); !s.ok()) return s;
    for (std::size_t i = 0; i < flock.hosts.size(); ++i) {
      char skew[32];
      std::snprintf(skew, sizeof skew, "%+.3f s", preflight.findings()[i].skew_s);
      announce(flock.hosts[i].name + ": " + flock.hosts[i].directory + ", its clock is " + skew +
               " from ours");
    }
    if (Status s = unless_stopped([&] { return preflight.send_program(); }); !s.ok()) return s;
    plan.addresses = [&](const auto& wanted) { return preflight.addresses(wanted); };
    const auto made = create_deployment(plan, up.topology);
    if (!made) return made.error();
    deployed = made.value();
    if (Status s = keep_health(o, dir); !s.ok()) return s;
    for (const HostFindings& found : preflight.findings()) {
      if (!found.other_program.empty()) announce(found.other_program);
    }
    if (Status s = write_host_flock(flock); !s.ok()) return s;
    if (Status s = unless_stopped([&] { return preflight.reach(made.value()); }); !s.ok()) return s;
    std::vector<std::string> wrong(flock.hosts.size());
    for_each_at_once(flock.hosts.size(), [&](std::size_t i) {
      const Host& host = flock.hosts[i];
      const Status copied = copy_files(flock, remote, host, files_of(made.value(), host));
      if (!copied.ok()) wrong[i] = copied.error().message;
    });
    if (Status s = together(wrong); !s.ok()) return s;
    forget_secrets(made.value());
    return unless_stopped([&]() -> Status {
      return partitions > agents ? choose_members(made.value(), agents) : done();
    });
  };
  const Status worked = work();
  if (worked.ok()) return flock;
  if (deployed) give_up_etcd_name(*deployed);
  preflight.undo();
  return worked.error();
}

/// Starts the keepers that do not run. Says how many did.
Status start_keepers(const HostFlock& flock, const Remote& remote) {
  if (flock.way == Way::slurm) return done();  // the board starts them
  const auto place = restart_lock(flock.dir);
  if (!place) return place.error();
  std::vector<std::string> wrong(flock.hosts.size());
  std::vector<char> ran(flock.hosts.size());
  for_each_at_once(flock.hosts.size(), [&](std::size_t i) {
    const Host& host = flock.hosts[i];
    if (const Status fresh = bring_up_to_date(remote, host); !fresh.ok()) {
      wrong[i] = fresh.error().message;
      return;
    }
    const auto answer = start_keeper(flock, remote, host);
    if (!answer) wrong[i] = answer.error().message;
    ran[i] = answer && answer.value().starts_with("running") ? 1 : 0;
  });
  std::size_t running = 0;
  for (const char r : ran) running += r != 0 ? 1U : 0U;
  if (running > 0) {
    announce("the flock is running on " + std::to_string(running) + " of " +
             counted(flock.hosts.size(), "host") + " already");
  }
  const Status all = together(wrong);
  return all.ok() ? forget_stopped_hosts(flock.dir) : all;
}

/// Hosts that a command has stopped to change their servers, and that command is gone.
class Forsaken {
 public:
  Forsaken(const HostFlock& flock, const Remote& remote) : flock_(flock), remote_(remote) {}

  /// Whether there were any: the flock has not ended then.
  bool start() {
    if (flock_.way == Way::slurm || !hosts_are_stopped(flock_.dir)) return false;
    if (steady_clock::now() < next_) return true;
    const auto place = StateDir::take(flock_.dir / kRestartLock);
    if (!place) return true;
    const Status started = start_stopped_hosts(flock_, remote_);
    const std::string said = started.ok() ? "hosts that a change of servers had stopped run again"
                                          : started.error().message;
    if (said != last_) announce(said);
    last_ = started.ok() ? "" : said;
    next_ = steady_clock::now() + kAgain;
    return true;
  }

 private:
  static constexpr seconds kAgain{5};
  const HostFlock& flock_;
  const Remote& remote_;
  steady_clock::time_point next_{};
  std::string last_;
};

/// What people see while the flock is up: a table that is drawn anew on a terminal, else what
/// happened, line by line; or JSON lines.
class Display {
 public:
  Display(const HostFlock& flock, bool json) : flock_(flock), json_(json) {}

  void show(const std::vector<HostBoard::Seen>& seen, const std::string& event = "status") {
    const auto news = last_.empty() ? std::vector<std::string>() : board_news(flock_, last_, seen);
    const bool changed = last_.empty() || !news.empty() || event != "status";
    last_ = seen;
    if (json_) {
      if (changed) out(board_line(event, flock_, seen) + "\n");
      return;
    }
    if (isatty(STDOUT_FILENO) == 1) {
      for (const std::string& line : news) announce(line);
      const std::string table = board_table(flock_, seen);
      if (table != table_ || !news.empty()) out("\033[H\033[2J" + table);
      table_ = table;
      return;
    }
    for (const std::string& line : news) announce(line);
  }

 private:
  static void out(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  const HostFlock& flock_;
  bool json_;
  std::vector<HostBoard::Seen> last_;
  std::string table_;
};

/// Until keepers that were stopped to change servers, and started, have all been heard.
constexpr seconds kSettles{15};

/// The daemons that are not to be waited for, and what is wrong with each.
std::map<std::string, std::string> away_on(const HostFlock& flock,
                                           const std::vector<HostBoard::Seen>& seen) {
  std::map<std::string, std::string> away;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i].status) continue;
    for (const KeptDaemon& d : seen[i].status->daemons) {
      if (d.away) away[d.name] = flock.hosts[i].name + ": " + d.name + " is down: " + d.trouble;
    }
  }
  return away;
}

bool all_stopped(const std::vector<HostBoard::Seen>& seen) {
  for (const HostBoard::Seen& s : seen) {
    if (!s.stopped) return false;
  }
  return true;
}

/// Watches until a stop is requested (true), or all hosts were stopped from elsewhere (false).
Result<bool> watch(const HostFlock& flock, const Deployment& deployment, const Remote& remote,
                   const UpOptions& o, bool& came_up) {
  const auto topology = load_topology((flock.dir / deployment.topology).string());
  if (!topology) return {Errc::invalid, topology.error().message};
  HostBoard board(flock, remote);
  Display display(flock, o.json);
  {
    auto session = Session::open(deployment);
    if (!session) return session.error();
    std::map<std::string, std::string> away;
    Readiness found;
    const auto broken = [&]() -> std::optional<std::string> {
      const auto seen = board.look();
      display.show(seen);
      away = away_on(flock, seen);
      // A flock that never was has to be whole; one that was goes on with what it has.
      if (came_up || away.empty()) return std::nullopt;
      return away.begin()->second;
    };
    const auto enough = [&](const std::vector<AgentStatus>& all) -> std::optional<std::string> {
      std::set<std::string> names;
      for (const auto& [name, trouble] : away) names.insert(name);
      found = readiness(deployment, topology.value(), all, names);
      return found.ready ? std::nullopt : std::optional(found.missing);
    };
    if (auto ready = session.value()->wait_ready(seconds(60), broken, enough); !ready.ok()) {
      if (!came_up || found.agents == 0 || ready.error().code != Errc::not_ready)
        return ready.error();
      announce(ready.error().message + "; going on with what is there");
    }
    for (const auto& [name, trouble] : away) announce(trouble);
  }
  came_up = true;
  if (const std::string why = set_queues_of(o, flock.dir); !why.empty()) announce(why);
  display.show(board.look(), "ready");
  if (!o.json) {
    std::printf("ready: %s, %s on %s; use it with\n  export STARLING_FLOCK=%s\n",
                counted(deployment.agents(), "agent").c_str(),
                counted(deployment.with_role(Role::executor).size(), "executor").c_str(),
                counted(flock.hosts.size(), "host").c_str(),
                std::filesystem::absolute(flock.dir).c_str());
    std::fflush(stdout);
  }
  if (const Status away = background_ready(flock.dir / kUpLog); !away.ok()) return away.error();
  tell_service_manager("READY=1");
  Forsaken forsaken(flock, remote);
  steady_clock::time_point settled{};
  while (!stop_requested()) {
    const auto seen = board.look();
    display.show(seen);
    if (forsaken.start()) {
      settled = steady_clock::now() + kSettles;
      std::this_thread::sleep_for(milliseconds(250));
      continue;
    }
    // But for one that is restarted.
    if (steady_clock::now() > settled && all_stopped(seen) &&
        StateDir::take(flock.dir / kRestartLock).ok())
      return false;
    std::this_thread::sleep_for(milliseconds(250));
  }
  if (!o.json) announce("stopping");
  return true;
}

/// The hosts and servers of --hosts.
Result<HostSet> hosts_of(const UpOptions& o, const UpPlan& up, const std::filesystem::path& dir) {
  std::string name = std::filesystem::absolute(dir).lexically_normal().filename().string();
  if (name.empty()) name = "flock";
  if (o.hosts == "slurm") return slurm_hosts(up.topology, name);
  return load_hosts(o.hosts, up.topology, name);
}

/// `came_up` turns true once the flock was ready; one that never was is removed from its hosts.
int serve(const HostFlock& flock, const Remote& remote, const UpOptions& o, bool& came_up) {
  auto deployment = read_deployment(flock.dir);
  if (!deployment) return failed(deployment.error());
  Status started = start_keepers(flock, remote);
  Result<bool> watched = started.ok() ? watch(flock, deployment.value(), remote, o, came_up)
                                      : Result<bool>(started.error());
  std::vector<std::string> left;
  if (!watched || watched.value()) left = stop_hosts(flock, remote);
  for (const std::string& line : left) announce("not stopped: " + line);
  if (!watched) {
    if (!came_up) {
      std::vector<std::string> kept;
      for (const std::string& line : remove_hosts(flock, remote, kept))
        announce("not removed: " + line);
      for (const std::string& line : kept) announce(line);
    }
    return failed(watched.error());
  }
  if (left.empty()) return kDone;
  return work_failed("what still runs can be stopped later with 'starling down --flock " +
                     flock.dir.string() + "'");
}

}  // namespace

int up_on_hosts(const UpOptions& o, const std::filesystem::path& dir) {
  catch_stop_signals();
  std::error_code ignored;
  const bool again = is_deployment(dir), existed = std::filesystem::exists(dir, ignored);
  if (again && !is_host_flock(dir))
    return bad_input("up: the flock in " + dir.string() +
                     " lives on this machine; leave out --hosts, or give another --flock");
  std::optional<UpPlan> up;
  std::optional<HostSet> set;
  if (!again) {
    if (const Status free = can_take_folder(dir); !free.ok())
      return bad_input("up: " + free.error().message);
    auto planned = up_plan(o, dir);
    if (!planned) return failed(planned.error());
    std::fputs(idle_standbys(o, planned.value().plan.state).c_str(), stderr);
    auto hosts = hosts_of(o, planned.value(), dir);
    if (!hosts) return failed(hosts.error());
    up = std::move(planned).value();
    set = std::move(hosts).value();
  }
  const Status safe = again ? is_safe_folder(dir) : make_flock_folder(dir);
  if (!safe.ok()) return bad_input("up: " + safe.error().message);
  auto place = StateDir::take(dir / "supervisor");
  if (!place) return bad_input(is_up_already(o, dir, place.error()).message);
  auto known = again ? read_host_flock(dir) : Result<HostFlock>(HostFlock{});
  if (!known) return failed(known.error());
  if (again) {
    const auto deployment = read_deployment(dir);
    if (!deployment) return failed(deployment.error());
    const auto topology = load_topology((dir / deployment.value().topology).string());
    if (!topology) return bad_input("up: " + topology.error().message);
    const Status same = fits_flock(o, deployment.value(), topology.value());
    if (!same.ok()) return bad_input(same.error().message);
    std::fputs(idle_standbys(o, deployment.value().state).c_str(), stderr);
  }
  known.value().protocol = static_cast<std::uint16_t>(o.protocol);
  Remote remote(again ? known.value().way : set->way);
  int status = kDone;
  bool came_up = again;
  {
    auto flock = again ? std::move(known) : make(o, dir, *up, *set, remote);
    status = flock ? serve(flock.value(), remote, o, came_up) : failed(flock.error());
  }
  if (!came_up) {  // nothing is left here either: it was empty (can_take_folder)
    for (const auto& entry : std::filesystem::directory_iterator(dir, ignored))
      std::filesystem::remove_all(entry.path(), ignored);
    if (!existed) std::filesystem::remove(dir, ignored);
  }
  return status;
}

}  // namespace starling
