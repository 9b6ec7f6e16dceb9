// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/flock/live_flock.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "launch/chaos/scenario/timers.h"
#include "launch/command_line/exit_codes.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/hooks/hooks.h"
#include "launch/system/files.h"
#include "topology/generate/generate.h"

namespace starling::chaos_live {
namespace {

namespace fs = std::filesystem;

constexpr double kEndsWithin = 40;  // after SIGTERM, on a machine that is busy

}  // namespace

fs::path shim(const std::string& name) {
  const fs::path folder = fs::path(own_program()).parent_path();
  const std::string library = "libstarling_" + name + "_faults.so";
  for (const fs::path& file : {folder / library, folder / "../lib/starling" / library,
                               folder / "../lib/x86_64-linux-gnu/starling" / library}) {
    std::error_code ignored;
    if (fs::exists(file, ignored)) return fs::canonical(file, ignored);
  }
  return {};
}

Result<std::unique_ptr<LiveFlock>> LiveFlock::start(const ChaosScenario& scenario,
                                                    const fs::path& dir, const Reaper& reaper) {
  std::unique_ptr<LiveFlock> flock(new LiveFlock(reaper, scenario.seed));
  if (const Status made = flock->make(scenario, dir); !made.ok()) return made.error();
  return flock;
}

LiveFlock::~LiveFlock() {
  for (Process& p : processes_) {
    if (p.pid == 0) continue;
    ::kill(p.pid, SIGCONT);
    // No reader is to see a state that is written after the end.
    if (p.role == Role::etcd) ::kill(p.pid, SIGKILL);
  }
  supervisor_.stop_all(std::chrono::seconds(10));
  for (const Process& p : processes_) {
    if (p.pid != 0) reaper_.gone(p.pid);
  }
}

Status LiveFlock::make(const ChaosScenario& scenario, const fs::path& dir) {
  const FlockShape& shape = scenario.flock;
  dir_ = fs::absolute(dir);
  disk_shim_ = shim("disk");
  clock_shim_ = shim("clock");
  if (shape.orphan > 0) {
    const Timers timers = timers_of(shape);
    timers_ = "orphan " + std::to_string(seconds(timers.orphan)) + " kill_grace " +
              std::to_string(seconds(timers.kill_grace)) + " late " +
              std::to_string(seconds(timers.late));
  }
  for (const char* folder : {"work/gpus", "work/ranks", "members", "faults", "etcd"}) {
    if (Status s = make_folder(dir_ / folder); !s.ok()) return s;
  }
  if (shape.hosts == "namespaces") {
    auto made = Namespaces::make(shape.agents, reaper_);
    if (!made) return made.error();
    namespaces_ = std::move(made).value();
    here_ = namespaces_->here();
  }
  GeneratorOptions data_centre;
  data_centre.servers = shape.executors;
  data_centre.gpus_per_server = shape.gpus;
  data_centre.gpus_per_island = std::min(shape.gpus, 4U);
  auto topology = generate_flat(data_centre);
  if (!topology) return topology.error();
  topology_ = std::move(topology).value();
  DeploymentPlan plan;
  plan.dir = dir_ / "flock";
  plan.policy = shape.policy;
  plan.launcher = shape.launcher;
  plan.agents = shape.agents;
  plan.servers_per_executor = 1;
  plan.seed = scenario.seed;
  plan.for_chaos = true;
  if (shape.state == "etcd") {
    if (Status s = start_etcd(); !s.ok()) return s;
    plan.state = "etcd://";
    for (std::uint32_t i = 0; i < kEtcdMembers; ++i)
      plan.state += (i > 0 ? "," : "") + here_ + ":" + std::to_string(etcd_ports_[i]);
    plan.standbys = shape.standbys;
  }
  auto made = create_deployment(plan, *topology_);
  if (!made) return made.error();
  deployment_ = std::move(made).value();
  if (shape.disk_mib > 0) {
    std::vector<fs::path> folders;
    for (const DeployedNode* node : deployment_.with_role(starling::Role::executor))
      folders.push_back(deployment_.node_dir(node->name));
    auto disks = SmallDisks::make(folders, shape.disk_mib, reaper_);
    if (!disks) return disks.error();
    disks_ = std::move(disks).value();
  }
  if (Status s = make_links(); !s.ok()) return s;
  for (Process& p : processes_) {
    if (p.role == Role::etcd) continue;
    set_frames(p, {});
    set_disk(p);
    set_clock(p);
    if (Status s = run(p); !s.ok()) return s;
  }
  return done();
}

std::vector<std::string> LiveFlock::environment_of(const Process& p) const {
  if (p.role == Role::etcd) return {};
  const std::string faults = (dir_ / "faults" / p.name).string();
  std::vector<std::string> names{
      std::string(kMembersVariable) + "=" + (dir_ / "members" / (p.name + ".json")).string(),
      std::string(kFramesVariable) + "=" + faults + ".frames"};
  if (const auto state = state_of_.find(p.name); state != state_of_.end())
    names.push_back(std::string(kStateVariable) + "=" + state->second);
  if (!timers_.empty()) names.push_back(std::string(kTimersVariable) + "=" + timers_);
  const std::string both =
      disk_shim_.string() + (clock_shim_.empty() ? "" : ":") + clock_shim_.string();
  if (!disk_shim_.empty() || !clock_shim_.empty()) names.push_back("LD_PRELOAD=" + both);
  if (!clock_shim_.empty()) names.push_back(std::string(kClockVariable) + "=" + faults + ".clock");
  if (!disk_shim_.empty()) {
    names.push_back(std::string(kDiskVariable) + "=" + faults + ".disk");
    names.push_back(std::string(kDiskFolderVariable) + "=" +
                    (deployment_.node_dir(p.name) / "state").string());
  }
  return names;
}

fs::path LiveFlock::log_of(const Process& p) const {
  return p.role == Role::etcd ? dir_ / "etcd" / (p.name + ".log")
                              : deployment_.node_dir(p.name) / "log";
}

Status LiveFlock::run(Process& p) {
  std::vector<std::string> words;
  if (namespaces_ && p.role != Role::etcd) words = namespaces_->inside(p.rack);
  if (p.role == Role::etcd) {
    words = etcd_words(p.number);
  } else {
    for (const std::string& word :
         {own_program(), std::string(p.role == Role::agent ? "agent" : "executor"),
          std::string("--config"), (deployment_.node_dir(p.name) / "config.json").string()})
      words.push_back(word);
    if (p.protocol != kNewestProtocol)
      words.insert(words.end(), {"--protocol", std::to_string(p.protocol)});
  }
  const auto early =
      p.role == Role::etcd ? Supervisor::EarlyStop::kills : Supervisor::EarlyStop::waits;
  if (Status s = supervisor_.start(p.name, words, log_of(p), environment_of(p), early); !s.ok())
    return s;
  p.pid = supervisor_.pid_of(p.name);
  p.start_at = p.told_to_end = -1;
  p.killed = false;
  p.errors_at_start = p.disk.errors;
  reaper_.lives(p.pid);
  if (p.frozen > 0) ::kill(p.pid, SIGSTOP);
  return done();
}

void LiveFlock::kill(Process& p, double start_again) {
  if (p.pid == 0) return;
  p.killed = true;
  p.start_at = start_again;
  ::kill(p.pid, SIGKILL);
}

void LiveFlock::terminate(Process& p, double now, double start_again) {
  if (p.pid == 0) return;
  p.told_to_end = now;
  p.start_at = start_again;
  ::kill(p.pid, SIGTERM);
}

void LiveFlock::freeze(Process& p) {
  if (++p.frozen == 1 && p.pid != 0) ::kill(p.pid, SIGSTOP);
}

void LiveFlock::wake(Process& p) {
  if (--p.frozen == 0 && p.pid != 0) ::kill(p.pid, SIGCONT);
}

void LiveFlock::set_disk(const Process& p) const {
  const auto text = "full " + std::to_string(p.disk.full > 0) + " error " +
                    std::to_string(p.disk.error > 0) + " errors " + std::to_string(p.disk.errors) +
                    " sync_ms " + std::to_string(p.disk.sync_ms) + "\n";
  const Status written = write_text(dir_ / "faults" / (p.name + ".disk"), text);
  (void)written;  // a fault that does not come about
}

void LiveFlock::set_frames(const Process& p, const FrameFaults& faults) const {
  const Status written = write_text(dir_ / "faults" / (p.name + ".frames"), to_text(faults));
  (void)written;
}

void LiveFlock::limit_files(const Process& p, int spare) const {
  if (p.pid == 0) return;
  rlimit limit{};
  if (prlimit(p.pid, RLIMIT_NOFILE, nullptr, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (spare >= 0) {
    rlim_t open = 0;
    std::error_code error;
    for (fs::directory_iterator at("/proc/" + std::to_string(p.pid) + "/fd", error), end;
         !error && at != end; at.increment(error))
      ++open;
    limit.rlim_cur = std::min(limit.rlim_max, open + static_cast<rlim_t>(spare));
  }
  prlimit(p.pid, RLIMIT_NOFILE, &limit, nullptr);
}

std::vector<LiveFlock::Surprise> LiveFlock::look(double now) {
  std::vector<Surprise> surprises;
  for (const Supervisor::Ended& ended : supervisor_.poll()) {
    const auto at = std::find_if(processes_.begin(), processes_.end(),
                                 [&](const Process& p) { return p.name == ended.name; });
    if (at == processes_.end()) continue;
    Process& p = *at;
    reaper_.gone(p.pid);
    p.pid = 0;
    const bool killed = p.killed && ended.status == -SIGKILL;
    const bool told = p.told_to_end >= 0 && (ended.status == kDone || p.role == Role::etcd);
    const bool disk = ended.status == kDiskFailed &&
                      (now < p.disk_until + 10 || p.disk.errors > p.errors_at_start);
    const bool memory = now < p.memory_until + 10;
    if (!killed && !told && !disk && !memory) surprises.push_back({p.name, describe(ended, 12)});
    if (p.start_at < 0 && !p.lost) p.start_at = now + 1;
  }
  for (Process& p : processes_) {
    if (p.pid != 0 && p.told_to_end >= 0 && p.frozen == 0 && now > p.told_to_end + kEndsWithin) {
      surprises.push_back(
          {p.name,
           "has not ended " + std::to_string(static_cast<int>(kEndsWithin)) + " s after SIGTERM"});
      kill(p, now);
    }
    if (p.pid != 0 || p.start_at < 0 || now < p.start_at) continue;
    if (const Status started = run(p); !started.ok()) {
      surprises.push_back({p.name, started.error().message});
      p.start_at = now + 5;
    } else {
      p.started = now;
    }
  }
  return surprises;
}

void LiveFlock::heal(double now) {
  for (LinkFaults& faults : wanted_) faults = {};
  apply_links();
  for (Process& p : processes_) {
    p.disk.full = p.disk.error = 0;
    p.disk.sync_ms = 0;
    if (p.role != Role::etcd) set_disk(p), set_frames(p, {}), limit_files(p, -1);
    if (p.lost) continue;
    if (std::exchange(p.frozen, 0) > 0 && p.pid != 0) ::kill(p.pid, SIGCONT);
    if (p.pid == 0) p.start_at = std::min(p.start_at < 0 ? now : p.start_at, now);
    if (namespaces_ && p.role == Role::agent)
      namespaces_->link(p.rack, true), namespaces_->loss(p.rack, 0);
  }
}

std::vector<LiveFlock::Surprise> LiveFlock::stop(double patience) {
  std::vector<Surprise> surprises;
  for (const bool etcd : {false, true}) {
    for (Process& p : processes_) {
      if (p.pid == 0 || (p.role == Role::etcd) != etcd) continue;
      ::kill(p.pid, SIGTERM);
      p.told_to_end = 0;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
    const auto alive = [&] {
      return std::any_of(processes_.begin(), processes_.end(), [&](const Process& p) {
        return p.pid != 0 && (p.role == Role::etcd) == etcd;
      });
    };
    while (alive() && std::chrono::steady_clock::now() < until) {
      for (const Supervisor::Ended& ended : supervisor_.poll()) {
        for (Process& p : processes_) {
          if (p.name != ended.name) continue;
          reaper_.gone(p.pid);
          p.pid = 0;
          if (p.role != Role::etcd && ended.status != kDone)
            surprises.push_back({p.name, describe(ended, 12)});
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (const Process& p : processes_) {
      if (p.pid != 0 && (p.role == Role::etcd) == etcd)
        surprises.push_back({p.name, "did not end on SIGTERM"});
    }
  }
  return surprises;
}

}  // namespace starling::chaos_live
