// SPDX-License-Identifier: Apache-2.0
#include "workload/run_details.h"

#include "base/counted.h"
#include "base/short_number.h"

namespace starling {

std::string run_details_text(const RunDetails& run) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const std::string cpus =
      run.server_cpus > 0 ? " of " + short_number(run.server_cpus) + " CPUs" : std::string();
  if (run.max_servers > 0) {
    add("up to " + counted(run.max_servers, "parameter server") + cpus);
  } else if (!cpus.empty()) {
    add("parameter servers" + cpus);
  }
  if (run.batch > 0) {
    add("batches of " + std::to_string(run.batch) +
        (run.max_batch > run.batch ? " to " + std::to_string(run.max_batch) : std::string()));
  }
  if (run.copies) add("in copies");
  if (run.save > Duration::zero()) add("saves for " + short_number(seconds(run.save)) + " s");
  if (run.restore > Duration::zero())
    add("restores for " + short_number(seconds(run.restore)) + " s");
  return text;
}

}  // namespace starling
