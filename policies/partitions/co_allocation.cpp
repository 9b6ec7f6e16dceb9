// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/co_allocation.h"

#include <algorithm>

#include "base/hash.h"
#include "policies/partitions/moves.h"

namespace starling {
namespace {

/// Calls f(server, GPUs that go with the job's CPUs and memory) for those of the type.
template <class F>
void each_of_type(const Occupancy& gpus, GpuTypeId type, const JobSpec& job, F f) {
  const Demand each = demand_of(job);
  for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s) {
    const ServerId server{s};
    if (gpus.topology().server(server).gpu_type == type) f(server, gpus.free_on(server, each));
  }
}

constexpr Duration kShareEvery = std::chrono::seconds(30);

}  // namespace

Duration until_next_round(JobId job, std::uint32_t failed) {
  const Duration wait = doubling_wait(failed + 1, std::chrono::minutes(30));
  return wait + wait / 1024 * static_cast<std::int64_t>(mix64(job.lo ^ mix64(failed)) & 1023U);
}

Instant ask_around(const View& view, const JobView& job, Spread spread,
                   std::vector<Decision>& out) {
  out.emplace_back(std::move(spread));
  return later(view.now, until_next_round(job.spec->id, job.failed_rounds));
}

void CoAllocation::begin(Instant now) {
  const auto over = [&](const Asked& asked) { return asked.again <= now; };
  std::erase_if(asked_, over);
  std::erase_if(asked_to_share_, over);
}

bool CoAllocation::may_ask(const QueueEntry& entry) const {
  return std::ranges::find(asked_, entry.order, &Asked::order) == asked_.end();
}

bool CoAllocation::may_ask_to_share(const QueueEntry& entry) const {
  return std::ranges::find(asked_to_share_, entry.order, &Asked::order) == asked_to_share_.end();
}

void CoAllocation::ask_to_share(const View& view, const QueueEntry& entry, const JobView& job,
                                GpuTypeId type, Worth worth, std::vector<Decision>& out) {
  const Instant again = ask_around(view, job, {job.spec->id, {}, type, true}, out);
  asked_to_share_.push_back({entry.order, later(again, kShareEvery), worth});
}

const CoAllocation::Worth* CoAllocation::worth_of(std::uint64_t order) const {
  const auto asked = std::ranges::find(asked_to_share_, order, &Asked::order);
  return asked == asked_to_share_.end() ? nullptr : &asked->worth;
}

void CoAllocation::ask(const View& view, const QueueEntry& entry, const JobView& job,
                       Placement share, std::optional<GpuTypeId> type, Trial& local,
                       std::vector<Decision>& out) {
  if (!share.empty()) local.take(share, demand_of(*job.spec));
  asked_.push_back(
      {entry.order, ask_around(view, job, {job.spec->id, std::move(share), type}, out)});
}

std::uint64_t free_of_type(const Occupancy& gpus, GpuTypeId type, const JobSpec& job) {
  std::uint64_t count = 0;
  each_of_type(gpus, type, job, [&](ServerId, std::uint32_t free) { count += free; });
  return count;
}

Placement workers_of_type(const Occupancy& gpus, GpuTypeId type, std::uint32_t want,
                          const JobSpec& job) {
  Placement out;
  const std::uint32_t worker = std::max(job.gpus_per_worker, 1U);
  each_of_type(gpus, type, job, [&](ServerId server, std::uint32_t free) {
    const auto left = want - static_cast<std::uint32_t>(out.size());
    const Placement some = gpus.free_gpus(server, std::min(free, left) / worker * worker);
    out.insert(out.end(), some.begin(), some.end());
  });
  return out;
}

}  // namespace starling
