// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/visible.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"

namespace starling {
namespace {

struct Options {
  std::string flock, job;
  bool json = false;
};

int explain(const Options& options) {
  if (Status right = check_job_text(options.job); !right.ok())
    return bad_input("explain: " + right.error().message);
  auto flock = connected_flock(options.flock);
  if (!flock) return failed(flock.error());
  auto found = one_job(*flock.value(), options.job);
  if (!found) return failed(found.error());
  const JobState& state = found.value();
  if (!options.json)
    std::printf("%s is %s at agent-%u\n", to_string(state.job).c_str(), state_name(state),
                state.home.value);
  const auto why = flock.value()->explain(state);
  if (!why) return work_failed("explain: " + why.error().message);
  if (options.json) {
    nlohmann::json silent = nlohmann::json::array();
    for (const AgentId agent : why.value().silent) silent.push_back(agent.value);
    nlohmann::json j{{"job", to_string(state.job)},
                     {"state", state_name(state)},
                     {"agent", state.home.value},
                     {"lines", why.value().lines},
                     {"silent", silent},
                     {"log_tail", state.exit.log_tail}};
    std::printf("%s\n", j.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).c_str());
    return kDone;
  }
  for (const std::string& line : why.value().lines) std::printf("%s\n", visible_line(line).c_str());
  // An executor of an earlier version lets more through.
  if (const std::string tail = visible(state.exit.log_tail); terminal(state.phase) && !tail.empty())
    std::printf("last output:\n%s%s", tail.c_str(), tail.back() == '\n' ? "" : "\n");
  return kDone;
}

}  // namespace

void add_explain(const Command& root) {
  const auto options = std::make_shared<Options>();
  const Command command =
      root.sub("explain", "why a job waits: which agent and level lacks what, which owner refused");
  command.positional("JOB", options->job, "its id, or how no other begins");
  command.option("--flock", options->flock, "DIR",
                 "directory of the flock; default $STARLING_FLOCK");
  command.flag("--json", options->json, "only JSON on stdout");
  command.examples({"starling explain 12ab34"});
  command.action([options] { return explain(*options); });
}

}  // namespace starling
