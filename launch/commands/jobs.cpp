#include <cstdio>
#include <memory>

#include "launch/commands/commands.h"
#include "launch/exit_codes.h"
#include "launch/job_lookup.h"
#include "launch/text.h"

namespace starling {
namespace {

struct Options {
  std::string flock;
  bool json = false, waiting = false;
};

int list(const Options& options) {
  auto session = open_session(options.flock);
  if (!session) return failed(session.error());
  auto jobs = all_jobs(*session.value());
  if (!jobs) return failed(jobs.error());
  std::string json;
  std::vector<std::vector<std::string>> rows{job_heading()};
  for (const JobState& job : jobs.value()) {
    if (options.waiting && job.phase != JobPhase::waiting) continue;
    json += (json.empty() ? "\n " : ",\n ") + job_json(job, session.value()->host_of(job.home));
    rows.push_back(job_cells(job, session.value()->host_of(job.home)));
  }
  if (options.json) {
    std::printf("{\"schema\": 1, \"jobs\": [%s]}\n", json.c_str());
  } else {
    std::fputs(table_text(rows).c_str(), stdout);
  }
  return kDone;
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
