// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/pollux.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>

#include "policies/parts/evict.h"
#include "policies/parts/restart.h"
#include "scheduling/policy_memory.h"
#include "workload/requirements.h"

namespace starling {
namespace {

/// Jobs of a round: the time of a search and of what it is asked grows with them.
constexpr std::size_t kMostMembers = 1'000;

/// GPUs that lie on one server: a worker's, or, of a worker that no server holds, each.
std::uint32_t each_of(const View& view, const JobSpec& spec) {
  std::uint32_t largest = 0;
  const auto sizes = view.gpus.sizes();
  for (std::uint32_t size = 0; size < sizes.size(); ++size) {
    if (sizes[size] > 0) largest = size;
  }
  return spec.gpus_per_worker > largest ? 1 : std::max(spec.gpus_per_worker, 1U);
}

bool is_drained(const View& view, const Placement& placement) {
  return std::ranges::any_of(placement, [&](GpuId gpu) { return view.gpus.is_blocked(gpu); });
}

/// GPU time so far, at the size that it has or asks for.
double attained_service(const JobView& job) {
  const auto gpus = static_cast<double>(job.placement.size());
  return seconds(job.served) * (gpus > 0 ? gpus : job.spec->gpus());
}

/// Replicas by server, counted from the partition's first.
std::vector<NodeShare> row_of(const View& view, const JobView& job, std::uint32_t each) {
  std::vector<NodeShare> row;
  for (const GpuId gpu : job.placement) {
    const std::uint32_t node = view.topology.server_of(gpu).value - view.gpus.servers().first;
    if (row.empty() || row.back().node != node) row.push_back({node, 0});
    ++row.back().replicas;
  }
  for (NodeShare& share : row) share.replicas /= each;
  std::erase_if(row, [](const NodeShare& share) { return share.replicas == 0; });
  return row;
}

Allocation allocation_of(const JobSpec& spec, const BatchSplit& split, std::uint32_t gpus) {
  Allocation how;
  const std::uint32_t worker = std::max(spec.gpus_per_worker, 1U);
  how.workers = gpus / worker;
  how.local_batch = static_cast<std::uint32_t>(std::lround(split.local_batch)) * worker;
  how.accumulation = split.accumulation;
  return how;
}

/// How it is to run there; as it asks where its batch is not chosen.
Allocation best_allocation(const JobSpec& spec, const KnownGoodput& goodput, std::uint32_t servers,
                           std::uint32_t gpus) {
  if (!goodput.known || goodput.curve.own_local > 0) return {};
  const BatchChoice best = goodput.curve.at(servers, gpus);
  return best.goodput > 0 ? allocation_of(spec, best.split, gpus) : Allocation{};
}

/// CPUs and memory that the server has left; one that does not say what it has, any amount.
Demand means_on(const View& view, const Occupancy& planned, ServerId server) {
  constexpr std::int64_t kAny = std::int64_t{1} << 60U;
  const Server& has = view.topology.server(server);
  const Demand taken = planned.taken_on(server);
  const auto left = [](double all, std::int64_t less) {
    return all > 0 ? std::max<std::int64_t>(std::llround(all * 1e6) - less, 0) : kAny;
  };
  return {left(has.cpus, taken.cpus), left(has.memory_gib, taken.memory)};
}

/// Replicas of a job on the fewest servers that have them in `planned`, where others are on
/// several; empty: there are not so many.
std::vector<NodeShare> any_row(const View& view, const Occupancy& planned, const JobSpec& spec,
                               std::uint32_t each, std::uint32_t replicas) {
  std::vector<NodeShare> rooms, row;
  const IndexRange servers = planned.servers();
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    if (!allows(spec, view.topology, ServerId{s})) continue;
    const std::uint32_t room = planned.free_on(ServerId{s}, demand_of(spec)) / each;
    if (room > 0) rooms.push_back({s - servers.first, room});
  }
  std::ranges::stable_sort(rooms, std::ranges::greater{}, &NodeShare::replicas);
  for (const NodeShare& share : rooms) {
    if (replicas == 0) break;
    row.push_back({share.node, std::min(share.replicas, replicas)});
    replicas -= row.back().replicas;
  }
  std::ranges::sort(row, {}, &NodeShare::node);
  return replicas == 0 ? row : std::vector<NodeShare>{};
}

/// GPUs of a row, of those free in `planned`: first those that it has already, then those that no
/// job has now. Nothing: they, or the CPUs and memory that go with them, are not there.
std::optional<Placement> take_row(const View& view, const Occupancy& planned, const JobView& job,
                                  std::uint32_t each, std::span<const NodeShare> row) {
  Placement out;
  for (const NodeShare& share : row) {
    const ServerId server{planned.servers().first + share.node};
    const std::size_t want = std::size_t{share.replicas} * each;
    Placement here = planned.free_gpus(server, planned.free_on(server));
    if (here.size() < want) return std::nullopt;
    std::stable_sort(here.begin(), here.end(), [&](GpuId a, GpuId b) {
      const auto rank = [&](GpuId gpu) {
        return std::ranges::binary_search(job.placement, gpu) ? 0 : view.gpus.is_free(gpu) ? 1 : 2;
      };
      return rank(a) < rank(b);
    });
    out.insert(out.end(), here.begin(), here.begin() + static_cast<std::ptrdiff_t>(want));
  }
  std::sort(out.begin(), out.end());
  if (!planned.has_means(out, demand_of(*job.spec))) return std::nullopt;
  return out;
}

}  // namespace

