// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/gpu_market.h"

#include <doctest/doctest.h>

#include <cmath>

#include "policies/hadar/gang_queue.h"
#include "policies/hadar/market_cases_test.h"

namespace starling {
namespace {

// Allocation-cost relationship of the primal-dual argument: what is earned by a GPU that is taken
// at the present price pays for 1/alpha of what the rise of the price costs, k(y) dy >= (c / alpha)
// dk.
TEST_CASE("the law of prices: from low to high, as steep as the ratio allows") {
  const PriceRange range{0.01, 5};
  CHECK(range.at(0, 8) == doctest::Approx(0.01));
  CHECK(range.at(8, 8) == doctest::Approx(5));
  CHECK(range.at(9, 8) == doctest::Approx(5));
  const double alpha = competitive_ratio(std::vector{range}) / 2;
  CHECK(alpha == doctest::Approx(std::log(500)));
  const double step = 1e-5;
  for (double taken = 0; taken < 7.99; taken += 0.37) {
    const double rise = range.at(taken + step, 8) - range.at(taken, 8);
    CHECK(rise > 0);
    CHECK(range.at(taken + step, 8) * step >= 8 / alpha * rise * (1 - 1e-9));
  }
}

TEST_CASE("no job could pay the highest price, and all GPUs at the lowest cost no job's worth") {
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    const MarketCase c = market_case(rng, 1 + rng.below(5), 4);
    double least = 1e300;
    for (const GangJob& job : c.jobs) {
      const double worst = job.utility(job.rest(job.paces->apart[1], false));
      CHECK(job.utility(job.left) <= c.ranges[0].high * (1 + 1e-9));
      least = std::min(least, worst);
    }
    CHECK(c.ranges[0].low * 8 * c.rounds <= least / 4 * (1 + 1e-9));
  }
}

TEST_CASE("a price is of so many rounds, and falls as those that have a server end") {
  Rng rng(2);
  const MarketCase c = market_case(rng, 2, 4);
  Occupancy gpus(c.topology, {0, 2});
  const PriceRange range{0.01, 1};
  GpuMarket market(gpus, {range, range});
  GangJob job = c.jobs[0];
  job.workers = 2;
  GangOffer offer;
  offer.parts = {{ServerId{0}, 2}};
  offer.rest = 3;
  const auto taken = market.take(job, offer);
  CHECK(market.price(ServerId{0}, 2) == doctest::Approx(2 * range.at(2, 4)));
  CHECK(market.price(ServerId{0}, 5) == doctest::Approx(3 * range.at(2, 4) + 2 * range.at(0, 4)));
  CHECK(market.price(ServerId{1}, 5) == doctest::Approx(5 * range.at(0, 4)));
  market.give_back(job, offer, taken);
  CHECK(market.state().empty());
  CHECK(gpus.free_count() == 8);
  CHECK(market.price(ServerId{0}, 5) == doctest::Approx(5 * range.at(0, 4)));
}

TEST_CASE("the best offer is the best of all places that there are") {
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    const MarketCase c = market_case(rng, 5, 3);
    Occupancy gpus(c.topology, {0, 2});
    GpuMarket market(gpus, c.ranges);
    for (const GangJob& job : c.jobs) {
      std::optional<double> most;
      for_each_place(c, job, [&](const GangOffer& offer) {
        double cost = 0;
        for (const auto& [server, workers] : offer.parts) {
          if (gpus.free_on(server) < workers) return;
          cost += workers * market.price(server, rounds_of(offer.rest));
        }
        most = std::max(most.value_or(-1e300), offer.utility - cost);
      });
      const auto best = market.best(job);
      REQUIRE(best.has_value() == most.has_value());
      if (!best) continue;
      REQUIRE(best->payoff() == doctest::Approx(*most).epsilon(1e-9));
      if (best->payoff() > 0) (void)market.take(job, *best);
    }
  }
}

