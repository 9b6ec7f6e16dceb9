// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "launch/command_line/background.h"
#include "launch/command_line/exit_codes.h"
#include "launch/daemon/daemon.h"
#include "launch/daemon/hosting.h"
#include "launch/daemon/partition_life.h"
#include "launch/deployment/transport.h"
#include "launch/system/log.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

/// The one life of a partition whose state is in this process's directory.
int serve_local(const DaemonParts& host, const HostedSeat& own) {
  auto opened = open_local_partition(host.me, host.deployment.dir, host.state);
  if (!opened) return daemon_failed(opened.error());
  const std::atomic<bool> wanted{false};
  const Status ended = live(host, own, opened.value(), wanted);
  if (ended.ok()) {
    log_info("stopped on request");
    return kDone;
  }
  log_error("stopping: " + ended.error().message);
  return ended.error().code == Errc::invalid ? kBadInput : kDiskFailed;
}

}  // namespace

int run_agent(const std::filesystem::path& config, std::uint16_t protocol) {
  catch_stop_signals();
  end_within(kEndsWithin_s);
  ignore_hangup();
  raise_file_limit();
  auto opened = open_daemon(config, Role::agent, protocol);
  if (!opened) return daemon_failed(opened.error());
  const DaemonParts& host = opened.value();
  auto seats = seats_of(host);
  if (!seats) return daemon_failed(seats.error());
  for (const HostedSeat& seat : seats.value()) {
    if (seat.seat != 0) forget_taken_flock(seat.keys);  // an earlier life may have left it
  }
  if (host.deployment.state.empty()) return serve_local(host, seats.value().front());
  return Hosting(host, std::move(seats).value()).run();
}

}  // namespace starling
