// SPDX-License-Identifier: Apache-2.0
// Servers of unequal size: place() against a search through every way to lay out a gang.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/rng.h"
#include "policies/testing/test_placements.h"
#include "scheduling/packing.h"
#include "topology/builder.h"

namespace starling {
namespace {

struct ServerOf {
  std::uint32_t gpus = 1;
  bool fast = false;
  double cpus = 0;
};

/// One partition; the first `domain` servers are a scale-up domain.
Topology cluster(const std::vector<ServerOf>& servers, std::uint32_t domain = 0) {
  TopologyBuilder builder("mixed");
  const GpuTypeId slow = builder.gpu_type({"P100", 16});
  const GpuTypeId fast = builder.gpu_type({"V100", 16});
  builder.begin_pod();
  builder.begin_rack();
  for (const ServerOf& it : servers) {
    Server server;
    server.gpu_type = it.fast ? fast : slow;
    server.cpus = it.cpus;
    builder.add_server(server, it.gpus);
  }
  if (domain > 1) builder.parts().domains.push_back({{0, domain}, 400});
  return std::move(builder).build();
}

JobSpec gang(std::uint32_t workers, std::uint32_t gpus_per_worker,
             std::vector<std::string> types = {}, double cpus = 0) {
  JobSpec job;
  job.workers = workers;
  job.gpus_per_worker = gpus_per_worker;
  job.gpu_types = std::move(types);
  job.cpus_per_worker = cpus;
  return job;
}

/// What packing.h says, by trying every number of GPUs on every server.
class Search {
 public:
  Search(const Occupancy& now, const JobSpec& job) : now_(now), job_(job) {
    const Topology& t = now.topology();
    const std::uint32_t last = t.server_count();
    for (std::uint32_t s = 0; s < last; ++s) {
      if (allows(job, t, ServerId{s})) all_.push_back(ServerId{s});
    }
    for (const ServerId s : all_) {
      if (t.domain_of(s) != Topology::kNoDomain) domain_.push_back(s);
    }
  }
  [[nodiscard]] bool fits() const {
    const Occupancy empty(now_.topology(), now_.servers());
    if (on_one(now_) || whole(now_, domain_) || whole(now_, all_)) return true;
    return !whole(empty, all_) && anywhere(now_);
  }
  /// The gang goes over servers of any size.
  [[nodiscard]] bool in_pieces() const {
    const Occupancy empty(now_.topology(), now_.servers());
    const std::uint32_t size = commonest(all_);
    return size > 0 && job_.gpus() > size && !whole(empty, all_) &&
           (job_.workers > 1 || !on_one(empty));
  }

 private:
  [[nodiscard]] std::uint32_t most(ServerId s) const {
    return Occupancy(now_.topology(), now_.servers()).free_on(s, demand_of(job_));
  }
  [[nodiscard]] std::uint32_t commonest(const std::vector<ServerId>& servers) const {
    std::map<std::uint32_t, std::uint32_t> count;
    for (const ServerId s : servers) ++count[most(s)];
    count.erase(0);
    std::uint32_t best = 0;
    for (const auto& [size, n] : count) {
      if (best == 0 || n >= count[best]) best = size;
    }
    return best;
  }
  [[nodiscard]] bool on_one(const Occupancy& gpus) const {
    return std::ranges::any_of(
        all_, [&](ServerId s) { return gpus.free_on(s, demand_of(job_)) >= job_.gpus(); });
  }
  /// Some set of wholly free servers of the commonest size, and on one more the rest.
  [[nodiscard]] bool whole(const Occupancy& gpus, const std::vector<ServerId>& servers) const {
    const std::uint32_t size = commonest(servers), count = job_.gpus();
    if (count <= size || size == 0) return false;
    std::uint32_t each = size;
    if (job_.gpus_per_worker > 1 && job_.gpus_per_worker <= size)
      each = size / job_.gpus_per_worker * job_.gpus_per_worker;
    for (std::uint32_t set = 0; set < 1U << servers.size(); ++set) {
      std::uint32_t got = 0, rest_room = 0;
      bool good = true;
      for (std::size_t i = 0; i < servers.size(); ++i) {
        const std::uint32_t free = gpus.free_on(servers[i], demand_of(job_));
        if ((set >> i & 1U) == 0) {
          rest_room = std::max(rest_room, free);
        } else if (most(servers[i]) == size && free == size) {
          got += each;
        } else {
          good = false;
        }
      }
      if (good && got <= count && count - got < each && rest_room >= count - got) return true;
      if (good && got == count) return true;
    }
    return false;
  }
  /// Whole workers wherever there is room; a lone worker that no server holds is cut.
  [[nodiscard]] bool anywhere(const Occupancy& gpus) const {
    const bool cut = job_.workers == 1 && !on_one(Occupancy(gpus.topology(), gpus.servers()));
    const std::uint32_t worker = cut ? 1 : job_.gpus_per_worker;
    std::uint32_t room = 0;
    for (const ServerId s : all_) room += gpus.free_on(s, demand_of(job_)) / worker * worker;
    return job_.gpus() > commonest(all_) && room >= job_.gpus();
  }

