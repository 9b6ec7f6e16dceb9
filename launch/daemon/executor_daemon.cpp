// SPDX-License-Identifier: Apache-2.0
#include "agents/executor/executor_state.h"
#include "base/counted.h"
#include "interference/models.h"
#include "launch/command_line/background.h"
#include "launch/command_line/exit_codes.h"
#include "launch/daemon/daemon.h"
#include "launch/daemon/goodbye_line.h"
#include "launch/daemon/machine_report.h"
#include "launch/daemon/room_line.h"
#include "launch/daemon/watched_launcher.h"
#include "launch/deployment/old_state.h"
#include "launch/deployment/server_addresses.h"
#include "launch/deployment/transport.h"
#include "launch/launchers/emulated_launcher.h"
#include "launch/launchers/part_folders.h"
#include "launch/launchers/process_launcher.h"
#include "launch/servers/core_config.h"
#include "launch/servers/generations.h"
#include "launch/servers/own_numbers.h"
#include "launch/system/log.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

/// A launcher and what it refers to.
struct Machinery {
  std::unique_ptr<Physics> physics;
  std::unique_ptr<Launcher> launcher;
};

Result<Machinery> machinery(const DaemonParts& parts, const std::string& kind, IndexRange gpus,
                            std::uint32_t jobs_per_gpu, const ScaledClock& clock) {
  Machinery m;
  if (kind == "process") {
    ProcessOptions options;
    options.notice = [](const std::string& line) { log_info(line); };
    const std::filesystem::path dir = parts.deployment.node_dir(parts.me.name);
    options.logs = dir / "jobs";
    options.parts = dir / "parts";
    options.gpu_locks = dir / "gpu-locks";
    options.gpus = gpus;
    options.jobs_per_gpu = jobs_per_gpu;
    options.speedup = clock.speedup();
    const auto earlier = earlier_generations(parts.deployment);
    if (!earlier) return earlier.error();
    options.label = [labels = server_labels(earlier.value(), parts.topology)](ServerId server) {
      return labels.at(server.value);
    };
    auto addresses = server_addresses(parts.deployment);
    if (!addresses) return addresses.error();
    options.address = std::move(addresses).value();
    auto launcher = ProcessLauncher::open(options, parts.topology, clock);
    if (!launcher) return launcher.error();
    m.launcher = std::move(launcher).value();
    return m;
  }
  const Deployment& flock = parts.deployment;
  m.physics = flock.full_physics() ? make_full_physics(parts.topology, {.goodput = flock.goodput()})
                                   : make_trace_physics();
  m.launcher = std::make_unique<EmulatedLauncher>(parts.topology, *m.physics, clock);
  return m;
}

/// What an executor must not forget is about processes of this machine, so it stays here.
Result<PartitionState> open_journal(const DaemonParts& parts) {
  PartitionState state;
  const Status used =
      use_journal(state, open_own_journal(parts.me, parts.deployment.dir, parts.state));
  if (!used.ok()) return used.error();
  return state;
}

/// On request: jobs go on, where they are kept, or end.
int stopped(const std::filesystem::path& parts) {
  if (jobs_are_kept()) {
    log_info("stopped on request; jobs go on");
    return kDone;
  }
  if (!end_parts(parts, kEndGrace)) log_error("some jobs do not die; their guardians stay");
  log_info("stopped on request");
  return kDone;
}

}  // namespace

int run_executor(const std::filesystem::path& config, const std::string& launcher,
                 std::uint16_t protocol) {
  catch_stop_signals();
  end_within(kEndsWithin_s);
  ignore_hangup();
  raise_file_limit();
  // Before anything else, because nothing else may work: parts that have lost their guardian.
  const std::filesystem::path left = config.parent_path() / "parts";
  if (const std::size_t some = clear_unguarded(left); some > 0)
    log_error(std::to_string(some) + " parts without guardian do not die");
  auto opened = open_daemon(config, Role::executor, protocol);
  if (!opened) return daemon_failed(opened.error());
  DaemonParts& parts = opened.value();
  const std::string kind = launcher.empty() ? parts.deployment.launcher : launcher;
  const ScaledClock clock(parts.deployment.speedup);
  auto opened_journal = open_journal(parts);
  if (!opened_journal) return daemon_failed(opened_journal.error());
  PartitionState& state = opened_journal.value();
  if (const Status s = renumber_journal(parts.me, parts.deployment, parts.topology, *state.journal,
                                        state.recovered);
      !s.ok())
    return daemon_failed(s.error());
  auto bus = open_endpoint(parts.deployment, parts.me.id, parts.keys, Limits{});
  if (!bus) return daemon_failed(bus.error());
  ScaledEndpoint endpoint(*bus.value(), clock);
  auto made = executor_config(parts.deployment, parts.me);
  if (!made) return daemon_failed(made.error());
  ExecutorConfig core = std::move(made).value();
  core.protocol = protocol;
  core.topology = fingerprint_in(parts.deployment, parts.topology);
  // Of one boot of the machine, as are the processes that it is about.
  if (clock.speedup() == 1) core.calendar = machine_clock().now() - clock.now();
  core.incarnation = after_last_life(parts.incarnation, state.recovered);
  log_info("life " + std::to_string(core.incarnation.value) + ", " +
           counted(state.recovered.size(), "record") + " recovered");
  if (Status fits = fits_journal(core, parts.topology, state.recovered); !fits.ok())
    return daemon_failed(fits.error());
  const IndexRange gpus{parts.topology.server(ServerId{core.servers.first}).gpus.first,
                        parts.topology.server(ServerId{core.servers.last - 1}).gpus.last};
  auto m = machinery(parts, kind, gpus, core.limits.jobs_per_gpu, clock);
  if (!m) return daemon_failed(m.error());
  const bool real = kind == "process";
  const std::filesystem::path dir = parts.deployment.node_dir(parts.me.name);
  const auto health = read_health_options(parts.deployment.dir);
  if (!health) return daemon_failed(health.error());
  auto missing = real ? check_machine(parts.topology, core.servers, health.value(), dir)
                      : Result<std::vector<HardwareFinding>>(std::vector<HardwareFinding>());
  if (!missing) return daemon_failed(missing.error());
  const MachineWatch watch(health.value(), real, machine_clock());
  MachineReport report(parts.topology, core.servers, health.value(), std::move(missing).value(),
                       &watch);
  WatchedLauncher watched(*m.value().launcher, dir / "health", gpus, machine_clock(), &report);
  ExecutorNode node(Executor(core, parts.topology, state.recovered), endpoint, *state.journal,
                    watched, node_options(clock, true, state.found));
  node.recall(state.recovered);
  Housekeeping house;
  house.inherited = state.recovered.size();
  RoomLine room;
  house.compact = [&] { return room.is_short() ? Result<bool>(false) : node.compact_some(); };
  house.bytes = [&] { return state.journal->bytes(); };
  house.keep = [&] { return room.say(*state.journal), done(); };
  GoodbyeLine goodbye;
  house.pulse = [&] { goodbye.say(node); };
  state.recovered = {};
  log_info("serving servers " + std::to_string(core.servers.first) + " to " +
           std::to_string(core.servers.last - 1) + " with the " + kind + " launcher");
  Status ended = serve(node, clock, house);
  if (!ended.ok() && node.outlived())
    ended = note_outlived(parts, node, core.incarnation, state.journal->position());
  if (!ended.ok()) {
    log_error("stopping: " + ended.error().message);
    return ended.error().code == Errc::invalid ? kBadInput : kDiskFailed;
  }
  return stopped(left);
}

}  // namespace starling
