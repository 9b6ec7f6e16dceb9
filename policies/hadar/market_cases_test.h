// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "base/rng.h"
#include "policies/hadar/gpu_market.h"
#include "topology/generate/generate.h"

namespace starling {

/// For tests: two servers of unlike types, and a few gangs whose lengths are whole rounds.
struct MarketCase {
  Topology topology;
  std::vector<TypePaces> paces;
  std::vector<GangJob> jobs;
  std::vector<PriceRange> ranges;
  double rounds = 1;
};

inline MarketCase market_case(Rng& rng, std::uint32_t jobs, std::uint32_t gpus_per_server) {
  GeneratorOptions options;
  options.groups = {{1, "V100"}, {1, "P100"}};
  options.gpus_per_server = gpus_per_server;
  MarketCase c{generate_flat(options).value(), {}, {}, {}, 1};
  for (std::uint32_t i = 0; i < jobs; ++i) {
    TypePaces paces;
    const double slow = 0.2 + 0.8 * rng.uniform(), spread = 0.5 + 0.5 * rng.uniform();
    paces.one = paces.together = {1, slow};
    paces.apart = {spread, spread * slow};
    c.paces.push_back(paces);
  }
  std::vector<PriceAnchor> anchors;
  for (std::uint32_t i = 0; i < jobs; ++i) {
    GangJob job;
    job.workers = 1 + rng.below(gpus_per_server + 1);
    job.paces = &c.paces[i];
    job.left = 0.2 + 2.5 * rng.uniform();
    job.elapsed = 3 * rng.uniform();
    job.weight = rng.chance(0.5) ? 1 : job.left;
    c.jobs.push_back(job);
    const double worst = job.rest(c.paces[i].apart[1], false);
    anchors.push_back(
        {job.utility(job.left), job.utility(worst), 1, job.workers * rounds_of(worst)});
    c.rounds = std::max(c.rounds, rounds_of(worst));
  }
  const PriceRange range = price_range(anchors, 2 * gpus_per_server, c.rounds);
  c.ranges = {range, range};
  return c;
}

/// Every place that a gang could have on the two servers, free or not: calls back with it.
inline void for_each_place(const MarketCase& c, const GangJob& job,
                           const std::function<void(const GangOffer&)>& each) {
  for (std::uint32_t first = 0; first <= job.workers; ++first) {
    const std::uint32_t second = job.workers - first;
    const std::uint32_t most = c.topology.server(ServerId{0}).gpus.size();
    if (first > most || second > most) continue;
    GangOffer offer;
    if (first > 0) offer.parts.emplace_back(ServerId{0}, first);
    if (second > 0) offer.parts.emplace_back(ServerId{1}, second);
    const std::vector<double>& paces =
        offer.parts.size() > 1 ? job.paces->apart : job.paces->together;
    offer.rest = job.rest(paces[second > 0 ? 1 : 0], false);
    offer.utility = job.utility(offer.rest);
    each(offer);
  }
}

/// The most utility of jobs from `i` on, with so many GPUs left of both servers.
inline double best_utility(const MarketCase& c, std::size_t i, std::uint32_t first,
                           std::uint32_t second) {
  if (i == c.jobs.size()) return 0;
  double best = best_utility(c, i + 1, first, second);
  for_each_place(c, c.jobs[i], [&](const GangOffer& offer) {
    std::uint32_t a = 0, b = 0;
    for (const auto& [server, workers] : offer.parts) (server.value == 0 ? a : b) = workers;
    if (a > first || b > second) return;
    best = std::max(best, offer.utility + best_utility(c, i + 1, first - a, second - b));
  });
  return best;
}

}  // namespace starling