PolluxPolicy::PolluxPolicy(const PolicyFacts& facts, const PolluxOptions& options)
    : facts_(facts),
      options_(options),
      rounds_({false, Fit::server}),
      curves_(options.given, options.adapts) {
  facts_.round = options.round;
}

std::vector<Decision> PolluxPolicy::decide(const View& view, const Trigger& trigger, Rng& rng) {
  return rounds_.decide(
      view, trigger, facts_.round,
      {.observe = [&] { curves_.observe(view); },
       .plan = [&](RoundPlan& plan, auto& out) { plan_round(view, rng, plan, out); }});
}

PolluxPolicy::Member PolluxPolicy::member_of(const View& view, const JobView& job) {
  Member member;
  member.job = &job;
  member.goodput = curves_.of(view, job);
  const JobSpec& spec = *job.spec;
  member.each = each_of(view, spec);
  const std::uint32_t worker = std::max(spec.gpus_per_worker, 1U) / member.each;
  if (spec.elastic() && worker == 1) {
    member.least = std::max(spec.min_workers, 1U);
    const std::uint32_t worth =
        std::min(member.goodput.most_gpus, member.goodput.curve.most_gpus()) / member.each;
    member.most = std::max(member.least, std::min(spec.max_workers, worth));
  } else {
    member.least = member.most = spec.workers * worker;
  }
  const double spent_s = seconds(job.restart_cost);
  member.delay_s = job.restarts > 0 && spent_s > 0 ? spent_s / job.restarts : options_.restart_s;
  member.spent_s = member.delay_s * job.restarts;
  return member;
}

/// Of more than kMostMembers those that the round is about: the most urgent; of equals those that
/// run, whose GPUs there are to divide; then those with the least service. `outranked` are those of
/// the others that run and are less urgent.
void choose_members(std::vector<const JobView*>& jobs, std::vector<const JobView*>& outranked) {
  if (jobs.size() <= kMostMembers) return;
  const auto key = [](const JobView* job) {
    return std::tuple(-std::int64_t{job->spec->priority}, job->placement.empty(),
                      attained_service(*job), job->submitted, job->order);
  };
  const auto end = jobs.begin() + static_cast<std::ptrdiff_t>(kMostMembers);
  std::ranges::nth_element(jobs, end, {}, key);
  const std::int32_t least =
      (*std::ranges::min_element(jobs.begin(), end, {}, [](const JobView* job) {
        return job->spec->priority;
      }))->spec->priority;
  std::copy_if(end, jobs.end(), std::back_inserter(outranked), [&](const JobView* job) {
    return !job->placement.empty() && job->spec->priority < least;
  });
  jobs.erase(end, jobs.end());
}

