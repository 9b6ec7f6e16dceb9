// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/deployment/flock_owner.h"
#include "launch/flock/flock_restart.h"
#include "launch/hosts/host_flock.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

struct Options {
  std::string flock;
  std::uint32_t protocol = kNewestProtocol;
  std::vector<std::string> names;
};

/// Agents first, each at its own time: their places are taken over where others can.
Result<std::vector<std::string>> daemons_of(const Deployment& flock,
                                            const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const Role role : {Role::agent, Role::executor}) {
    for (const DeployedNode* node : flock.with_role(role)) names.push_back(node->name);
  }
  if (wanted.empty()) return names;
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return {Errc::invalid, "the flock has no daemon '" + name + "'"};
  }
  return wanted;
}

int restart(const Options& o, bool protocol_given) {
  const auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  const auto deployment = read_deployment(dir.value());
  if (!deployment) return failed(deployment.error());
  if (const Status may = may_manage(dir.value(), "restart"); !may.ok()) return failed(may.error());
  catch_stop_signals();
  Status s = done();
  if (is_host_flock(dir.value())) {
    s = restart_hosts(deployment.value(), o.names, static_cast<std::uint16_t>(o.protocol),
                      print_restarted);
  } else {
    if (protocol_given)
      return bad_input(
          "restart: --protocol is for hosts; here daemons speak as their 'up' was told");
    const auto names = daemons_of(deployment.value(), o.names);
    s = names ? restart_here(deployment.value(), names.value(), print_restarted)
              : Status(names.error());
  }
  if (s.ok()) return kDone;
  const std::string text = "restart: " + s.error().message;
  const bool asked_wrongly = s.error().code == Errc::invalid || s.error().code == Errc::conflict ||
                             s.error().code == Errc::unsupported;
  return asked_wrongly ? bad_input(text) : work_failed(text);
}

}  // namespace

void add_restart(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("restart", "start the daemons of a flock anew, one by one or host by host");
  command.option("--flock", o->flock, "DIR", "its directory; default $STARLING_FLOCK");
  command.option("--protocol", o->protocol, "N",
                 "on hosts: newest version of the protocol that they speak (default 5)",
                 kOldestProtocol, kNewestProtocol);
  command.rest("NAME", o->names, "daemons of a flock here, or hosts (default: all)");
  command.examples({"starling restart --flock ~/flock", "starling restart executor-0",
                    "starling restart --protocol 1 h1"});
  command.action([o, command] { return restart(*o, command.given("--protocol")); });
}

}  // namespace starling
