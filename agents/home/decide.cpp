// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "agents/step/home_step.h"
#include "base/marks.h"
#include "workload/requirements.h"

namespace starling {
namespace {

// Hints age and patience runs out without an event, so those who wait get another look now and
// then.
constexpr Duration kSecondLook = std::chrono::seconds(60);

}  // namespace

RemoteDigest said_by(const PeerState& peer) {
  const Digest& digest = *peer.digest;
  return {peer.peer.agent,
          peer.peer.partition.id,
          digest.gpus,
          digest.free,
          digest.largest_free_server,
          digest.whole_free_servers,
          digest.waiting,
          digest.waiting_gpus,
          peer.digest_at,
          peer.peer.partition.servers,
          digest.types,
          digest.summary,
          digest.rooms};
}

View OwnerStep::view() {
  s.others.clear();
  for (const PeerState& peer : s.peers) {
    if (peer.peer.agent == me() || !peer.digest || !reachable(peer.watch)) continue;
    // Where nothing gets lost a digest stands until the next one.
    s.others.push_back(said_by(peer));
    if (!s.lossy()) s.others.back().at = now;
  }
  return {s.topology,
          s.ledger.gpus(),
          s.waiting.views(),
          s.running_views(now),
          s.others,
          s.speed,
          now,
          me(),
          s.policy->facts().by_end ? &s.ends : nullptr,
          &s.waiting.news()};
}

/// The policy proposes, the ledger and the jobs dispose: what they contradict is counted and
/// ignored.
void HomeStep::decide() {
  STARLING_MARK("agent: decide");
  const Trigger trigger{s.trigger};
  s.dirty = false;
  s.look = kNever;
  if (s.waiting_jobs == 0 && !s.any_running_view()) return;
  s.decided = true;
  const std::vector<Decision> decisions = s.policy->decide(view(), trigger, s.policy_rng);
  for (const Decision& decision : decisions) {
    ++s.counters.decisions;
    const bool done = std::visit([&](const auto& d) { return apply(d); }, decision);
    if (!done) ++s.counters.wrong_decisions;
  }
  const Duration round = s.policy->facts().round;
  if (round > Duration{0} && (s.waiting_jobs > 0 || s.any_running_view())) {
    // Each agent at a time of its own: homes that all bid for each other's GPUs at one instant,
    // while each holds its own, would fail at every round for ever.
    const Duration phase = round / static_cast<std::int64_t>(s.peers.size()) * me().value;
    const auto rounds = (now.time_since_epoch() + round - phase) / round;
    s.look = later(Instant{}, round * rounds + phase);
  } else if (s.waiting_jobs > 0 && s.peers.size() > 1) {
    s.look = later(now, kSecondLook);
  }
}

Job* HomeStep::free_to_decide(JobId id) {
  const auto known = s.jobs.find(id);
  if (known == s.jobs.end() || known->second.stage() != Stage::waiting) return nullptr;
  const JobView* waiting = s.waiting_view(known->second);
  return waiting == nullptr || waiting->blocked ? nullptr : &known->second;
}

bool HomeStep::good_placement(const JobSpec& spec, const Placement& gpus) const {
  STARLING_MARK("agent: good_placement");
  if (std::adjacent_find(gpus.begin(), gpus.end(), std::greater_equal<>()) != gpus.end()) {
    return false;
  }
  if (spec.gpu_types.empty()) return true;
  return std::all_of(gpus.begin(), gpus.end(), [&](GpuId gpu) {
    return gpu.value < s.topology.gpu_count() &&
           allows(spec, s.topology, s.topology.server_of(gpu));
  });
}

namespace {

bool good_size(const JobSpec& spec, std::size_t gpus) {
  if (gpus == spec.gpus()) return true;
  if (!spec.elastic() || gpus % spec.gpus_per_worker != 0) return false;
  const std::size_t workers = gpus / spec.gpus_per_worker;
  return workers >= std::max(spec.min_workers, 1U) && workers <= spec.max_workers;
}

}  // namespace

bool HomeStep::apply(const Start& decision) {
  STARLING_MARK("agent: decides Start");
  Job* job = free_to_decide(decision.job);
  if (job == nullptr || !good_size(*job->spec, decision.placement.size())) return false;
  return good_placement(*job->spec, decision.placement) && start_here(*job, decision.placement);
}

bool HomeStep::apply(const Preempt& decision) {
  STARLING_MARK("agent: decides Preempt");
  const auto known = s.jobs.find(decision.job);
  if (known == s.jobs.end() || known->second.stage() != Stage::running) return false;
  if (known->second.spec->no_requeue) return false;
  if (claimed_for_another(decision.job)) return false;  // nobody could take its place
  ++known->second.preemptions;
  ++s.counters.preemptions;
  drain(known->second, AfterDrain::wait);
  return true;
}

bool HomeStep::apply(const Resize& decision) {
  STARLING_MARK("agent: decides Resize");
  const auto known = s.jobs.find(decision.job);
  if (known == s.jobs.end() || known->second.stage() != Stage::running) return false;
  if (known->second.spec->no_requeue) return false;
  if (claimed_for_another(decision.job)) return false;
  Job& job = known->second;
  const Placement& gpus = decision.placement;
  if (!good_size(*job.spec, gpus.size()) || !good_placement(*job.spec, gpus)) return false;
  if (gpus == job.placement) return false;
  ++s.counters.resizes;
  drain(job, AfterDrain::restart, gpus);
  return true;
}

bool HomeStep::apply(const Forward& decision) {
  STARLING_MARK("agent: decides Forward");
  Job* job = free_to_decide(decision.job);
  return job != nullptr && offer_job(*job, decision.to);
}

bool HomeStep::apply(const Spread& decision) {
  STARLING_MARK("agent: decides Spread");
  Job* job = free_to_decide(decision.job);
  if (job == nullptr || !good_placement(*job->spec, decision.local)) return false;
  if (decision.local.size() == job->spec->gpus()) return start_here(*job, decision.local);
  if (decision.local.size() > job->spec->gpus() || s.peers.size() < 2) return false;
  return open_round(*job, decision.local, decision.type);
}

}  // namespace starling