  const Occupancy& now_;
  const JobSpec& job_;
  std::vector<ServerId> all_, domain_;
};

/// A random small cluster, partly taken.
struct Scene {
  explicit Scene(std::uint64_t seed) : rng(seed), topology(draw(rng)), gpus(topology, all()) {
    const double load = 0.2 * rng.below(5);
    for (std::uint32_t g = 0; g < topology.gpu_count(); ++g) {
      if (rng.chance(load)) gpus.take(Placement{GpuId{g}}, Demand{rng.below(4) * 1'000'000, 0});
    }
  }
  [[nodiscard]] IndexRange all() const { return {0, topology.server_count()}; }
  static Topology draw(Rng& rng) {
    const std::uint32_t sizes[] = {1 + rng.below(8), 1 + rng.below(4), 1 + rng.below(4)};
    const bool said = rng.chance(0.5);
    std::vector<ServerOf> servers(1 + rng.below(7));
    for (ServerOf& s : servers)
      s = {sizes[rng.below(3)], rng.chance(0.5), said ? 1000 + 2.0 * rng.below(12) : 0};
    const auto count = static_cast<std::uint32_t>(servers.size());
    return cluster(servers, rng.chance(0.5) ? rng.below(count + 1) : 0);
  }
  /// Gangs that differ in their size alone.
  [[nodiscard]] std::function<JobSpec(std::uint32_t)> draw_kind() {
    const bool lone = rng.chance(0.2);
    const std::uint32_t worker = 1 + rng.below(4);
    std::vector<std::string> types;
    if (rng.chance(0.5)) types.emplace_back(rng.chance(0.5) ? "V100" : "P100");
    const double cpus = rng.chance(0.3) ? 100.0 * (1 + rng.below(5)) : 0;
    return [=](std::uint32_t n) {
      return lone ? gang(1, n, types, cpus * n) : gang(n, worker, types, cpus * worker);
    };
  }
  Rng rng;
  Topology topology;
  Occupancy gpus;
};

TEST_CASE("place() finds room for a gang exactly where a search through all ways does") {
  int placed = 0, pieces = 0, waits = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Scene scene(seed);
    const Shape shape = shape_of(scene.gpus);
    const auto kind = scene.draw_kind();
    for (std::uint32_t n = 1; n <= 12; ++n) {
      const JobSpec job = kind(n);
      const auto found = place(scene.gpus, shape, job, Fit::server);
      const Search search(scene.gpus, job);
      INFO("seed " << seed << ", " << job.workers << " x " << job.gpus_per_worker);
      REQUIRE(found.has_value() == search.fits());
      REQUIRE(goes_in_pieces(scene.gpus, job, Fit::server) == search.in_pieces());
      waits += found ? 0 : 1;
      if (!found) continue;
      ++placed;
      pieces += search.in_pieces() ? 1 : 0;
      REQUIRE(found->size() == job.gpus());
      REQUIRE(std::ranges::is_sorted(*found));
      REQUIRE(scene.gpus.has_means(*found, demand_of(job)));
      for (const GpuId gpu : *found) {
        REQUIRE(scene.gpus.is_free(gpu));
        REQUIRE(allows(job, scene.topology, scene.topology.server_of(gpu)));
      }
    }
  }
  CHECK(placed > 2000);
  CHECK(pieces > 100);
  CHECK(waits > 2000);
}

TEST_CASE("where a gang finds no room, none that is larger and packed alike does") {
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Scene scene(seed);
    const Shape shape = shape_of(scene.gpus);
    const auto kind = scene.draw_kind();
    for (const Fit fit : {Fit::server, Fit::count}) {
      std::map<bool, std::uint32_t> smallest;
      for (std::uint32_t n = 1; n <= 16; ++n) {
        const JobSpec job = kind(n);
        const bool pieces = goes_in_pieces(scene.gpus, job, fit);
        const bool fits = place(scene.gpus, shape, job, fit).has_value();
        INFO("seed " << seed << ", " << job.workers << " x " << job.gpus_per_worker);
        REQUIRE_FALSE((fits && smallest.contains(pieces)));
        if (!fits) smallest.emplace(pieces, n), ++failed;
      }
    }
  }
  CHECK(failed > 5000);
}

TEST_CASE("a gang that asks for a type does not wait for ever on servers of unequal size") {
  const Topology topology =
      cluster({{4, false}, {8, true}, {3, true}, {3, true}, {5, true}, {3, false}});
  Occupancy gpus(topology, {0, 6});
  const Shape shape = shape_of(gpus);
  CHECK(place(gpus, shape, gang(19, 1, {"V100"}), Fit::server) == range(4, 23));
  CHECK(place(gpus, shape, gang(8, 2, {"V100"}), Fit::server).value().size() == 16);
  CHECK_FALSE(place(gpus, shape, gang(9, 2, {"V100"}), Fit::server));
  CHECK_FALSE(place(gpus, shape, gang(20, 1, {"V100"}), Fit::server));
  // Two whole ones of three are enough, so it waits for them.
  gpus.take(range(4, 13));
  CHECK_FALSE(place(gpus, shape, gang(2, 3, {"V100"}), Fit::server));
}

TEST_CASE("a gang of a server's size takes a domain of smaller ones where no server has room") {
  const Topology topology = cluster({{2}, {2}, {2}, {4}, {4}, {4}, {4}}, 3);
  Occupancy gpus(topology, {0, 7});
  const Shape shape = shape_of(gpus);
  gpus.take(range(6, 7) + range(10, 11) + range(14, 15) + range(18, 19));
  CHECK(place(gpus, shape, gang(6, 1), Fit::server) == range(0, 6));
  CHECK(place(gpus, shape, gang(4, 1), Fit::server) == range(0, 4));
}

}  // namespace
}  // namespace starling
