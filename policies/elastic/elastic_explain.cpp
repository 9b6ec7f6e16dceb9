// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/elastic_explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/counted.h"
#include "policies/parts/evict.h"

namespace starling {
namespace {

std::uint64_t fewest_gpus(const JobSpec& job) {
  const std::uint32_t workers = job.elastic() ? std::max(job.min_workers, 1U) : job.workers;
  return std::uint64_t{workers} * job.gpus_per_worker;
}

bool goes_first(const JobView& a, const JobView& b) {
  return std::tie(b.spec->priority, a.submitted, a.order) <
         std::tie(a.spec->priority, b.submitted, b.order);
}

}  // namespace

std::string workers_text(const JobSpec& job, std::uint32_t workers) {
  return counted(workers, "worker") + " on " +
         counted(std::uint64_t{workers} * job.gpus_per_worker, "GPU");
}

std::string share_text(std::int64_t share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(share) / 1e9);
  return text;
}

std::string explain_fewest(const ElasticCall& call, const ElasticCapacity& all,
                           const ElasticShare& share) {
  const JobView& job = *share.job;
  std::uint64_t before = 0, gpus = 0;
  const auto look = [&](const JobView& other) {
    if (other.order == job.order || !goes_first(other, job)) return;
    ++before;
    gpus += fewest_gpus(*other.spec);
  };
  for (const JobView& other : call.view.waiting) look(other);
  for (const JobView& other : call.view.running) {
    if (lies_here(call.view.gpus, other.placement)) look(other);
  }
  return "policy: it needs at least " + workers_text(*job.spec, share.least) +
         ", a dominant share of " + share_text(dominant_share(all, *job.spec, share.least)) +
         "; a round serves " + counted(before, "job") +
         " before it, by priority and submission, whose least is " + std::to_string(gpus) + " of " +
         counted(std::llround(all.gpus), "GPU");
}

}  // namespace starling
