#include <memory>

#include "launch/commands/commands.h"
#include "launch/daemon/daemon.h"
#include "launch/exit_codes.h"

namespace starling {

void add_agent(const Command& root) {
  const auto config = std::make_shared<std::string>();
  const Command command =
      root.sub("agent", "one scheduler, until SIGTERM ('up' and 'run' start them)");
  command.option("--config", *config, "FILE", "nodes/NAME/config.json of a flock");
  command.examples({"starling agent --config ~/flock/nodes/agent-0/config.json"});
  command.action([config] {
    if (config->empty())
      return bad_input("agent: --config FILE is missing; 'starling up' writes one per node");
    return run_agent(*config);
  });
}

void add_executor(const Command& root) {
  struct Options {
    std::string config, launcher;
  };
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("executor", "runs jobs on some servers, until SIGTERM ('up' and 'run' start them)");
  command.option("--config", o->config, "FILE", "nodes/NAME/config.json of a flock");
  command.option("--launcher", o->launcher, "process|emulated",
                 "jobs are commands, or pretend to run (default: as the flock says)");
  command.examples({"starling executor --config ~/flock/nodes/executor-0/config.json"});
  command.action([o] {
    if (o->config.empty())
      return bad_input("executor: --config FILE is missing; 'starling up' writes one per node");
    if (!o->launcher.empty() && o->launcher != "process" && o->launcher != "emulated") {
      return bad_input("executor: --launcher: '" + o->launcher +
                       "' is wrong; give process or emulated");
    }
    return run_executor(o->config, o->launcher);
  });
}

}  // namespace starling
