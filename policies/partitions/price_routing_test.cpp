// SPDX-License-Identifier: Apache-2.0
// Where a job is to be shared out: by what is wanted of each GPU type, here and elsewhere.
#include "policies/partitions/price_routing.h"

#include <doctest/doctest.h>

#include <limits>
#include <list>

#include "policies/partitions/moves.h"
#include "policies/testing/battery.h"
#include "policies/testing/test_aborts.h"

namespace starling {
namespace {

/// Agent 0 has eight P100s, agents 1 and 2 eight V100s each; a P100 does half of what a V100 does.
class Market {
 public:
  explicit Market(bool elastic = false) : routing(elastic), topology(make()), speed(topology) {
    for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
      const GpuTypeId type = topology.server(ServerId{s}).gpu_type;
      (topology.gpu_types()[type.value].name == "P100" ? p100 : v100) = type;
    }
    const bool first = topology.server(ServerId{0}).gpu_type == p100;
    const IndexRange mine = first ? IndexRange{0, 2} : IndexRange{4, 6};
    gpus.emplace(topology, mine);
    for (std::uint32_t a = 1; a <= 2; ++a) {
      const std::uint32_t from = (first ? 2 : 0) + 2 * (a - 1);
      RemoteDigest d;
      d.agent = AgentId{a};
      d.servers = {from, from + 2};
      d.gpus = 8;
      others.push_back(d);
      say(a, 1, 0);
    }
  }
  /// An agent's price of its V100s, and how many are free.
  void say(std::uint32_t agent, float price, std::uint32_t free) {
    RemoteDigest& d = others[agent - 1];
    rooms[agent] = {{v100, free, std::min(free, 4U), 0}};
    d.types = rooms[agent];
    d.free = free;
    d.waiting = 1;
    prices[agent] = {{v100, price}};
    d.prices = prices[agent];
    ++d.version;
  }
  JobView make_job(std::uint32_t workers, std::uint32_t most = 0) {
    JobSpec& spec = specs.emplace_back();
    spec.id = JobId{1, specs.size()};
    spec.workers = workers;
    spec.model = "resnet50";
    if (most > 0) spec.min_workers = 1, spec.max_workers = most;
    JobView view;
    view.spec = &spec;
    view.order = specs.size();
    return view;
  }
  void wait(std::uint32_t workers, std::uint32_t most = 0) {
    waiting.push_back(make_job(workers, most));
  }
  void run(std::uint32_t workers, double served_s, std::uint32_t most = 0) {
    JobView job = make_job(workers, most);
    ServerId server{gpus->servers().first};
    if (gpus->free_on(server) < workers) ++server.value;
    job.placement = gpus->free_gpus(server, workers);
    gpus->take(job.placement);
    job.served = from_seconds(served_s);
    running.push_back(job);
  }
  /// To whom the jobs go that leave, by job.
  std::map<std::uint64_t, std::uint32_t> route() {
    for (RemoteDigest& d : others) d.at = now;
    shown.emplace(View{topology, *gpus, waiting, running, others, speed, now, AgentId{0}});
    std::vector<Decision> out;
    stays = routing.route(*shown, out).waiting.size();
    return targets(out);
  }
  static std::map<std::uint64_t, std::uint32_t> targets(const std::vector<Decision>& out) {
    std::map<std::uint64_t, std::uint32_t> to;
    for (const Decision& d : out) to[std::get<Forward>(d).job.lo] = std::get<Forward>(d).to.value;
    return to;
  }

  PriceRouting routing;
  Topology topology;
  CrowdedSpeed speed;
  GpuTypeId p100, v100;
  std::optional<Occupancy> gpus;
  std::vector<RemoteDigest> others;
  std::map<std::uint32_t, std::vector<TypeRoom>> rooms;
  std::map<std::uint32_t, std::vector<TypePrice>> prices;
  std::list<JobSpec> specs;
  std::vector<JobView> waiting, running;
  std::optional<View> shown;
  Instant now = Instant{} + std::chrono::hours(1);
  std::size_t stays = 0;

