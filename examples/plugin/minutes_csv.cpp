// SPDX-License-Identifier: Apache-2.0
// A trace reader as a shared library: lines "name;minute of submission;GPUs;minutes".
//   starling sim ... --trace jobs.txt --format ./minutes_csv.so
#include <sstream>

#include "launch/wiring/plugin.h"

namespace {

using namespace starling;

Result<Trace> read_minutes(const std::string& text, const std::string& file) {
  Trace trace;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    TraceJob job;
    std::istringstream fields(line);
    double submit = 0, minutes = 0;
    char between = 0, behind = 0;
    std::getline(fields, job.spec.name, ';');
    fields >> submit >> between >> job.spec.gpus_per_worker >> behind >> minutes;
    if (!fields || between != ';' || behind != ';' || submit < 0 || job.spec.gpus_per_worker < 1)
      return {Errc::invalid, file + ":" + std::to_string(number) +
                                 ": is no line 'name;minute;GPUs;minutes', such as 'bert;0;4;90'"};
    if (minutes <= 0) {
      ++trace.dropped;
      continue;
    }
    job.submit = from_seconds(60 * submit);
    job.spec.duration = from_seconds(60 * minutes);
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

}  // namespace

STARLING_TRACE_PLUGIN(read_minutes)
