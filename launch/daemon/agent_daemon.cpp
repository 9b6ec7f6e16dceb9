#include <atomic>

#include "launch/daemon/daemon.h"
#include "launch/daemon/partition_life.h"
#include "launch/daemon/standby.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/signals.h"

namespace starling {
namespace {

/// Lives of the process's own partition, one after the other, until it is to stop.
int serve_own(const DaemonParts& host, const HostedSeat& own) {
  const std::atomic<bool> wanted{false};
  for (;;) {
    auto opened = open_partition(host.deployment, host.me, host.state);
    if (!opened) return daemon_failed(opened.error());
    PartitionState& partition = opened.value();
    const Status ended = live(host, own, partition, wanted);
    if (ended.ok()) {
      log_info("stopped on request");
      return kDone;
    }
    const Errc why = ended.error().code;
    if (host.deployment.state.empty() || (why != Errc::fenced && why != Errc::io)) {
      log_error("stopping: " + ended.error().message);
      return why == Errc::invalid ? kBadInput : kDiskFailed;
    }
    log_error("partition " + std::to_string(own.partition.value) + ": no longer served at epoch " +
              std::to_string(partition.mine.epoch.value) + ": " + ended.error().message);
  }
}

}  // namespace

int run_agent(const std::filesystem::path& config) {
  catch_stop_signals();
  raise_file_limit();
  auto opened = open_daemon(config, Role::agent);
  if (!opened) return daemon_failed(opened.error());
  const DaemonParts& host = opened.value();
  auto seats = seats_of(host);
  if (!seats) return daemon_failed(seats.error());
  if (host.deployment.state.empty()) return serve_own(host, seats.value().front());
  int status = kDone;
  {
    Standby standby(host, seats.value());
    status = serve_own(host, seats.value().front());
    request_stop();  // whatever ended it: the standby seats end with it
  }
  return status;
}

}  // namespace starling
