// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/daemon.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

#include "launch/command_line/exit_codes.h"
#include "launch/deployment/deployment_check.h"
#include "launch/deployment/old_state.h"
#include "launch/deployment/transport.h"
#include "launch/hooks/hooks.h"
#include "launch/system/log.h"
#include "launch/system/signals.h"
#include "store/sqlite/disk_reserve.h"
#include "store/sqlite/sqlite_journal.h"
#include "topology/file/load.h"

namespace starling {
namespace {

/// A journal that has grown by so many records, or by so many bytes and to twice what it was, since
/// it was last replaced is replaced by a snapshot.
constexpr std::uint64_t kCompactAfter = 200'000, kCompactBytes = 16ULL << 20U;
/// Of cycles between two steps of that.
constexpr Duration kStepSlice = std::chrono::milliseconds(10);
constexpr Duration kPulse = std::chrono::seconds(10);
constexpr Duration kSlice = std::chrono::milliseconds(500);
/// How often an agent that may say nothing asks whether it may again.
constexpr std::chrono::milliseconds kSilentPause{20};

/// A process that was killed holds its lock until the system has done with it, and so does, for a
/// moment, what it was about to start: that can take seconds where many want to run.
Result<StateDir> take_state(const std::filesystem::path& dir) {
  constexpr int kTries = 50;
  for (int i = 0;; ++i) {
    auto state = StateDir::take(dir);
    if (state || state.error().code != Errc::conflict || i == kTries || stop_requested())
      return state;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

Result<DaemonParts> open_daemon(const std::filesystem::path& config, Role role,
                                std::uint16_t protocol) {
  auto file = read_node_file(config);
  if (!file) return file.error();
  log_as(file.value().node);
  auto deployment = read_deployment(file.value().flock);
  if (!deployment) return deployment.error();
  const bool for_chaos = deployment.value().for_chaos;
  if (const Status s = chaos_live::no_hooks(for_chaos); !s.ok()) return s.error();
  if (const char* state = chaos_live::hook(for_chaos, chaos_live::kStateVariable))
    deployment.value().state = state;
  const DeployedNode* me = deployment.value().find(file.value().node);
  if (me == nullptr || me->role != role) {
    return {Errc::invalid, config.string() + ": the flock has no such " +
                               (role == Role::agent ? "agent" : "executor") + " as '" +
                               file.value().node + "'"};
  }
  auto topology = load_topology((file.value().flock / deployment.value().topology).string());
  if (!topology) return {Errc::invalid, topology.error().message};
  if (const Status fits = fits_topology(deployment.value(), topology.value()); !fits.ok())
    return fits.error();
  auto state = take_state(file.value().state);
  if (!state) return state.error();
  auto incarnation = state.value().next_incarnation();
  // As its journal does, once that is open.
  DiskReserve reserve(SqliteJournal::reserve_beside(state.value().path() / "journal.db"));
  while (!incarnation && incarnation.error().code == Errc::io && reserve.release())
    incarnation = state.value().next_incarnation();
  if (!incarnation) return incarnation.error();
  return DaemonParts{std::move(deployment).value(),
                     *me,
                     std::move(topology).value(),
                     std::move(state).value(),
                     incarnation.value(),
                     file.value().keys,
                     protocol};
}

NodeOptions node_options(const ScaledClock& clock, bool sole, std::uint64_t found) {
  NodeOptions options;
  options.clock = &clock;
  std::random_device random;
  options.born = (std::uint64_t{random()} << 32U | random()) | 1U;
  options.sole = sole;
  options.began = found;
  return options;
}

Told told_by(const DaemonParts& host, const Outlived& outlived, std::uint64_t at) {
  Told told{outlived.life, outlived.written, "node " + std::to_string(outlived.by.value), false,
            at};
  for (const DeployedNode& peer : host.deployment.nodes)
    if (peer.id == outlived.by) told.by = peer.name;
  return told;
}

Status note_outlived(const DaemonParts& host, const Node& node, Incarnation life,
                     std::uint64_t written) {
  STARLING_CHECK(node.outlived().has_value());
  const Outlived& outlived = *node.outlived();
  const Told told = told_by(host, outlived, written);
  if (Status noted = write_told(host.state, told); !noted.ok()) return noted;
  return {Errc::invalid, old_copy_text(host.me, host.deployment.dir, life, written, told)};
}

int daemon_failed(const Error& error) {
  if (error.code == Errc::not_ready && stop_requested()) {
    log_info(error.message);
    return kDone;
  }
  if (error.code != Errc::io) return bad_input(error.message);
  log_error(error.message);
  return kDiskFailed;
}

Status serve(Node& node, const ScaledClock& clock, Housekeeping house) {
  const Clock& machine = machine_clock();
  Instant next_pulse = later(machine.now(), kPulse);
  Instant next_keep = machine.now();
  std::uint64_t compacted = 0, replaced_at = kCompactBytes;
  bool compacting = false;
  while (!stop_requested()) {
    if (house.may_speak_until) node.may_speak_until(house.may_speak_until());
    const auto ran =
        node.run_until(later(clock.now(), clock.stretched(compacting ? kStepSlice : kSlice)));
    Status kept = ran ? done() : Status(ran.error());
    const bool grown = house.inherited + node.counters().records > compacted + kCompactAfter ||
                       house.bytes() > replaced_at;
    if (kept.ok() && (grown || compacting)) {
      const Result<bool> more = house.compact();
      if (!more) kept = more.error();
      if (compacting = more && more.value(); !compacting) {
        house.inherited = 0;
        compacted = node.counters().records;
        replaced_at = house.bytes() + std::max(house.bytes(), kCompactBytes);
      }
    }
    if (!kept.ok() && node.outlived() && kept.error().code == Errc::fenced) return kept;
    if (!kept.ok())
      return {kept.error().code, "the journal cannot be written: " + kept.error().message};
    const bool silent = !node.may_speak(clock.now());
    if (silent) std::this_thread::sleep_for(kSilentPause);
    if (silent || machine.now() >= next_keep) {
      if (Status mine = house.keep(); !mine.ok()) return mine;
      next_keep = later(machine.now(), kSlice);
    }
    if (machine.now() >= next_pulse) {
      house.pulse();
      next_pulse = later(machine.now(), kPulse);
    }
  }
  return done();
}

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace starling
