// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "workload/job.h"

namespace starling {

/// The folder that a job says it runs in, the entry PWD of its environment; empty: it does not say.
[[nodiscard]] inline std::string directory_of(const JobSpec& spec) {
  for (const std::string& entry : spec.environment) {
    if (entry.rfind("PWD=", 0) == 0) return entry.substr(4);
  }
  return {};
}
inline void set_directory(JobSpec& spec, const std::string& directory) {
  std::erase_if(spec.environment, [](const std::string& e) { return e.rfind("PWD=", 0) == 0; });
  spec.environment.push_back("PWD=" + directory);
}

}  // namespace starling