// Who was turned away, and who was not, at the prices of the end: no schedule of any job would pay
// off more than what its job has. So the prices are a solution of the dual problem, and bound the
// best.
TEST_CASE("prices are feasible for the dual on every schedule, and the primal is within 2 alpha") {
  Rng rng(4);
  double worst = 1, mean = 0;
  int schedules = 0;
  const int cases = 400;
  for (int i = 0; i < cases; ++i) {
    const MarketCase c = market_case(rng, 5, 2 + rng.below(3));
    Occupancy gpus(c.topology, {0, 2});
    GpuMarket market(gpus, c.ranges);
    double got = 0;
    std::vector<double> payoffs;
    for (const GangJob& job : c.jobs) {  // online, in order of arrival
      const auto offer = market.best(job);
      const bool in = offer && offer->payoff() > 0;
      payoffs.push_back(in ? offer->payoff() : 0);
      if (!in) continue;
      got += offer->utility;
      (void)market.take(job, *offer);
    }
    for (std::size_t j = 0; j < c.jobs.size(); ++j) {
      for_each_place(c, c.jobs[j], [&](const GangOffer& offer) {
        double cost = 0;
        for (const auto& [server, workers] : offer.parts) {
          // The argument has gangs that are small beside a server; what of one is larger than what
          // is left of a server that is not full is outside of it.
          const std::uint32_t left = gpus.free_on(server);
          if (left > 0 && left < workers) return;
          cost += workers * market.price(server, rounds_of(offer.rest));
        }
        ++schedules;
        REQUIRE(payoffs[j] + cost >= offer.utility * (1 - 1e-9));
      });
    }
    const std::uint32_t most = c.topology.server(ServerId{0}).gpus.size();
    const double best = best_utility(c, 0, most, most);
    REQUIRE(got >= best / competitive_ratio(c.ranges) - 1e-12);
    worst = std::min(worst, got / best);
    mean += got / best / cases;
  }
  CHECK(schedules > 10 * cases / 2);
  MESSAGE("utility over the best of " << cases << " cases: " << mean << " on average, " << worst
                                      << " at worst");
}

TEST_CASE(
    "the dynamic programme pays no less than taking whatever pays, and leaves the market so") {
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    const MarketCase c = market_case(rng, 6, 3);
    Occupancy one(c.topology, {0, 2}), two = one;
    GpuMarket market(one, c.ranges), online(two, c.ranges);
    double greedy = 0, planned = 0;
    for (const GangJob& job : c.jobs) {
      const auto offer = online.best(job);
      if (!offer || offer->payoff() <= 0) continue;
      greedy += offer->payoff();
      (void)online.take(job, *offer);
    }
    std::uint32_t gpus = 0;
    for (const ChosenGang& gang : choose_gangs(market, c.jobs)) {
      planned += gang.offer.payoff();
      gpus += c.jobs[gang.job].gpus();
    }
    CHECK(planned >= greedy - 1e-9);
    CHECK(one.free_count() + gpus == 6);
  }
}

TEST_CASE("of jobs of one GPU and one type those that pay most for a round come first") {
  GeneratorOptions options;
  options.groups = {{1, "V100"}};
  options.gpus_per_server = 8;
  const Topology topology = generate_flat(options).value();
  TypePaces paces;
  paces.one = paces.together = {1};
  paces.apart = {0};
  std::vector<GangJob> jobs;
  Rng rng(6);
  for (std::uint32_t i = 0; i < 30; ++i) {
    GangJob job;
    job.paces = &paces;
    job.left = 1 + rng.below(100);
    jobs.push_back(job);
  }
  Occupancy gpus(topology, {0, 1});
  GpuMarket market(gpus, {PriceRange{1e-7, 1}});
  std::vector<double> pays, chosen_pays;
  for (const GangJob& job : jobs) {
    const auto offer = market.best(job).value();
    pays.push_back(offer.payoff() / rounds_of(offer.rest));
  }
  std::vector<ChosenGang> chosen;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < jobs.size(); ++i) all.push_back(i);
  fill_with_gangs(market, jobs, all, chosen);
  REQUIRE(chosen.size() == 8);
  for (const ChosenGang& gang : chosen) chosen_pays.push_back(pays[gang.job]);
  std::ranges::sort(pays, std::ranges::greater{});
  pays.resize(8);
  CHECK(chosen_pays == pays);
}

}  // namespace
}  // namespace starling
