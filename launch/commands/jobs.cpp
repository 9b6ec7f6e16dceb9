#include <cstdio>
#include <memory>

#include "base/visible.h"
#include "launch/commands/commands.h"
#include "launch/exit_codes.h"
#include "launch/hosts/keeper.h"
#include "launch/job_lookup.h"
#include "launch/text.h"

namespace starling {
namespace {

struct Options {
  std::string flock;
  bool json = false, waiting = false;
};

int list(const Options& options) {
  const auto dir = flock_dir(options.flock);
  if (!dir) return failed(dir.error());
  auto session = open_session(options.flock);
  if (!session) return failed(session.error());
  for (const std::string& line : daemon_troubles(dir.value()))
    std::fprintf(stderr, "starling: %s\n", visible_line(line).c_str());
  const JobsFound found = all_jobs(*session.value());
  if (found.silent.size() == session.value()->agents())
    return work_failed("jobs: " + silence_text(found.silent) + "; is the flock up?");
  std::string json;
  std::vector<std::vector<std::string>> rows{job_heading()};
  for (const JobState& job : found.jobs) {
    if (options.waiting && job.phase != JobPhase::waiting) continue;
    json += (json.empty() ? "\n " : ",\n ") + job_json(job, session.value()->host_of(job.home));
    rows.push_back(job_cells(job, session.value()->host_of(job.home)));
  }
  if (options.json) {
    std::string silent;
    for (const AgentId agent : found.silent)
      silent += (silent.empty() ? "" : ", ") + std::to_string(agent.value);
    std::printf("{\"schema\": 1, \"silent\": [%s], \"jobs\": [%s]}\n", silent.c_str(),
                json.c_str());
  } else {
    std::fputs(table_text(rows).c_str(), stdout);
  }
  if (found.silent.empty()) return kDone;
  return work_failed("jobs: " + silence_text(found.silent) + "; what lives there is missing here");
}

}  // namespace

void add_jobs(const Command& root) {
  const auto options = std::make_shared<Options>();
  const Command command = root.sub("jobs", "the jobs of a flock");
  command.option("--flock", options->flock, "DIR",
                 "directory of the flock; default $STARLING_FLOCK");
  command.flag("--waiting", options->waiting, "only those that wait");
  command.flag("--json", options->json, "only JSON on stdout");
  command.examples({"starling jobs --flock ~/flock --waiting"});
  command.action([options] { return list(*options); });
}

}  // namespace starling
