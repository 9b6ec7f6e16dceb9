// SPDX-License-Identifier: Apache-2.0
// The part of the policy that plans a round: which jobs enter it, what GPUs cost, which job gets
// which.
#include <algorithm>
#include <set>
#include <tuple>

#include "policies/hadar/hadar.h"
#include "policies/parts/evict.h"

namespace starling {
namespace {

/// Some type of the partition has room for a worker of it.
bool goes_anywhere(const GangJob& gang) {
  const auto some = [](double pace) { return pace > 0; };
  return std::ranges::any_of(gang.paces->together, some) ||
         std::ranges::any_of(gang.paces->apart, some);
}

/// Its fastest and its slowest pace here, wherever it goes.
std::pair<double, double> extremes(const GangJob& gang) {
  double most = 0, least = 0;
  for (const auto* paces : {&gang.paces->together, &gang.paces->apart}) {
    for (const double pace : *paces) {
      if (pace <= 0) continue;
      most = std::max(most, pace);
      least = least > 0 ? std::min(least, pace) : pace;
    }
  }
  return {most, least};
}

}  // namespace

/// Those that the round may give GPUs, the most urgent first, then by submission; what they run on
/// now is given back to `planned`. A job on a server that is being drained goes on meanwhile.
std::vector<HadarPolicy::Entry> HadarPolicy::enter(const View& view, Occupancy& planned) {
  std::vector<Entry> all;
  for (const JobView& job : view.waiting) {
    if (job.blocked) continue;
    if (Entry entry = entry_of(view, job); goes_anywhere(entry.gang))
      all.push_back(std::move(entry));
  }
  for (const JobView& job : view.running) {
    if (job.blocked || !lies_here(view.gpus, job.placement)) continue;
    Entry entry = entry_of(view, job);
    planned.give_back(job.placement, entry.gang.each);
    if (goes_anywhere(entry.gang) && all_free(planned, job.placement)) {
      all.push_back(std::move(entry));
    } else {
      planned.take(job.placement, entry.gang.each);
    }
  }
  std::ranges::stable_sort(all, [](const Entry& a, const Entry& b) {
    return std::tie(b.job->spec->priority, a.job->submitted, a.job->order) <
           std::tie(a.job->spec->priority, b.job->submitted, b.job->order);
  });
  return all;
}

std::vector<PriceRange> HadarPolicy::price_ranges(const View& view,
                                                  const std::vector<Entry>& all) const {
  double rounds = 1;
  std::vector<PriceAnchor> anchors;
  for (const Entry& entry : all) {
    const GangJob& gang = entry.gang;
    const auto [most, least] = extremes(gang);
    const double slowest = gang.rest(least, true);
    anchors.push_back({gang.utility(gang.rest(most, false)), gang.utility(slowest),
                       static_cast<double>(gang.gpus_per_worker),
                       gang.gpus() * rounds_of(slowest)});
    rounds = std::max(rounds, rounds_of(slowest));
  }
  std::vector<PriceRange> ranges;
  for (std::size_t type = 0; type < view.topology.gpu_types().size(); ++type) {
    std::vector<PriceAnchor> of_type;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const TypePaces& paces = *all[i].gang.paces;
      if (paces.together[type] > 0 || paces.apart[type] > 0) of_type.push_back(anchors[i]);
    }
    ranges.push_back(price_range(of_type, view.gpus.gpus().size(), rounds));
  }
  return ranges;
}

/// `most` of one urgency, in order of submission.
std::vector<std::size_t> HadarPolicy::priced(const std::vector<Entry>& all, std::size_t first,
                                             std::size_t last, std::size_t most) const {
  std::vector<std::size_t> out;
  for (std::size_t i = first; i < last; ++i) out.push_back(i);
  if (out.size() <= most) return out;
  const auto gain = [&](std::size_t i) {
    const GangJob& gang = all[i].gang;
    const double rest = gang.rest(extremes(gang).first, false);
    return gang.utility(rest) / (gang.gpus() * rounds_of(rest));
  };
  std::ranges::stable_sort(out, std::ranges::greater{}, gain);
  out.resize(most);
  std::ranges::sort(out);
  return out;
}

