// SPDX-License-Identifier: Apache-2.0
// Who shares GPUs already, and whether they go on to.
#include <algorithm>

#include "policies/rank/rank.h"

namespace starling {
namespace {

/// How often pairs are parted: each time half of those that would gain by it, with the GPUs at what
/// they are worth once the last ones have theirs.
constexpr int kPartings = 2;

}  // namespace

/// The guest has no part of the division. `host`: it keeps what it has, or may have, of its own.
void RankPolicy::bind(Plan& plan, const JobPair& pair) const {
  Member& host = plan.members[pair.host];
  Member& guest = plan.members[pair.guest];
  host.partner = pair.guest;
  guest.partner = pair.host;
  guest.guest = true;
  for (const std::size_t i : {pair.host, pair.guest}) {
    plan.members[i].sizes = plan.problem.jobs[i].sizes;
    for (auto& sizes : plan.problem.jobs[i].sizes) sizes = {};
  }
  plan.pairs.push_back(pair);
}

void RankPolicy::part(Plan& plan, const JobPair& pair) const {
  for (const std::size_t i : {pair.host, pair.guest}) {
    Member& member = plan.members[i];
    member.partner.reset();
    member.guest = false;
    plan.problem.jobs[i].sizes = std::move(member.sizes);
    member.sizes = {};
  }
}

/// Those who share GPUs are one in the division, which has the size that they have or none: the one
/// whose speed is worth more. What the other is worth does not count, or two who are long would
/// pass by a gang that is short.
void RankPolicy::keep_pairs(Plan& plan) {
  if (!options_.keeps) return;
  std::map<JobId, std::size_t> index;
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    if (plan.members[i].known->beside) index.emplace(plan.members[i].job->spec->id, i);
  }
  if (index.empty()) return;
  const std::vector<double> rank = ranks_of(plan.problem);
  for (const auto& [id, i] : index) {
    const auto other = index.find(*plan.members[i].known->beside);
    if (other == index.end() || plan.members[i].partner) continue;
    const std::size_t j = other->second;
    JobPair pair{i, j, plan.members[i].type, plan.members[i].now.gpus};
    const auto worth = [&](std::size_t k) {
      return rank[k] * plan.problem.jobs[k].least_gpu_s * plan.members[k].now.speed;
    };
    if (plan.members[j].stays || (!plan.members[i].stays && worth(j) > worth(i)))
      std::swap(pair.host, pair.guest);
    const Member& host = plan.members[pair.host];
    const Member& guest = plan.members[pair.guest];
    if (guest.stays || host.job->spec->priority != guest.job->spec->priority ||
        rate_of(plan, host.known->kind, guest.known->kind, pair.type, pair.gpus).one <= 0)
      continue;
    pair.speed = host.now.speed;
    bind(plan, pair);
    if (host.stays) continue;
    plan.own.push_back({host.now});
    plan.problem.jobs[pair.host].sizes[pair.type] = plan.own.back();
  }
}

/// What they are worth together, less the GPUs and what each would have alone; below 0: they had
/// better part. One of them would stay where it is.
double RankPolicy::keep_gain(const Plan& plan, const JobPair& pair) {
  const Member& host = plan.members[pair.host];
  const Member& guest = plan.members[pair.guest];
  const auto each = [&](std::size_t i) {
    return plan.answer.rank[i] * plan.problem.jobs[i].least_gpu_s;
  };
  const auto cost = [&](std::uint32_t type, std::uint32_t gpus) {
    const double worth = std::max(plan.answer.price[type], plan.answer.wanted[type].value);
    return worth * costs_[type] * gpus;
  };
  const auto alone = [&](std::size_t i, double stays) {
    double best = 0;
    const Member& member = plan.members[i];
    for (std::uint32_t t = 0; t < member.sizes.size(); ++t) {
      for (const RankSize size : member.sizes[t]) {
        const bool has = t == member.type && size.gpus == member.now.gpus;
        best = std::max(best, each(i) * size.speed * (has ? stays : 1) - cost(t, size.gpus));
      }
    }
    return best;
  };
  const PairRate rate = rate_of(plan, host.known->kind, guest.known->kind, pair.type, pair.gpus);
  const double own = each(pair.host) * host.now.speed, guests = each(pair.guest) * guest.now.speed;
  const double without = alone(pair.guest, moved(guest));
  if (host.stays) return guests * rate.other - own * (1 - rate.one) - without;
  return guests * rate.other + own * rate.one - cost(pair.type, pair.gpus) - without -
         alone(pair.host, 1);
}

/// Those part to whom the division gave nothing, and half of those who would gain by it.
void RankPolicy::part_pairs(Plan& plan) {
  for (int parting = 0; parting < kPartings && !plan.pairs.empty(); ++parting) {
    std::vector<std::pair<double, JobPair>> gains;
    for (const JobPair& pair : plan.pairs) gains.emplace_back(keep_gain(plan, pair), pair);
    std::ranges::stable_sort(gains, {}, [](const auto& entry) { return entry.first; });
    auto go =
        (std::ranges::count_if(gains, [](const auto& entry) { return entry.first < 0; }) + 1) / 2;
    bool any = false;
    plan.pairs.clear();
    for (const auto& [gain, pair] : gains) {
      const bool none = !plan.answer.grants[pair.host];
      if (none || (gain < 0 && go > 0)) {
        go -= none ? 0 : 1;
        part(plan, pair);
        any = true;
      } else {
        plan.pairs.push_back(pair);
      }
    }
    if (!any) return;
    divide(plan);
  }
  // Those to whom the last division gave nothing.
  std::erase_if(plan.pairs, [&](const JobPair& pair) {
    if (plan.answer.grants[pair.host]) return false;
    part(plan, pair);
    return true;
  });
}

}  // namespace starling
