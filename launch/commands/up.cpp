#include "launch/commands/up.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "interference/learned/interference_net.h"
#include "interference/speed_choice.h"
#include "launch/commands/commands.h"
#include "launch/deployment_plan.h"
#include "launch/exit_codes.h"
#include "launch/flock_hosts.h"
#include "launch/hosts/host_flock.h"
#include "launch/local_flock.h"
#include "launch/scaled_clock.h"
#include "launch/session.h"
#include "launch/signals.h"
#include "launch/wiring.h"
#include "topology/load.h"

namespace starling {

namespace {

/// Each agent has a place for every partition then.
constexpr std::uint32_t kMostWithFewerAgents = 17;

/// --speed as daemons are to read it, wherever they run. Weights that cannot be used stop no flock:
/// its agents fall back to the analytic model and say so.
Result<std::string> usable_speed(const UpOptions& o) {
  if (o.speed.empty()) return std::string();
  auto choice = parse_speed(o.speed);
  if (!choice) return choice.error();
  SpeedChoice& speed = choice.value();
  if (speed.kind == SpeedKind::physics && (o.launcher != "emulated" || o.physics != "full")) {
    return {Errc::invalid,
            "only emulated jobs have physics that can be known: give --launcher emulated --physics "
            "full, or learned"};
  }
  if (!speed.file.empty()) {
    speed.file = std::filesystem::absolute(speed.file).lexically_normal();
    if (!std::filesystem::exists(speed.file)) return {Errc::invalid, speed.file + ": no such file"};
    const auto weights = load_weights(speed.file);
    const auto net = weights ? InterferenceNet::make(weights.value()) : weights.error();
    if (!net) {
      const std::string file = weights ? speed.file + ": " : std::string();
      std::fprintf(stderr, "starling: %s%s; agents will ask the analytic model\n", file.c_str(),
                   net.error().message.c_str());
    }
  }
  return text_of(speed);
}

}  // namespace

Result<UpPlan> up_plan(const UpOptions& o, const std::filesystem::path& dir) {
  if (o.topology.empty()) {
    return {Errc::invalid,
            "up: --topology FILE is missing, and no flock lives in " + dir.string() + " yet"};
  }
  if (o.launcher != "process" && o.launcher != "emulated") {
    return {Errc::invalid,
            "up: --launcher: '" + o.launcher + "' is wrong; give process or emulated"};
  }
  if (o.physics != "trace" && o.physics != "full") {
    return {Errc::invalid, "up: --physics: '" + o.physics + "' is wrong; give trace or full"};
  }
  auto speed = usable_speed(o);
  if (!speed) return {Errc::invalid, "up: --speed: " + speed.error().message};
  if (o.launcher == "process" && o.speedup != 1) {
    return {Errc::invalid,
            "up: --speedup is for emulated jobs; give --launcher emulated, or no speedup"};
  }
  if (o.speedup > kMostSpeedup) return {Errc::invalid, "up: --speedup is at most 200,000"};
  if (auto policy = all_policies().make(o.policy); !policy)
    return {Errc::invalid, "up: --policy: " + policy.error().message};
  auto topology = load_topology(o.topology);
  if (!topology) return {Errc::invalid, topology.error().message};
  const std::uint32_t partitions = o.partitions == 0 ? o.agents : o.partitions;
  if (partitions < o.agents) {
    return {Errc::invalid, "up: --partitions " + std::to_string(partitions) +
                               " is less than --agents " + std::to_string(o.agents) +
                               "; each agent has one of its own"};
  }
  if (partitions > o.agents && o.state.empty()) {
    return {Errc::invalid,
            "up: more --partitions than --agents need --state etcd://..., where an agent can serve "
            "several"};
  }
  if (partitions > o.agents && partitions > kMostWithFewerAgents) {
    return {Errc::invalid, "up: --partitions is at most " + std::to_string(kMostWithFewerAgents) +
                               " where there are fewer agents"};
  }
  DeploymentPlan plan;
  plan.dir = dir;
  plan.policy = o.policy;
  plan.physics = o.physics;
  plan.speed = std::move(speed).value();
  plan.launcher = o.launcher;
  plan.agents = partitions;
  plan.servers_per_executor = o.servers_per_executor;
  plan.speedup = o.speedup;
  plan.state = o.state;
  // Every agent there is must be able to serve what those that are not there would.
  plan.standbys = o.standbys;
  if (partitions > o.agents) plan.standbys = std::max(o.standbys, partitions - 1);
  return UpPlan{std::move(topology).value(), std::move(plan)};
}

namespace {

using Wall = std::chrono::steady_clock;

/// Starts a daemon again that ended by itself, unless it cannot go on or keeps ending, or is no
/// member any more; and an agent that has become one.
class Restarter {
 public:
  Restarter(Supervisor& supervisor, const Deployment& flock, const MemberWatch& members,
            bool restart, std::uint16_t protocol)
      : supervisor_(supervisor),
        flock_(flock),
        members_(members),
        known_(members.now()),
        restart_(restart),
        protocol_(protocol) {}