/// Takes what they get in `planned`, of each server as many GPUs as there are.
std::vector<ChosenGang> HadarPolicy::choose(const View& view, const std::vector<Entry>& all,
                                            Occupancy& planned) {
  GpuMarket market(planned, price_ranges(view, all));
  std::vector<ChosenGang> chosen;
  std::size_t room = kMostPriced;
  for (std::size_t first = 0; first < all.size() && room > 0;) {
    std::size_t last = first;
    while (last < all.size() && all[last].job->spec->priority == all[first].job->spec->priority)
      ++last;
    const std::vector<std::size_t> asked = priced(all, first, last, room);
    room -= asked.size();
    std::vector<GangJob> gangs;
    gangs.reserve(asked.size());
    for (const std::size_t i : asked) gangs.push_back(all[i].gang);
    std::vector<ChosenGang> of_class = choose_gangs(market, gangs);
    std::vector<bool> got(gangs.size(), false);
    for (const ChosenGang& gang : of_class) got[gang.job] = true;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (!got[i]) left.push_back(i);
    }
    fill_with_gangs(market, gangs, left, of_class);
    for (ChosenGang& gang : of_class) chosen.push_back({asked[gang.job], std::move(gang.offer)});
    first = last;
  }
  if (!options_.forks) return chosen;
  std::vector<ForkedCopies::Forking> forks;
  for (ChosenGang& gang : chosen) {
    const Entry& entry = all[gang.job];
    if (may_fork(*entry.job->spec) && gang.offer.parts.size() == 1)
      forks.push_back({entry.job, &entry.gang, &gang});
  }
  copies_.extend(view, forks, planned);
  return chosen;
}

/// Turns numbers of workers into GPUs: one that stays keeps its own, one that does not runs where
/// others leave room.
void HadarPolicy::settle(const View& view, const std::vector<Entry>& all,
                         const std::vector<ChosenGang>& chosen, Occupancy planned, RoundPlan& plan,
                         std::vector<Decision>& out) {
  std::vector<const GangOffer*> gets(all.size(), nullptr);
  std::set<JobId> stays;
  for (const ChosenGang& gang : chosen) {
    gets[gang.job] = &gang.offer;
    if (!gang.offer.stays) continue;
    planned.take(all[gang.job].job->placement, all[gang.job].gang.each);
    stays.insert(all[gang.job].job->spec->id);
  }
  for (const ChosenGang& gang : chosen) {
    const JobView& job = *all[gang.job].job;
    if (gang.offer.stays) continue;
    Placement placement;
    for (const auto& [server, workers] : gang.offer.parts) {
      const auto part = planned.free_gpus(server, workers * all[gang.job].gang.gpus_per_worker);
      placement.insert(placement.end(), part.begin(), part.end());
    }
    planned.take(placement, all[gang.job].gang.each);
    Allocation how;
    if (gang.offer.copies) {
      how.workers = static_cast<std::uint32_t>(placement.size()) / job.spec->gpus_per_worker;
      how.averaged = true;
    }
    plan.add({job.spec->id, std::move(placement), std::nullopt, how});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const JobView& job = *all[i].job;
    if (job.placement.empty() || (gets[i] != nullptr && gets[i]->stays)) continue;
    if (gets[i] != nullptr)
      out.emplace_back(Preempt{job.spec->id});
    else
      stop_if_needed(planned, job, out);
  }
  for (const JobView& job : view.waiting) {
    if (job.blocked || plan.contains(job.spec->id)) continue;
    // What was not asked, or a gang whose workers cannot all be whole, however empty it is here.
    auto found = place(planned, rounds_.shape(), *job.spec, Fit::server);
    const bool cut = job.spec->gpus_per_worker <= 1 || !goes_anywhere(entry_of(view, job).gang);
    if (!found && cut) found = place(planned, rounds_.shape(), *job.spec, Fit::count);
    if (!found) continue;
    planned.take(*found, demand_of(*job.spec));
    plan.add({job.spec->id, std::move(*found)});
  }
}

void HadarPolicy::plan_round(const View& view, RoundPlan& plan, std::vector<Decision>& out) {
  for (auto& [job, rounds] : no_copies_) --rounds;
  std::erase_if(no_copies_, [](const auto& job) { return job.second == 0; });
  Occupancy planned = view.gpus;
  const std::vector<Entry> all = enter(view, planned);
  const Occupancy open = planned;
  const std::vector<ChosenGang> chosen = choose(view, all, planned);
  note(all, chosen);
  settle(view, all, chosen, open, plan, out);
}

}  // namespace starling