 private:
  static Topology make() {
    GeneratorOptions options;
    options.groups = {{4, "V100"}, {2, "P100"}};
    options.gpus_per_server = 4;
    return generate_flat(options).value();
  }
};

using Targets = std::map<std::uint64_t, std::uint32_t>;

TEST_CASE("a price is what is wanted for each GPU, by those that run and those that wait") {
  Market market;
  market.run(4, 10);
  market.wait(2);
  market.waiting.back().forwards = 1;  // stays, whatever it costs
  CHECK(market.route().empty());
  REQUIRE(market.routing.prices().size() == 1);
  CHECK(market.routing.prices()[0] == TypePrice{market.p100, 0.75F});
}

TEST_CASE("GPUs that are out of service are no offer: half as many make everything dearer") {
  Market market;
  const std::uint32_t first = market.gpus->servers().first;
  (void)market.gpus->block({first + 1, first + 2});
  market.run(4, 10);
  market.wait(2);
  market.waiting.back().forwards = 1;
  CHECK(market.route().empty());
  CHECK(market.routing.prices()[0].value == 1.5F);
  SUBCASE("where none is left no job stays that can go, whatever it costs there") {
    (void)market.gpus->block({first, first + 2});
    market.gpus->give_back(market.running.back().placement);
    market.running.clear();
    market.wait(1);
    market.say(1, 100, 0);
    market.say(2, 50, 0);
    CHECK(market.route() == Targets{{3, 2}});
    CHECK(market.routing.prices()[0].value >= 1e6F);
    CHECK_FALSE(market.routing.costs_more(*market.shown, market.waiting.front(), AgentId{1}));
  }
}

TEST_CASE("of an elastic job the largest size is wanted, where the policy knows that") {
  for (const bool elastic : {false, true}) {
    Market market(elastic);
    market.run(2, 10, 6);
    market.wait(2, 4);
    market.waiting.back().forwards = 1;
    CHECK(market.route().empty());
    CHECK(market.routing.prices()[0].value == (elastic ? 10.0F / 8 : 4.0F / 8));
  }
}

TEST_CASE("a newcomer goes to the partition that it costs least, by the speed of the type") {
  Market market;
  market.wait(1);
  SUBCASE("twice as fast: up to twice the price") {
    market.say(1, 1.9F, 0);
    market.say(2, 1.5F, 0);
    CHECK(market.route() == Targets{{1, 2}});
    CHECK(market.stays == 0);
  }
  SUBCASE("dearer than that: it stays") {
    market.say(1, 2.5F, 0);
    market.say(2, 2.5F, 0);
    CHECK(market.route().empty());
    CHECK(market.stays == 1);
  }
  SUBCASE("only those that say prices count") {
    market.others[0].prices = {};
    market.others[1].prices = {};
    CHECK(market.route().empty());
  }
  SUBCASE("none that is blocked, or has been elsewhere, or was offered there") {
    market.waiting[0].blocked = true;
    market.wait(1);
    market.waiting[1].forwards = 1;
    const std::vector<AgentId> both{AgentId{1}, AgentId{2}};
    market.wait(1);
    market.waiting[2].offered = both;
    CHECK(market.route().empty());
  }
}

TEST_CASE("a partition that was given a job is dearer for the next one") {
  Market market;
  market.say(1, 0.5F, 4);
  market.say(2, 0.5F, 4);
  for (int i = 0; i < 4; ++i) market.wait(4);
  const auto to = market.route();
  REQUIRE(to.size() == 4);
  std::map<std::uint32_t, int> count;
  for (const auto& [job, agent] : to) ++count[agent];
  CHECK(count[1] == 2);
  CHECK(count[2] == 2);
}

TEST_CASE("an elastic job goes where there is room, if that is not twice as dear") {
  for (const bool elastic : {false, true}) {
    Market market(elastic);
    market.say(1, 1.2F, 0);
    market.say(2, 1.6F, 2);
    market.wait(2, 2);
    CHECK(market.route() == Targets{{1, elastic ? 2 : 1}});
  }
  Market market(true);
  market.say(1, 1.2F, 0);
  market.say(2, 3.5F, 2);
  market.wait(2, 2);
  CHECK(market.route() == Targets{});  // slow GPUs that are free
}

TEST_CASE("a job is looked at once when it comes, then at rounds, and moves for a quarter alone") {
  Market market;
  market.say(1, 2.4F, 0);
  market.say(2, 2.4F, 0);
  market.wait(1);
  CHECK(market.route().empty());
  market.say(1, 1.6F, 0);  // 1.6 + 1/8 for twice the speed, against 1
  CHECK(market.route().empty());
  std::vector<const JobView*> left{&market.waiting[0]};
  std::vector<Decision> out;
  market.routing.rebalance(*market.shown, left, out);
  CHECK(out.empty());
  market.say(1, 1.2F, 0);
  CHECK(market.route().empty());
  market.routing.rebalance(*market.shown, left, out);
  CHECK(Market::targets(out) == Targets{{1, 1}});
}

TEST_CASE("nothing is answered of a view whose newcomers were not looked at first") {
  Market market;
  market.say(1, 2.4F, 0);
  market.say(2, 2.4F, 0);
  market.wait(1);
  CHECK(market.route().empty());
  View later = *market.shown;
  later.now += std::chrono::seconds(1);
  std::vector<Decision> out;
  CHECK(aborts([&] { (void)market.routing.pick_movers(later); }));
  CHECK(aborts([&] { (void)market.routing.costs_more(later, market.waiting[0], AgentId{1}); }));
  CHECK(aborts([&] { market.routing.rebalance(later, {}, out); }));
}

TEST_CASE("free GPUs elsewhere are a reason to move but where they are slower than waiting here") {
  Market market;
  market.say(1, 3, 4);  // free, and fast, whatever others want of them
  market.say(2, 3, 0);
  market.wait(1);
  market.waiting[0].forwards = 1;
  (void)market.route();
  CHECK_FALSE(market.routing.costs_more(*market.shown, market.waiting[0], AgentId{1}));
  CHECK(market.routing.costs_more(*market.shown, market.waiting[0], AgentId{2}));  // has none free
  CHECK_FALSE(market.routing.costs_more(*market.shown, market.waiting[0], AgentId{7}));
}

TEST_CASE("a job that runs is stopped to move where that saves more than a restart takes") {
  Market market;
  market.say(1, 0.5F, 4);
  market.say(2, 2, 0);
  market.run(2, 30);    // has half a minute of work to go, as far as one can tell
  market.run(2, 4000);  // has half an hour of it
  market.run(2, 9000);
  market.running.back().blocked = true;
  CHECK(market.route().empty());
  auto movers = market.routing.pick_movers(*market.shown);
  REQUIRE(movers.size() == 1);
  CHECK(movers[0]->spec->id.lo == 2);
  SUBCASE("and goes there once it waits") {
    JobView stopped = market.running[1];
    market.gpus->give_back(stopped.placement);
    stopped.placement.clear();
    market.waiting.push_back(stopped);
    market.running.erase(market.running.begin() + 1);
    CHECK(market.route() == Targets{{2, 1}});
  }
  SUBCASE("or stays, where it no longer pays") {
    market.say(1, 9, 0);
    JobView stopped = market.running[1];
    market.gpus->give_back(stopped.placement);
    stopped.placement.clear();
    market.waiting.push_back(stopped);
    market.running.erase(market.running.begin() + 1);
    CHECK(market.route().empty());
    CHECK(market.stays == 1);
  }
}

TEST_CASE("a gang over several partitions moves from slow GPUs, as if no other job wanted those") {
  Market market;
  market.say(1, 0.5F, 4);
  market.say(2, 2, 0);
  market.run(2, 4000);
  Placement& gang = market.running[0].placement;
  const std::uint32_t beyond = market.gpus->gpus().last < market.topology.gpu_count()
                                   ? market.gpus->gpus().last
                                   : market.gpus->gpus().first - 1;
  std::size_t movers = 0;
  SUBCASE("one on P100s here and V100s elsewhere") {
    gang.push_back(GpuId{beyond});
    movers = 1;
  }
  SUBCASE("not where the fast ones cost more than they are faster") {
    gang.push_back(GpuId{beyond});
    market.say(1, 9, 4);
  }
  SUBCASE("nor one that has fast ones alone") { gang = {GpuId{beyond}}; }
  std::ranges::sort(gang);
  CHECK(market.route().empty());
  CHECK(market.routing.pick_movers(*market.shown).size() == movers);
}

TEST_CASE("a job that has moved often moves again once it has run ten minutes for each time") {
  Market market;
  market.say(1, 0.5F, 4);
  market.run(2, 5900);
  market.running[0].forwards = 10;
  CHECK(market.route().empty());
  CHECK(market.routing.pick_movers(*market.shown).empty());
  market.running[0].served = from_seconds(6000);
  CHECK(market.routing.pick_movers(*market.shown).size() == 1);
}

TEST_CASE("two that run do not move for the same free GPUs") {
  Market market;
  market.say(1, 0.5F, 4);
  market.say(2, 2, 0);
  market.run(4, 4000);
  market.run(4, 9000);
  CHECK(market.route().empty());
  const auto movers = market.routing.pick_movers(*market.shown);
  REQUIRE(movers.size() == 1);
  CHECK(movers[0]->spec->id.lo == 2);  // saves most
}

TEST_CASE("a lie draws a few jobs at a time, and none below what runs there") {
  Market market;
  market.say(1, 0, 0);  // nothing is free, so not all of it is unwanted
  market.say(2, std::numeric_limits<float>::max(), 8);
  for (int i = 0; i < 12; ++i) market.wait(1);
  const auto to = market.route();
  for (const auto& [job, agent] : to) CHECK(agent == 1);
  CHECK(to.size() >= 4);
  CHECK(to.size() <= 9);  // each is dearer than the last: at a price of 2 the slow ones are as good
  for (int i = 0; i < 1000; ++i) market.wait(1);
  CHECK(market.route().size() <= kForwardsPerCall);
}

TEST_CASE("kinds of jobs come without end: what is forgotten is asked anew, and not another's") {
  Market market;
  market.say(1, 0, 8);
  for (std::uint32_t kind = 1; kind <= 5000; ++kind) {
    market.wait(1);
    market.specs.back().run.batch = kind;
  }
  CHECK_FALSE(market.route().empty());
  market.waiting.clear();
  market.say(1, 0, 8);
  market.wait(1);
  market.specs.back().gpu_types = {"P100"};  // which are here alone
  CHECK(market.route().empty());
  market.wait(1);
  CHECK(market.route() == Targets{{5002, 1}});
}

}  // namespace
}  // namespace starling
