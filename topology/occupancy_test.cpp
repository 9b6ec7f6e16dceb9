// SPDX-License-Identifier: Apache-2.0
#include "topology/occupancy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "topology/file/load.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

// The same answers by going over every GPU.
class Naive {
 public:
  Naive(const Topology& t, IndexRange servers) : topology_(t), servers_(servers) {
    for (std::uint32_t s = servers.first; s < servers.last; ++s) {
      for (std::uint32_t g = t.servers()[s].gpus.first; g < t.servers()[s].gpus.last; ++g) {
        free_[g] = true;
      }
    }
  }
  void set(const std::vector<GpuId>& gpus, bool to) {
    for (const GpuId gpu : gpus) free_[gpu.value] = to;
  }
  std::vector<GpuId> free(IndexRange range, std::size_t limit, bool wanted = true) const {
    std::vector<GpuId> out;
    for (std::uint32_t g = range.first; g < range.last && out.size() < limit; ++g) {
      if (free_.at(g) == wanted) out.push_back(GpuId(g));
    }
    return out;
  }
  std::uint32_t free_on(std::uint32_t s) const {
    return static_cast<std::uint32_t>(free(topology_.servers()[s].gpus, 1000).size());
  }
  std::optional<ServerId> best_fit(std::uint32_t count) const {
    std::optional<ServerId> best;
    for (std::uint32_t s = servers_.first; s < servers_.last; ++s) {
      if (free_on(s) < count) continue;
      if (!best || free_on(s) < free_on(best->value)) best = ServerId(s);
    }
    return best;
  }
  std::vector<ServerId> whole(std::uint32_t size, std::uint32_t limit) const {
    std::vector<ServerId> out;
    for (std::uint32_t s = servers_.first; s < servers_.last && out.size() < limit; ++s) {
      if (topology_.servers()[s].gpus.size() == size && free_on(s) == size)
        out.push_back(ServerId(s));
    }
    return out;
  }

 private:
  const Topology& topology_;
  IndexRange servers_;
  std::map<std::uint32_t, bool> free_;
};

constexpr const char* kMixed = R"(
server_templates:
  big: {gpus: 20, gpu_type: V100, cpus: 1, memory_gib: 1}
  odd: {gpus: 3, gpu_type: K80, cpus: 1, memory_gib: 1}
  cpu: {gpus: 0, cpus: 1, memory_gib: 1}
servers: [{template: cpu}, {template: odd, count: 30}, {template: big, count: 5}, {template: cpu, count: 2},
  {template: odd, count: 40}, {template: big, count: 2}, {template: cpu}]
)";

