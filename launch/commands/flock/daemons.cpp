// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/daemon/daemon.h"
#include "launch/deployment/accept_loss.h"
#include "launch/system/log.h"

namespace starling {
namespace {

void add_protocol(const Command& command, std::uint32_t& protocol) {
  command.option("--protocol", protocol, "N",
                 "newest version of the protocol to speak (default 2; 1: as the version before)",
                 kOldestProtocol, kNewestProtocol);
}

void add_accept(const Command& command, bool& accept) {
  command.flag("--accept-loss", accept,
               "before that, go on on purpose from a state that lacks records ('accept-loss')");
}

/// Zero, or the exit status.
int accept_before(bool accept, const std::string& config, Role role) {
  if (!accept) return kDone;
  const auto loss = accept_loss(config, role);
  if (!loss && loss.error().code == Errc::not_found) return kDone;  // it was accepted before
  if (!loss) return daemon_failed(loss.error());
  log_info(text_of(loss.value(), "the node"));
  return kDone;
}

}  // namespace

void add_agent(const Command& root) {
  struct Options {
    std::string config;
    std::uint32_t protocol = kNewestProtocol;
    bool accept = false;
  };
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("agent", "one scheduler, until SIGTERM ('up' and 'run' start them)");
  command.option("--config", o->config, "FILE", "nodes/NAME/config.json of a flock");
  add_protocol(command, o->protocol);
  add_accept(command, o->accept);
  command.examples({"starling agent --config ~/flock/nodes/agent-0/config.json"});
  command.action([o] {
    if (o->config.empty())
      return bad_input("agent: --config FILE is missing; 'starling up' writes one per node");
    if (const int failed = accept_before(o->accept, o->config, Role::agent); failed != kDone)
      return failed;
    return run_agent(o->config, static_cast<std::uint16_t>(o->protocol));
  });
}

void add_executor(const Command& root) {
  struct Options {
    std::string config, launcher;
    std::uint32_t protocol = kNewestProtocol;
    bool accept = false;
  };
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("executor", "runs jobs on some servers, until SIGTERM ('up' and 'run' start them)");
  command.option("--config", o->config, "FILE", "nodes/NAME/config.json of a flock");
  command.option("--launcher", o->launcher, "process|emulated",
                 "jobs are commands, or pretend to run (default: as the flock says)");
  add_protocol(command, o->protocol);
  add_accept(command, o->accept);
  command.examples({"starling executor --config ~/flock/nodes/executor-0/config.json"});
  command.action([o] {
    if (o->config.empty())
      return bad_input("executor: --config FILE is missing; 'starling up' writes one per node");
    if (!o->launcher.empty() && o->launcher != "process" && o->launcher != "emulated") {
      return bad_input("executor: --launcher: '" + o->launcher +
                       "' is wrong; give process or emulated");
    }
    if (const int failed = accept_before(o->accept, o->config, Role::executor); failed != kDone)
      return failed;
    return run_executor(o->config, o->launcher, static_cast<std::uint16_t>(o->protocol));
  });
}

}  // namespace starling