  /// Nothing, or why the flock has to stop.
  std::optional<std::string> look() {
    const FlockMembers before = std::exchange(known_, members_.now());
    for (const Supervisor::Ended& ended : supervisor_.poll()) {
      const DeployedNode& node = *flock_.find(ended.name);
      if (ended.status == kDone && !belongs(node, known_)) {
        std::fprintf(stderr, "starling: %s is no member any more and has ended\n",
                     ended.name.c_str());
        continue;
      }
      const std::string what = describe(ended);
      if (!restart_) {
        std::fprintf(stderr, "starling: %s\nstarling: not starting it again\n", what.c_str());
        if (supervisor_.running() == 0) return "no daemon is left";
        continue;
      }
      const bool hopeless = ended.status == kDiskFailed || ended.status == kBadInput;
      Wall::time_point& last = last_[ended.name];
      const bool again = Wall::now() - last < std::chrono::seconds(10);
      if (hopeless || again) return what;
      last = Wall::now();
      std::fprintf(stderr, "starling: %s\nstarling: starting %s again\n", what.c_str(),
                   ended.name.c_str());
      if (auto started = start_node(supervisor_, flock_, node, protocol_); !started.ok())
        return started.error().message;
    }
    for (const DeployedNode* node : flock_.with_role(Role::agent)) {
      const bool joins = !belongs(*node, before) && belongs(*node, known_);
      if (!joins || supervisor_.pid_of(node->name) != 0) continue;
      std::fprintf(stderr, "starling: %s is a member now, starting it\n", node->name.c_str());
      if (auto started = start_node(supervisor_, flock_, *node, protocol_); !started.ok())
        return started.error().message;
    }
    return std::nullopt;
  }

 private:
  Supervisor& supervisor_;
  const Deployment& flock_;
  const MemberWatch& members_;
  FlockMembers known_;
  bool restart_;
  std::uint16_t protocol_;
  std::map<std::string, Wall::time_point> last_;
};

Result<Deployment> make_flock(const UpOptions& o, const std::filesystem::path& dir) {
  const auto made = up_plan(o, dir);
  if (!made) return made.error();
  auto flock = create_deployment(made.value().plan, made.value().topology);
  if (flock && made.value().plan.agents > o.agents) {
    if (const Status written = choose_members(flock.value(), o.agents); !written.ok())
      return written.error();
  }
  return flock;
}

int up(const UpOptions& o) {
  auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  if (!o.hosts.empty() || is_host_flock(dir.value())) return up_on_hosts(o, dir.value());
  auto flock =
      is_deployment(dir.value()) ? read_deployment(dir.value()) : make_flock(o, dir.value());
  if (!flock) return failed(flock.error());
  auto place = StateDir::take(dir.value() / "supervisor");
  if (!place) return bad_input("up: " + place.error().message);

  catch_stop_signals();
  Supervisor supervisor;
  const MemberWatch members(flock.value());
  if (!members.first().ok()) return failed(members.first().error());
  const auto protocol = static_cast<std::uint16_t>(o.protocol);
  if (auto started = start_flock(supervisor, flock.value(), members.now(), protocol); !started.ok())
    return failed(started.error());
  {
    auto session = Session::open(flock.value());
    if (!session) return failed(session.error());
    const auto broken = [&]() -> std::optional<std::string> {
      if (stop_requested()) return "interrupted";
      const auto ended = supervisor.poll();
      return ended.empty() ? std::nullopt : std::optional(describe(ended.front()));
    };
    if (auto ready = session.value()->wait_ready(std::chrono::seconds(60), broken); !ready.ok())
      return failed(ready.error());
  }
  std::printf("ready: %u agents, %zu executors; use it with\n  export STARLING_FLOCK=%s\n",
              flock.value().agents(), flock.value().with_role(Role::executor).size(),
              std::filesystem::absolute(dir.value()).c_str());
  std::fflush(stdout);
  Restarter restarter(supervisor, flock.value(), members, !o.no_restart, protocol);
  while (!stop_requested()) {
    if (const auto broken = restarter.look()) return work_failed(*broken);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::fprintf(stderr, "starling: stopping\n");
  supervisor.stop_all();
  return kDone;
}

}  // namespace

void add_up(const Command& root) {
  const auto o = std::make_shared<UpOptions>();
  const Command command =
      root.sub("up", "start a flock here or on several hosts and watch over it, until Ctrl-C");
  command.option("--flock", o->flock, "DIR",
                 "its directory, made at the first start; default $STARLING_FLOCK");
  command.option("--topology", o->topology, "FILE",
                 "the data centre; at the first start only, like the following");
  command.option("--policy", o->policy, "NAME[:k=v,..]", "default consolidate");
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
      "what agents ask how fast jobs run beside others: analytic, learned, learned:FILE, "
      "frozen or physics, that of emulated jobs (default analytic with --physics full)");
  command.option("--speedup", o->speedup, "X", "of emulated jobs (default 1)", 0.0);
  command.option("--state", o->state, "etcd://HOST:PORT[,...]",
                 "the agents' journals are there (default: in the flock's directory)");
  command.option("--standbys", o->standbys, "K",
                 "agents that take a partition over when its own is gone; with --state etcd "
                 "(default 3)",
                 0U, 16U);
  command.option("--protocol", o->protocol, "N",
                 "newest version of the protocol that daemons speak (default 2)", kOldestProtocol,
                 kNewestProtocol);
  command.flag("--no-restart", o->no_restart,
               "daemons that end are not started again (partitions are still taken over)");
  command.option("--max-skew", o->most_skew_s, "S",
                 "seconds that the clocks of hosts may differ from this machine's (default 5)",
                 0.0);
  command.flag("--json", o->json, "with --hosts: a JSON line on stdout whenever something changed");
  command.examples(
      {"starling up --flock ~/flock --topology cluster.yaml --agents 2 --policy consolidate",
       "starling up --flock ~/flock --topology cluster.yaml --hosts hosts.yaml"});
  command.action([o, command] {
    o->agents_given = command.given("--agents");
    return up(*o);
  });
}

}  // namespace starling
