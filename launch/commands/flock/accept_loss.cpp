// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/accept_loss.h"

#include <cstdio>
#include <memory>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/flock_owner.h"

namespace starling {
namespace {

struct Options {
  std::string flock, node;
  bool all = false;
};

/// Zero, or the exit status.
int accept_of(const Deployment& deployment, const DeployedNode& node, bool where_needed) {
  const auto loss = accept_loss(deployment.node_dir(node.name) / "config.json", node.role);
  if (!loss && where_needed && loss.error().code == Errc::not_found) return kDone;
  if (!loss) return failed({loss.error().code, "accept-loss: " + loss.error().message});
  std::printf("%s\n", text_of(loss.value(), node.name).c_str());
  return kDone;
}

int accept(const Options& o) {
  const auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  const auto deployment = read_deployment(dir.value());
  if (!deployment) return failed(deployment.error());
  if (const Status may = may_manage(dir.value(), "accept-loss"); !may.ok())
    return failed(may.error());
  if (o.all != o.node.empty()) return bad_input("accept-loss: give the NODE, or --all");
  for (const DeployedNode& node : deployment.value().nodes) {
    if (!o.all || (node.role != Role::agent && node.role != Role::executor)) continue;
    if (const int status = accept_of(deployment.value(), node, true); status != kDone)
      return status;
  }
  if (o.all) return kDone;
  const DeployedNode* node = deployment.value().find(o.node);
  if (node == nullptr || (node->role != Role::agent && node->role != Role::executor))
    return bad_input("accept-loss: the flock has no agent or executor '" + o.node + "'");
  return accept_of(deployment.value(), *node, false);
}

}  // namespace

void add_accept_loss(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("accept-loss", "lets a node whose state lacks records go on without them");
  command.option("--flock", o->flock, "DIR", "where 'up' put the flock (default: $STARLING_FLOCK)");
  command.positional("NODE", o->node, "agent-0, executor-3: one that says that it lost something",
                     false);
  command.flag("--all", o->all, "every node that lost something, as after 'restore'");
  command.examples({"starling accept-loss agent-0 --flock ~/flock"});
  command.action([o] { return accept(*o); });
}

}  // namespace starling
