#include "interference/models.h"
#include "launch/daemon/daemon.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/signals.h"
#include "launch/transport.h"
#include "launch/wiring.h"

namespace starling {
namespace {

/// Says how things stand, when they have changed.
class StatusLine {
 public:
  void say(const AgentStatus& s, const NodeCounters& c) {
    const std::string line =
        std::to_string(s.accepted) + " jobs accepted, " + std::to_string(s.waiting) + " waiting, " +
        std::to_string(s.running) + " running, " + std::to_string(s.finished) + " finished, " +
        std::to_string(s.failed) + " failed; " + std::to_string(s.free) + " of " +
        std::to_string(s.gpus) + " GPUs free, " + std::to_string(s.quarantined) + " quarantined; " +
        std::to_string(c.bad_frames + c.unauthorised) + " frames refused, " +
        std::to_string(c.dropped) + " dropped";
    if (line != last_) log_info(line);
    last_ = line;
  }

 private:
  std::string last_;
};

}  // namespace

int run_agent(const std::filesystem::path& config) {
  catch_stop_signals();
  raise_file_limit();
  auto opened = open_daemon(config, Role::agent);
  if (!opened) return daemon_failed(opened.error());
  DaemonParts& parts = opened.value();
  auto policy = all_policies().make(parts.deployment.policy);
  if (!policy) return daemon_failed(policy.error());
  const AgentId me{parts.me.partition.value};
  auto core = agent_config(parts.deployment, parts.topology, me);
  if (!core) return daemon_failed(core.error());
  core.value().incarnation = parts.incarnation;
  core.value().epoch = parts.partition.mine.epoch;
  const auto speed =
      parts.deployment.physics == "full" ? make_analytic_speed(parts.topology) : make_flat_speed();
  const Rng rng = Rng(parts.deployment.seed).fork(me.value).fork(parts.incarnation.value);
  const ScaledClock clock(parts.deployment.speedup);
  ScaledEndpoint endpoint(*parts.endpoint, clock);
  NodeOptions options;
  options.clock = &clock;
  options.stopwatch = &machine_clock();
  AgentNode node(Agent(std::move(core).value(), parts.topology, *speed, std::move(policy).value(),
                       rng, parts.partition.recovered),
                 endpoint, *parts.partition.journal, options);
  Housekeeping house;
  house.inherited = parts.partition.recovered.size();
  parts.partition.recovered = {};
  StatusLine line;
  const auto pulse = [&] { line.say(node.core().status(), node.counters()); };
  log_info("serving with policy " + parts.deployment.policy);
  house.compact = [&] { return node.compact(); };
  house.keep = [&] { return keep_partition(parts.partition); };
  house.pulse = pulse;
  house.journal_failed = parts.deployment.state.empty() ? kDiskFailed : kStateLost;
  const int status = serve(node, clock, house);
  pulse();
  if (status == kDone) parts.partition.authority->release(parts.partition.mine);
  return status;
}

}  // namespace starling
