// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/jobs/follow_job.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling {
namespace {

struct Options {
  std::string flock, job;
  std::optional<std::string> rank;
  std::uint32_t tail = 0;
  bool follow = false, raw = false, json = false;
};

int logs(const Options& o) {
  if (Status right = check_job_text(o.job); !right.ok())
    return bad_input("logs: " + right.error().message);
  if (o.json && o.raw) return bad_input("logs: --json and --raw exclude each other");
  FollowOptions how{.raw = o.raw, .lines = o.json, .from_end = o.tail};
  if (o.rank) {
    const auto rank = parse_whole(*o.rank);
    if (!rank || *rank > 8191)
      return bad_input("logs: --rank: '" + *o.rank + "' is wrong, give a number from 0");
    how.rank = static_cast<std::uint32_t>(*rank);
  }
  catch_stop_signals();
  auto found = connected_flock(o.flock);
  if (!found) return failed(found.error());
  FlockClient& flock = *found.value();
  const auto state = one_job(flock, o.job);
  if (!state) return failed(state.error());
  if (!o.follow) return show_output(flock, state.value(), how);
  return follow_job(flock, state.value().job, how);
}

}  // namespace

void add_logs(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command = root.sub("logs", "what a job prints, or has printed");
  command.positional("JOB", o->job, "its id, or how no other begins");
  command.flag("-f,--follow", o->follow, "go on until it has ended");
  command.option("--rank", o->rank, "N", "of that worker alone");
  command.option("--tail", o->tail, "BYTES", "only so much from the end, of each server", 1U,
                 1U << 30U);
  command.flag("--json", o->json, "a JSON object a line: job, attempt, server, rank, line");
  command.flag("--raw", o->raw, "onto a terminal, too, just as it was printed");
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  command.examples({"starling logs 12ab34 -f", "starling logs 12ab34 --rank 3 > rank3.txt",
                    "starling logs 12ab34 --json | jq -r 'select(.rank == 3).line'"});
  command.action([o] { return logs(*o); });
}

}  // namespace starling
