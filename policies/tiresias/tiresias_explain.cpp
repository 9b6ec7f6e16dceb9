// SPDX-License-Identifier: Apache-2.0
#include "policies/tiresias/tiresias_explain.h"

#include <cmath>

#include "base/counted.h"
#include "base/short_number.h"
#include "policies/parts/service_history.h"
#include "policies/queues/queue_place.h"

namespace starling {
namespace {

std::string service(double gpu_s) { return std::to_string(std::llround(gpu_s)) + " GPU-seconds"; }

std::string queue_text(const JobView& job, const TiresiasStanding& stands) {
  std::string line = "policy: it has had " + service(stands.attained) + " of service: queue " +
                     std::to_string(stands.queue + 1) + " of " + std::to_string(stands.queues);
  if (!stands.ends_at) return line + ", the last";
  const std::uint32_t gpus = job.spec->gpus();
  return line + "; it moves on at " + service(*stands.ends_at) + ", after " +
         whole_seconds((*stands.ends_at - stands.attained) / gpus) + " more on its " +
         counted(gpus, "GPU");
}

std::string index_text(const GittinsStanding& by) {
  if (!by.known)
    return "  by index once " + std::to_string(ServiceHistory::kEnough) +
           " jobs have ended here; until then by submission";
  if (by.index <= 0)
    return "  its index is 0: no past job that had had as much ended within this queue";
  return "  its index is " + short_number(by.index * 3600) +
         ": of past jobs that had had as much, so many ended within this queue for each GPU hour "
         "that they took there";
}

}  // namespace

std::vector<std::string> explain_tiresias(const JobView& job, const TiresiasStanding& stands,
                                          const std::optional<GittinsStanding>& by) {
  std::vector<std::string> lines{queue_text(job, stands)};
  if (by) lines.push_back(index_text(*by));
  return lines;
}

}  // namespace starling
