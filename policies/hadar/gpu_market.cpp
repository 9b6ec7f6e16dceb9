// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/gpu_market.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace starling {

GpuMarket::GpuMarket(Occupancy& gpus, std::vector<PriceRange> types)
    : gpus_(&gpus), types_(std::move(types)), by_type_(types_.size()) {
  for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s) {
    const Server& server = gpus.topology().server(ServerId{s});
    const double all = server.gpus.size();
    stalls_.push_back({server.gpu_type, all, all - gpus.free_on(ServerId{s}), {}});
    if (all > 0) by_type_[server.gpu_type.value].push_back(ServerId{s});
  }
}

const GpuMarket::Stall& GpuMarket::at(ServerId server) const {
  return stalls_[server.value - gpus_->servers().first];
}
GpuMarket::Stall& GpuMarket::at(ServerId server) {
  return stalls_[server.value - gpus_->servers().first];
}

double GpuMarket::price(ServerId server, double rounds) const {
  const Stall& stall = at(server);
  const PriceRange& range = types_[stall.type.value];
  double taken = stall.taken, sum = 0, from = 0;
  for (const Hold& hold : stall.holds) taken += hold.gpus;
  for (const Hold& hold : stall.holds) {  // the first to end first
    const double until = std::min(hold.rounds, rounds);
    if (until > from) sum += (until - from) * range.at(taken, stall.all);
    from = std::max(from, until);
    taken -= hold.gpus;
  }
  return sum + (rounds - from) * range.at(taken, stall.all);
}

std::uint32_t GpuMarket::room(ServerId server, const GangJob& job) const {
  return gpus_->free_on(server, job.each) / job.gpus_per_worker;
}

void GpuMarket::consider(const GangJob& job, GangOffer offer,
                         std::optional<GangOffer>& best) const {
  const double rounds = rounds_of(offer.rest);
  offer.utility = job.utility(offer.rest);
  for (const auto& [server, part] : offer.parts)
    offer.cost += price(server, rounds) * offer.gpus_of(part, job.gpus_per_worker);
  if (!best || offer.payoff() > best->payoff()) best = std::move(offer);
}

void GpuMarket::stay(const GangJob& job, std::optional<GangOffer>& best) const {
  if (job.now.empty()) return;
  GangOffer offer;
  offer.stays = true;
  std::map<ServerId, std::uint32_t> on;
  for (const GpuId gpu : job.now) ++on[gpus_->topology().server_of(gpu)];
  offer.parts.assign(on.begin(), on.end());
  for (const auto& [server, here] : offer.parts) {
    if (gpus_->free_on(server, job.each) < here) return;
  }
  offer.rest = job.rest(job.pace_now, false);
  consider(job, std::move(offer), best);
}

void GpuMarket::on_one_server(const GangJob& job, std::size_t type,
                              std::optional<GangOffer>& best) const {
  const double rest = job.rest(job.paces->together[type], !job.now.empty());
  const double rounds = rounds_of(rest);
  std::optional<std::tuple<double, std::uint32_t, ServerId>> cheapest;  // the fuller first
  for (const ServerId server : by_type_[type]) {
    const std::uint32_t workers = room(server, job);
    if (workers < job.workers) continue;
    const std::tuple here{price(server, rounds), workers, server};
    if (!cheapest || here < *cheapest) cheapest = here;
  }
  if (!cheapest) return;
  GangOffer offer;
  offer.parts = {{std::get<2>(*cheapest), job.workers}};
  offer.rest = rest;
  consider(job, std::move(offer), best);
}

void GpuMarket::on_several(const GangJob& job, std::size_t slowest,
                           std::optional<GangOffer>& best) const {
  const TypePaces& paces = *job.paces;
  const double rounds = rounds_of(job.rest(paces.apart[slowest], !job.now.empty()));
  struct Stand {
    double price = 0;
    std::uint32_t workers = 0;
    ServerId server;
    std::size_t type = 0;
  };
  std::vector<Stand> stands;
  std::uint64_t all = 0;
  for (std::size_t type = 0; type < by_type_.size(); ++type) {
    if (paces.one[type] < paces.one[slowest] || paces.apart[type] <= 0) continue;
    for (const ServerId server : by_type_[type]) {
      const std::uint32_t workers = std::min(room(server, job), job.workers);
      if (workers == 0) continue;
      stands.push_back({price(server, rounds), workers, server, type});
      all += workers;
    }
  }
  if (all < job.workers) return;
  // The cheapest, of equally cheap ones those with most room: as few servers as can be.
  const auto first = [](const Stand& a, const Stand& b) {
    return std::tuple(a.price, b.workers, a.server) < std::tuple(b.price, a.workers, b.server);
  };
  const auto some = static_cast<std::ptrdiff_t>(std::min<std::size_t>(job.workers, stands.size()));
  std::ranges::partial_sort(stands, stands.begin() + some, first);
  GangOffer offer;
  std::size_t slow = stands.front().type;
  for (std::uint32_t left = job.workers; const Stand& stand : stands) {
    if (left == 0) break;
    const std::uint32_t workers = std::min(stand.workers, left);
    offer.parts.emplace_back(stand.server, workers);
    if (paces.one[stand.type] < paces.one[slow]) slow = stand.type;
    left -= workers;
  }
  std::ranges::sort(offer.parts);
  const double pace = offer.parts.size() == 1 ? paces.together[slow] : paces.apart[slow];
  offer.rest = job.rest(pace, !job.now.empty());
  consider(job, std::move(offer), best);
}

std::optional<GangOffer> GpuMarket::best(const GangJob& job) const {
  std::optional<GangOffer> best;
  stay(job, best);
  if (gpus_->free_count() < job.workers * job.gpus_per_worker) return best;
  for (std::size_t type = 0; type < by_type_.size(); ++type) {
    if (job.paces->together[type] > 0) on_one_server(job, type, best);
    if (job.workers > 1 && job.paces->apart[type] > 0) on_several(job, type, best);
  }
  return best;
}

Placement GpuMarket::take(const GangJob& job, const GangOffer& offer) {
  const double rounds = rounds_of(offer.rest);
  Placement taken;
  for (const auto& [server, size] : offer.parts) {
    const std::uint32_t gpus = offer.gpus_of(size, job.gpus_per_worker);
    const auto part = gpus_->free_gpus(server, gpus);
    taken.insert(taken.end(), part.begin(), part.end());
    std::vector<Hold>& holds = at(server).holds;
    holds.insert(std::ranges::upper_bound(holds, rounds, {}, &Hold::rounds), {rounds, gpus});
  }
  gpus_->take(taken, job.each);
  return taken;
}

void GpuMarket::give_back(const GangJob& job, const GangOffer& offer, const Placement& taken) {
  gpus_->give_back(taken, job.each);
  for (const auto& [server, size] : offer.parts) {
    std::vector<Hold>& holds = at(server).holds;
    const Hold its{rounds_of(offer.rest), offer.gpus_of(size, job.gpus_per_worker)};
    holds.erase(std::ranges::find(holds, its));
  }
}

std::vector<double> GpuMarket::state() const {
  std::vector<double> out;
  for (std::size_t s = 0; s < stalls_.size(); ++s) {
    for (const Hold& hold : stalls_[s].holds) {
      out.push_back(static_cast<double>(s));
      out.push_back(hold.rounds);
      out.push_back(hold.gpus);
    }
  }
  return out;
}

}  // namespace starling
