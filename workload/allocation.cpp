// SPDX-License-Identifier: Apache-2.0
#include "workload/allocation.h"

#include "base/counted.h"

namespace starling {

std::string allocation_text(const Allocation& how) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (how.workers > 0) add(counted(how.workers, "worker"));
  if (how.servers > 0) add(counted(how.servers, "parameter server"));
  if (how.local_batch > 0) add("batches of " + std::to_string(how.local_batch) + " a worker");
  if (how.accumulation > 0) add(counted(how.accumulation, "further gradient"));
  if (how.averaged) add("copies that are averaged");
  return text;
}

}  // namespace starling