TEST_CASE("occupancy answers as a scan of every GPU does") {
  const Topology t = parse_topology_yaml(kMixed, "mixed").value();
  for (const IndexRange part : {IndexRange{0, t.server_count()}, IndexRange{7, 60},
                                IndexRange{31, 32}, IndexRange{36, 38}}) {
    Occupancy occupancy(t, part);
    Naive naive(t, part);
    Rng rng(part.last, part.first);
    for (int step = 0; step < 1500; ++step) {
      const bool taking = rng.chance(0.55);
      auto pool = naive.free(occupancy.gpus(), 10'000, taking);
      std::vector<GpuId> chosen;
      for (std::uint32_t n = rng.below(12); n > 0 && !pool.empty(); --n) {
        const std::uint32_t at = rng.below(static_cast<std::uint32_t>(pool.size()));
        chosen.push_back(pool[at]);
        pool.erase(pool.begin() + at);
      }
      if (rng.chance(0.7)) std::sort(chosen.begin(), chosen.end());
      taking ? occupancy.take(chosen) : occupancy.give_back(chosen);
      naive.set(chosen, !taking);

      const auto all = naive.free(occupancy.gpus(), 10'000);
      REQUIRE(occupancy.free_count() == all.size());
      const std::uint32_t want = rng.below(30);
      const auto lowest = occupancy.lowest_free(want);
      REQUIRE(lowest.has_value() == (want <= all.size()));
      if (lowest) REQUIRE(*lowest == naive.free(occupancy.gpus(), want));
      const std::uint32_t fit = rng.below(22);
      REQUIRE(occupancy.best_fit(fit) == naive.best_fit(fit));
      const std::uint32_t limit = 1 + rng.below(5);
      for (const std::uint32_t size : {3U, 20U, 4U, 99U}) {
        REQUIRE(occupancy.whole_free_servers(size, limit) == naive.whole(size, limit));
      }
      const ServerId server(part.first + rng.below(part.size()));
      REQUIRE(occupancy.free_on(server) == naive.free_on(server.value));
      const std::uint32_t some = rng.below(occupancy.free_on(server) + 1);
      REQUIRE(occupancy.free_gpus(server, some) == naive.free(t.server(server).gpus, some));
      std::array<std::uint32_t, 17> histogram{};
      std::uint32_t largest = 0;
      for (std::uint32_t s = part.first; s < part.last; ++s) {
        const std::uint32_t k = naive.free_on(s);
        if (k > 0) ++histogram[std::min(k, 16U)];
        largest = std::max(largest, k);
      }
      REQUIRE(occupancy.free_histogram() == histogram);
      REQUIRE(occupancy.largest_free_server() == largest);
    }
  }
}

TEST_CASE("sharing and blocking: a GPU is free exactly while no job is on it and none blocks it") {
  const Topology t = parse_topology_yaml(kMixed, "mixed").value();
  const IndexRange part{7, 60};
  Occupancy occupancy(t, part, 2);
  std::map<std::uint32_t, std::uint32_t> tenants;
  std::map<std::uint32_t, bool> blocked;  // by server
  const IndexRange gpus = occupancy.gpus();
  Rng rng(11);
  for (int step = 0; step < 3000; ++step) {
    if (rng.chance(0.2)) {
      const std::uint32_t first = part.first + rng.below(part.size());
      const IndexRange some{first, std::min(part.last, first + rng.below(4))};
      const bool block = rng.chance(0.5);
      const std::uint32_t before = occupancy.free_count();
      const bool changed = block ? occupancy.block(some) : occupancy.unblock(some);
      for (std::uint32_t s = some.first; s < some.last; ++s) blocked[s] = block;
      REQUIRE(changed == (occupancy.free_count() != before));
    } else {
      const bool taking = rng.chance(0.55);
      std::vector<GpuId> chosen;
      for (std::uint32_t g = gpus.first + rng.below(40); g < gpus.last; g += 1 + rng.below(60)) {
        if (taking ? tenants[g] < 2 : tenants[g] > 0) chosen.push_back(GpuId{g});
      }
      taking ? occupancy.take(chosen) : occupancy.give_back(chosen);
      for (const GpuId gpu : chosen) taking ? ++tenants[gpu.value] : --tenants[gpu.value];
    }
    std::uint32_t free = 0, busy = 0;
    std::map<std::uint32_t, std::uint32_t> free_on;
    for (std::uint32_t g = gpus.first; g < gpus.last; ++g) {
      const std::uint32_t server = t.server_of(GpuId{g}).value;
      const bool is_free = tenants[g] == 0 && !blocked[server];
      REQUIRE(occupancy.is_free(GpuId{g}) == is_free);
      REQUIRE(occupancy.tenants(GpuId{g}) == tenants[g]);
      REQUIRE(occupancy.is_blocked(GpuId{g}) == blocked[server]);
      REQUIRE(occupancy.has_room(GpuId{g}) == (tenants[g] < 2 && !blocked[server]));
      free += is_free ? 1 : 0;
      free_on[server] += is_free ? 1 : 0;
      busy += tenants[g] > 0 ? 1 : 0;
    }
    REQUIRE(occupancy.free_count() == free);
    REQUIRE(occupancy.busy_count() == busy);
    for (std::uint32_t s = part.first; s < part.last; ++s) {
      REQUIRE(occupancy.free_on(ServerId{s}) == free_on[s]);
    }
  }
}

TEST_CASE("a follower equals the original, whatever changed and however much") {
  const Topology t = parse_topology_yaml(kMixed, "mixed").value();
  const IndexRange part{1, t.server_count()};
  const auto change = [&](Occupancy& some, Rng& rng, std::uint32_t times) {
    for (; times > 0; --times) {
      const std::uint32_t server = part.first + rng.below(part.size());
      if (rng.chance(0.1)) {
        (void)(rng.chance(0.5) ? some.block({server, server + 1})
                               : some.unblock({server, server + 1}));
        continue;
      }
      const std::uint32_t g = some.gpus().first + rng.below(some.gpus().size());
      if (rng.chance(0.6) && some.tenants(GpuId{g}) < 2) {
        some.take(std::vector{GpuId{g}});
      } else if (some.tenants(GpuId{g}) > 0) {
        some.give_back(std::vector{GpuId{g}});
      }
    }
  };
  const auto same = [&](const Occupancy& a, const Occupancy& b) {
    REQUIRE(a.free_count() == b.free_count());
    REQUIRE(a.busy_count() == b.busy_count());
    REQUIRE(a.free_histogram() == b.free_histogram());
    REQUIRE(a.lowest_free(a.free_count()) == b.lowest_free(b.free_count()));
    for (std::uint32_t g = a.gpus().first; g < a.gpus().last; ++g) {
      REQUIRE(a.is_free(GpuId{g}) == b.is_free(GpuId{g}));
      REQUIRE(a.tenants(GpuId{g}) == b.tenants(GpuId{g}));
      REQUIRE(a.is_blocked(GpuId{g}) == b.is_blocked(GpuId{g}));
    }
    for (std::uint32_t k = 0; k < a.sizes().size(); ++k) {
      REQUIRE(a.whole_free_servers(k, 100) == b.whole_free_servers(k, 100));
      REQUIRE(a.whole_free_count(k) == b.whole_free_servers(k, 100).size());
      REQUIRE(a.best_fit(k) == b.best_fit(k));
      for (const std::uint32_t from : {part.first, part.first + 40, part.last - 1}) {
        REQUIRE(a.with_free(k, ServerId{from}) == b.with_free(k, ServerId{from}));
      }
    }
  };
  Rng rng(3);
  std::optional<Occupancy> original(std::in_place, t, part, 2U);
  Occupancy follower = *original;
  for (int step = 0; step < 400; ++step) {
    const std::uint32_t many = rng.chance(0.1) ? 200 : 4;  // more than is remembered, now and then
    change(*original, rng, rng.below(many));
    change(follower, rng, rng.below(many));
    if (rng.chance(0.05))
      original.emplace(Occupancy(*original));  // at the same address, another one
    if (rng.chance(0.05)) follower = Occupancy(follower);
    follower.follow(*original);
    same(follower, *original);
  }
}

TEST_CASE("the next server with so many free GPUs is what a scan finds") {
  const Topology t = parse_topology_yaml(kMixed, "mixed").value();
  Occupancy occupancy(t, {1, t.server_count()});
  Rng rng(4);
  for (int step = 0; step < 300; ++step) {
    const GpuId gpu{occupancy.gpus().first + rng.below(occupancy.gpus().size())};
    occupancy.is_free(gpu) ? occupancy.take(std::vector{gpu})
                           : occupancy.give_back(std::vector{gpu});
    const std::uint32_t free = rng.below(22);
    const std::uint32_t from = 1 + rng.below(t.server_count() - 1);
    std::optional<ServerId> exactly, any;
    for (std::uint32_t s = t.server_count(); s-- > from;) {
      if (occupancy.free_on(ServerId{s}) == free) exactly = ServerId{s};
      if (occupancy.free_on(ServerId{s}) > 0) any = ServerId{s};
    }
    REQUIRE(occupancy.with_free(free, ServerId{from}) == exactly);
    REQUIRE(occupancy.with_any_free(ServerId{from}) == any);
  }
}

TEST_CASE("the bitmap tree finds the next member across empty stretches") {
  Rng rng(5);
  for (const std::uint32_t size : {1U, 63U, 64U, 65U, 4096U, 4097U, 300'000U}) {
    BitmapTree tree(size);
    std::vector<bool> plain(size);
    CHECK(tree.next(0) == size);
    for (int i = 0; i < 400; ++i) {
      const std::uint32_t x = rng.below(size);
      plain[x] = rng.chance(0.5);
      plain[x] ? tree.set(x) : tree.reset(x);
      const std::uint32_t from = rng.below(size + 1);
      const auto next = static_cast<std::uint32_t>(
          std::find(plain.begin() + from, plain.end(), true) - plain.begin());
      REQUIRE(tree.next(from) == next);
      REQUIRE(tree.test(x) == plain[x]);
    }
  }
}

}  // namespace
}  // namespace starling
