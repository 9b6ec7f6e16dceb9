// SPDX-License-Identifier: Apache-2.0
#include "interference/flows/max_min.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/rng.h"

using namespace starling;

namespace {

struct Ask {
  double demand = 0;
  std::vector<LinkUse> uses;
};
using Asks = std::map<std::uint32_t, Ask>;

Ask random_ask(Rng& rng, std::uint32_t links) {
  Ask ask{0.1 + rng.uniform(), {}};
  if (rng.chance(0.3)) ask.demand = 1;  // equal demands, so that ties happen
  for (std::uint32_t link = 0; link < links; ++link) {
    if (rng.chance(2.5 / links))
      ask.uses.push_back({link, rng.chance(0.5) ? 1 : 0.1 + rng.uniform()});
  }
  return ask;
}

// The text-book algorithm: raise all that are not stopped together, until one meets its demand or a
// link is full; everything from scratch in each round, no link left out.
std::map<std::uint32_t, double> water_filled(const Asks& asks,
                                             const std::vector<double>& capacity) {
  std::map<std::uint32_t, double> stopped;
  while (stopped.size() < asks.size()) {
    double level = std::numeric_limits<double>::infinity();
    std::vector<double> levels(capacity.size(), level);
    for (std::size_t link = 0; link < capacity.size(); ++link) {
      double left = capacity[link];
      double weight = 0;
      for (const auto& [gang, ask] : asks) {
        for (const LinkUse& use : ask.uses) {
          if (use.link != link) continue;
          if (stopped.contains(gang)) {
            left -= stopped[gang] * use.weight;
          } else {
            weight += use.weight;
          }
        }
      }
      if (weight > 0) level = std::min(level, levels[link] = left / weight);
    }
    for (const auto& [gang, ask] : asks) {
      if (!stopped.contains(gang)) level = std::min(level, ask.demand);
    }
    std::map<std::uint32_t, double> now;
    for (const auto& [gang, ask] : asks) {
      const bool full = std::any_of(ask.uses.begin(), ask.uses.end(), [&](const LinkUse& use) {
        return levels[use.link] <= level * (1 + 1e-12);
      });
      if (!stopped.contains(gang) && (full || ask.demand <= level)) now[gang] = level;
    }
    stopped.merge(now);
  }
  return stopped;
}

double used(const MaxMin& rates, const Asks& asks, std::uint32_t link) {
  double sum = 0;
  for (const auto& [gang, ask] : asks) {
    for (const LinkUse& use : ask.uses) {
      if (use.link == link) sum += use.weight * rates.rate(gang);
    }
  }
  return sum;
}

// The definition: at its demand, or on a full link on which none has more.
void check_fair(const MaxMin& rates, const Asks& asks, const std::vector<double>& capacity) {
  for (std::uint32_t link = 0; link < capacity.size(); ++link)
    REQUIRE(used(rates, asks, link) <= capacity[link] * (1 + 1e-12));
  for (const auto& [gang, ask] : asks) {
    const double rate = rates.rate(gang);
    REQUIRE(rate > 0);
    REQUIRE(rate <= ask.demand);
    if (rate == ask.demand) continue;
    const bool held = std::any_of(ask.uses.begin(), ask.uses.end(), [&](const LinkUse& use) {
      if (used(rates, asks, use.link) < capacity[use.link] * (1 - 1e-9)) return false;
      return std::all_of(asks.begin(), asks.end(), [&](const auto& other) {
        const auto& its = other.second.uses;
        return std::none_of(its.begin(), its.end(),
                            [&](const LinkUse& u) { return u.link == use.link; }) ||
               rates.rate(other.first) <= rate * (1 + 1e-9);
      });
    });
    REQUIRE(held);
  }
}

}  // namespace

TEST_CASE("two gangs on one link halve each other; alone each has what it asks for") {
  MaxMin rates({10, 10});
  const LinkUse up[] = {{0, 1}};
  const LinkUse other[] = {{1, 1}};
  rates.add(0, 10, up);
  CHECK(rates.rate(0) == 10);
  rates.add(1, 10, up);
  CHECK(rates.rate(0) == 5);
  CHECK(rates.rate(1) == 5);
  REQUIRE(rates.changed().size() == 1);
  CHECK(rates.changed()[0] == 0);
  // One that asks for little leaves the rest; on another link none is asked.
  rates.add(2, 2, up);
  CHECK(rates.rate(0) == 4);
  rates.add(3, 10, other);
  CHECK(rates.solved() == 1);
  CHECK(rates.changed().empty());
  rates.remove(1);
  CHECK(rates.rate(0) == 8);
  CHECK(rates.rate(2) == 2);
}