/// Those that the round may move, the most urgent first; `planned` is the partition without them
/// and without those `outranked`.
PolluxPolicy::Members PolluxPolicy::members_of(const View& view, Occupancy& planned,
                                               std::vector<const JobView*>& outranked) {
  std::vector<const JobView*> jobs;
  for (const JobView& job : view.waiting) {
    if (!job.blocked) jobs.push_back(&job);
  }
  for (const JobView& job : view.running) {
    if (job.blocked || !lies_here(view.gpus, job.placement) || is_drained(view, job.placement))
      continue;
    jobs.push_back(&job);
  }
  choose_members(jobs, outranked);
  for (const auto* some : {&jobs, &outranked}) {
    for (const JobView* job : *some) planned.give_back(job->placement, demand_of(*job->spec));
  }
  std::sort(jobs.begin(), jobs.end(), [](const JobView* a, const JobView* b) {
    return std::tuple(-std::int64_t{a->spec->priority}, attained_service(*a), a->submitted,
                      a->order) < std::tuple(-std::int64_t{b->spec->priority}, attained_service(*b),
                                             b->submitted, b->order);
  });
  Members members;
  for (const JobView* job : jobs) members.push_back(member_of(view, *job));
  return members;
}

/// Of members of one priority; speedups are over what each has with its fair share of `free`.
SharingProblem PolluxPolicy::problem_of(const View& view, std::span<Member> members,
                                        const Occupancy& free) const {
  SharingProblem problem;
  const IndexRange servers = free.servers();
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    problem.node_gpus.push_back(free.free_on(ServerId{s}));
    problem.node_means.push_back(means_on(view, free, ServerId{s}));
  }
  std::map<std::tuple<decltype(JobSpec::gpu_types), Demand, std::uint32_t>, std::size_t> kinds;
  for (Member& member : members) {
    const JobSpec& spec = *member.job->spec;
    const std::uint32_t most = std::max(member.goodput.curve.most_gpus() / member.each, 1U);
    member.fair = std::min(fair_replicas(problem.gpus(), member.each, members.size()), most);
    member.base = member.fair;
    if (member.goodput.known)
      member.base = member.goodput.curve.at(1, member.fair * member.each).goodput;
    if (!(member.base > 0)) member.base = 1;
    SharingJob one{
        member.each, member.least, member.most,
        restart_factor(seconds(member.job->age(view.now)), member.spent_s, member.delay_s)};
    one.each = demand_of(spec);
    if (!spec.gpu_types.empty() || one.each != Demand{}) {
      const auto [kind, fresh] = kinds.try_emplace(
          std::tuple(spec.gpu_types, one.each, member.each), problem.most_on_of.size());
      one.kind = kind->second;
      if (fresh) {
        auto& most_on = problem.most_on_of.emplace_back();
        for (std::uint32_t s = servers.first; s < servers.last; ++s)
          most_on.push_back(allows(spec, view.topology, ServerId{s})
                                ? free.free_on(ServerId{s}, one.each) / member.each
                                : 0);
      }
    }
    problem.jobs.push_back(std::move(one));
    problem.now.add(row_of(view, *member.job, member.each));
  }
  problem.speedup = [members](std::size_t i, std::uint32_t nodes, std::uint32_t replicas) {
    const Member& member = members[i];
    if (!member.goodput.known) return replicas / member.base;
    return member.goodput.curve.at(nodes, replicas * member.each).goodput / member.base;
  };
  return problem;
}

/// Priority by priority, each among what the more urgent ones leave.
void PolluxPolicy::plan_round(const View& view, Rng& rng, RoundPlan& plan,
                              std::vector<Decision>& out) {
  Occupancy planned = view.gpus;
  std::vector<const JobView*> outranked;
  Members members = members_of(view, planned, outranked);
  told_.clear();
  std::vector<Decision> resizes;
  WarmStarts next;
  for (auto first = members.begin(); first != members.end();) {
    const std::int32_t priority = first->job->spec->priority;
    const auto last = std::find_if(first, members.end(), [&](const Member& member) {
      return member.job->spec->priority != priority;
    });
    const std::span<Member> equals(first, last);
    const SharingProblem problem = problem_of(view, equals, planned);
    std::vector<JobId> jobs;
    for (const Member& member : equals) jobs.push_back(member.job->spec->id);
    ShareSearchAnswer answer =
        search_shares(problem, last_[priority].plans(jobs), options_.search, rng);
    place(view, equals, problem, answer.best, planned, plan, out, resizes);
    tell(view, equals, problem, answer.best);
    next[priority].remember(jobs, std::move(answer.front));
    first = last;
  }
  last_ = std::move(next);
  for (const JobView* job : outranked) stop_if_needed(planned, *job, out);
  out.insert(out.end(), resizes.begin(), resizes.end());
}