TEST_CASE("a gang with two flows on a link takes twice its rate of it") {
  MaxMin rates({9});
  const LinkUse once[] = {{0, 1}};
  const LinkUse twice[] = {{0, 2}};
  rates.add(0, 9, once);
  rates.add(1, 9, twice);
  CHECK(rates.rate(0) == 3);
  CHECK(rates.rate(1) == 3);
}

TEST_CASE("links that carry all demands couple no gang") {
  MaxMin rates({10});
  const LinkUse up[] = {{0, 1}};
  for (std::uint32_t gang = 0; gang < 5; ++gang) {
    rates.add(gang, 2, up);
    CHECK(rates.solved() == 1);
  }
  rates.add(5, 1, up);
  CHECK(rates.solved() == 6);
}

TEST_CASE(
    "10,000 random comings and goings: fair, as water-filling, and as if solved from scratch") {
  Rng rng(5);
  for (int world = 0; world < 20; ++world) {
    const std::uint32_t links = 1 + rng.below(12);
    std::vector<double> capacity;
    for (std::uint32_t i = 0; i < links; ++i) capacity.push_back(0.3 + 2 * rng.uniform());
    MaxMin rates(capacity);
    Asks asks;
    for (int step = 0; step < 500; ++step) {
      std::map<std::uint32_t, double> before;
      for (const auto& [gang, ask] : asks) before[gang] = rates.rate(gang);
      const std::uint32_t gang = rng.below(14);
      if (asks.erase(gang) > 0) {
        rates.remove(gang);
      } else {
        asks[gang] = random_ask(rng, links);
        rates.add(gang, asks[gang].demand, asks[gang].uses);
      }
      // Told is which changed, and no others.
      std::vector<std::uint32_t> changed;
      for (const auto& [other, rate] : before) {
        if (asks.contains(other) && rates.rate(other) != rate) changed.push_back(other);
      }
      REQUIRE(std::equal(changed.begin(), changed.end(), rates.changed().begin(),
                         rates.changed().end()));
      check_fair(rates, asks, capacity);
      for (const auto& [other, rate] : water_filled(asks, capacity))
        REQUIRE(rates.rate(other) == doctest::Approx(rate).epsilon(1e-9));
      // To the bit, in whatever order they come.
      std::vector<std::uint32_t> order;
      for (const auto& [other, ask] : asks) order.push_back(other);
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[rng.below(static_cast<std::uint32_t>(i))]);
      MaxMin fresh(capacity);
      for (const std::uint32_t other : order)
        fresh.add(other, asks[other].demand, asks[other].uses);
      for (const std::uint32_t other : order) REQUIRE(fresh.rate(other) == rates.rate(other));
    }
  }
}

TEST_CASE("on one link no gang gets slower when another leaves, nor faster when one comes") {
  Rng rng(6);
  MaxMin rates({3});
  Asks asks;
  for (int step = 0; step < 2000; ++step) {
    std::map<std::uint32_t, double> before;
    for (const auto& [gang, ask] : asks) before[gang] = rates.rate(gang);
    const std::uint32_t gang = rng.below(10);
    const bool leaves = asks.erase(gang) > 0;
    if (leaves) {
      rates.remove(gang);
    } else {
      asks[gang] = {0.1 + rng.uniform(), {{0, 0.5 + rng.uniform()}}};
      rates.add(gang, asks[gang].demand, asks[gang].uses);
    }
    for (const auto& [other, rate] : before) {
      if (!asks.contains(other) || other == gang) continue;
      const double now = rates.rate(other);
      REQUIRE((leaves ? now >= rate * (1 - 1e-12) : now <= rate * (1 + 1e-12)));
    }
  }
}

TEST_CASE("over several links a gang that leaves may make one slower that it never met") {
  // 0 holds 1 back on the first link; without it 1 takes more of the second, from 2.
  MaxMin rates({1, 2});
  const LinkUse first[] = {{0, 1}};
  const LinkUse both[] = {{0, 1}, {1, 1}};
  const LinkUse second[] = {{1, 1}};
  rates.add(0, 9, first);
  rates.add(1, 9, both);
  rates.add(2, 9, second);
  CHECK(rates.rate(1) == 0.5);
  CHECK(rates.rate(2) == 1.5);
  rates.remove(0);
  CHECK(rates.rate(1) == 1);
  CHECK(rates.rate(2) == 1);
}