/// A change of the batch of a job that stays where it is, if it gains more than a restart costs.
std::optional<Allocation> PolluxPolicy::better_batch(const View& view, const Member& member) const {
  const JobView& job = *member.job;
  const JobSpec& spec = *job.spec;
  const auto gpus = static_cast<std::uint32_t>(job.placement.size());
  const auto servers = static_cast<std::uint32_t>(row_of(view, job, member.each).size());
  const Allocation best = best_allocation(spec, member.goodput, servers, gpus);
  if (best.as_asked() || best == job.allocation) return std::nullopt;
  const JobGoodput& curve = member.goodput.curve;
  BatchSplit now{curve.limits.own / spec.gpus(), 0};
  if (job.allocation.local_batch > 0)
    now = {static_cast<double>(job.allocation.local_batch) / std::max(spec.gpus_per_worker, 1U),
           job.allocation.accumulation};
  const double factor = restart_factor(seconds(job.age(view.now)), member.spent_s, member.delay_s);
  const bool gains = curve.at(servers, gpus).goodput * factor > curve.with(servers, gpus, now);
  return gains ? std::optional(best) : std::nullopt;
}

/// One that keeps its row keeps its GPUs; the others take theirs in order. One whose row is taken,
/// by one whose GPUs are no whole replicas of a row, keeps what it has or gets its least.
void PolluxPolicy::place(const View& view, std::span<const Member> members,
                         const SharingProblem& problem, const SharePlan& found, Occupancy& planned,
                         RoundPlan& plan, std::vector<Decision>& out,
                         std::vector<Decision>& resizes) const {
  std::vector<bool> stays;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const JobView& job = *members[i].job;
    const Demand each = demand_of(*job.spec);
    // A more urgent job may have been given just these GPUs, of equal ones on their server.
    stays.push_back(is_left(planned, job) && std::ranges::equal(problem.now.of(i), found.of(i)));
    if (!stays.back()) continue;
    planned.take(job.placement, each);
    if (auto how = better_batch(view, members[i]))
      resizes.emplace_back(Resize{job.spec->id, job.placement, *how});
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (stays[i]) continue;
    const JobView& job = *members[i].job;
    const Demand each = demand_of(*job.spec);
    std::vector<NodeShare> row(found.of(i).begin(), found.of(i).end());
    auto to = row.empty() ? std::nullopt : take_row(view, planned, job, members[i].each, row);
    if (!to && !row.empty()) {
      if (is_left(planned, job)) {
        planned.take(job.placement, each);
        continue;
      }
      row = any_row(view, planned, *job.spec, members[i].each, members[i].least);
      if (!row.empty()) to = take_row(view, planned, job, members[i].each, row);
    }
    Allocation how;
    if (to) {
      planned.take(*to, each);
      how = best_allocation(*job.spec, members[i].goodput, static_cast<std::uint32_t>(row.size()),
                            static_cast<std::uint32_t>(to->size()));
    }
    plan.bring(view, job, std::move(to), how, out, resizes);
  }
}

std::vector<std::byte> PolluxPolicy::save(Instant origin) const {
  MemoryWriter out;
  rounds_.save(out, origin);
  curves_.save(out);
  return out.take();
}

Status PolluxPolicy::restore(std::span<const std::byte> memory, Instant origin) {
  MemoryReader in(memory);
  const auto began = Rounds::read_began(in, origin);
  if (in.ok()) curves_.restore(in);
  if (!in.whole()) return {Errc::invalid, "it is no account of curves"};
  rounds_.resume(began);
  return done();
}

}  // namespace starling
