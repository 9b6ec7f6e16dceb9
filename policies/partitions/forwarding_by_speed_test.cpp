// SPDX-License-Identifier: Apache-2.0
// Where waiting jobs go that know how fast they would be: by type, by room, by queue.
#include "policies/partitions/forwarding_by_speed.h"

#include <doctest/doctest.h>

#include "interference/profile.h"
#include "policies/testing/battery.h"

namespace starling {
namespace {

/// Agent 0 has P100s, agent 1 V100s, agent 2 both; a P100 does half of what a V100 does.
class Three {
 public:
  Three() : topology(make()), speed(topology), gpus(topology, {6, 7}) {
    CHECK(topology.gpu_types()[topology.server(ServerId{4}).gpu_type.value].name == "P100");
    for (const IndexRange servers : {IndexRange{0, 2}, IndexRange{2, 6}}) {
      RemoteDigest d;
      d.agent = AgentId{static_cast<std::uint32_t>(others.size()) + 1};
      d.servers = servers;
      d.gpus = 4 * servers.size();
      others.push_back(d);
    }
    v100 = topology.server(ServerId{0}).gpu_type;
    p100 = topology.server(ServerId{4}).gpu_type;
    say(1, {{v100, 0, 0, 0}});
    say(2, {{v100, 0, 0, 0}, {p100, 0, 0, 0}});
    spec.id = JobId{1, 1};
    spec.model = "resnet50";
  }
  void say(std::uint32_t agent, std::vector<TypeRoom> types, std::uint64_t waiting_gpus = 0) {
    rooms[agent] = std::move(types);
    RemoteDigest& d = others[agent - 1];
    std::ranges::sort(rooms[agent], {}, &TypeRoom::type);
    d.types = rooms[agent];
    d.waiting_gpus = waiting_gpus;
    d.free = 0;
    for (const TypeRoom& room : rooms[agent]) d.free += room.free;
  }
  /// What find() gives for a gang of so many, at `at` seconds after it came.
  const std::vector<Destination>& find(std::uint32_t workers = 1, double threshold = 0.3,
                                       double after = 0) {
    spec.workers = workers;
    job.spec = &spec;
    PlacementRequest request;
    request.spec = &spec;
    request.gpus = workers;
    request.look = workers;
    const View view{topology, gpus, {}, {}, others, speed, at(1000 + after), AgentId{0}};
    for (RemoteDigest& d : others) d.at = view.now;
    CHECK(forwarding.begin(view));
    QueueEntry entry;
    entry.gpus = workers;
    entry.since = at(1000);
    later = forwarding.find(view, entry, job, request, profile_of(spec), threshold, found);
    return found;
  }
  void give() {
    const View view{topology, gpus, {}, {}, others, speed, at(1000), AgentId{0}};
    std::vector<Decision> out;
    forwarding.forward(view, job, found.front(), out);
    REQUIRE(out.size() == 1);
    CHECK(std::get<Forward>(out[0]).to == found.front().to);
  }
  static Instant at(double seconds) { return Instant{} + from_seconds(seconds); }

  Topology topology;
  CrowdedSpeed speed;
  Occupancy gpus;
  std::vector<RemoteDigest> others;
  std::map<std::uint32_t, std::vector<TypeRoom>> rooms;
  GpuTypeId v100, p100;
  JobSpec spec;
  JobView job;
  ForwardingBySpeed forwarding;
  std::vector<Destination> found;
  bool later = false;

 private:
  static Topology make() {
    GeneratorOptions options;
    options.groups = {{4, "V100"}, {3, "P100"}};
    options.gpus_per_server = 4;
    options.servers_per_rack = 2;
    return generate_leaf_spine(options).value();
  }
};

TEST_CASE("free GPUs of the fastest type come first, and a queue where there are none") {
  Three world;
  CHECK(world.find().size() == 2);
  CHECK_FALSE(world.found.front().starts);
  world.say(2, {{world.v100, 0, 0, 0}, {world.p100, 3, 3, 0}});
  // Agent 2 would start it on a P100, which is half as fast; agent 1 has V100s, and no room.
  CHECK(world.find().front().to == AgentId{2});
  CHECK(world.found.front().type == world.p100);
  CHECK(world.found.front().speed == doctest::Approx(0.5));
  world.say(1, {{world.v100, 1, 1, 0}});
  CHECK(world.find().front().to == AgentId{1});
  CHECK(world.found.front().speed == doctest::Approx(1));
  // No more than half as fast will not do for the picky.
  world.say(1, {{world.v100, 0, 0, 0}});
  CHECK_FALSE(world.find(1, 0.6).front().starts);
  CHECK(world.found.front().type == world.v100);
  // Nor does a partition that can never hold the gang.
  CHECK(world.find(8, 0.6).size() == 2);
  CHECK(world.find(9, 0.6).empty());
}

TEST_CASE("what starts elsewhere must be worth the way, and queues must differ") {
  Three world;
  world.say(1, {{world.v100, 1, 1, 0}});
  const auto& found = world.find();
  CHECK(ForwardingBySpeed::faster(found, 1.0) == found.data());
  CHECK(ForwardingBySpeed::faster(found, 0.1) == nullptr);
  world.say(1, {{world.v100, 0, 0, 0}}, 2);
  world.say(2, {{world.v100, 0, 0, 0}}, 80);
  world.find();
  // A job that this partition is too slow for goes to the shorter queue; another one only if that
  // is shorter by more than little.
  CHECK(ForwardingBySpeed::better_queue(found, 0, 0, false)->to == AgentId{1});
  CHECK(ForwardingBySpeed::better_queue(found, 1, 0.3, false) == nullptr);
  CHECK(ForwardingBySpeed::better_queue(found, 1, 1, false)->to == AgentId{1});
  CHECK(ForwardingBySpeed::better_queue(found, 0.5, 0.3, false)->to == AgentId{1});
}

TEST_CASE("room that was given away is remembered until the target says something new") {
  Three world;
  world.say(1, {{world.v100, 1, 1, 0}});
  CHECK(world.find().front().starts);
  const std::uint64_t version = world.forwarding.version();
  world.give();
  CHECK(world.forwarding.version() != version);
  CHECK_FALSE(world.find().front().starts);
  world.say(1, {{world.v100, 2, 2, 0}});
  CHECK(world.find().front().starts);
}

TEST_CASE("nothing bounces: back-off, a limit, and no agent twice") {
  Three world;
  world.job.forwards = 3;
  CHECK(world.find(1, 0.3, 3.9).empty());
  CHECK(world.later);
  CHECK(world.find(1, 0.3, 4).size() == 2);
  CHECK_FALSE(world.later);
  const AgentId tried[] = {AgentId{1}};
  world.job.offered = tried;
  CHECK(world.find(1, 0.3, 4).size() == 1);
  CHECK(world.found.front().to == AgentId{2});
  world.job.offered = {};
  world.job.forwards = most_moves_in_hope(2);
  CHECK(world.find(1, 0.3, 1e6).empty());
  CHECK_FALSE(world.later);
  world.say(2, {{world.p100, 1, 1, 0}, {world.v100, 0, 0, 3}});
  CHECK(world.find(1, 0.3, 1e6).size() == 1);
  CHECK(world.found.front().to == AgentId{2});
  CHECK(world.found.front().type == world.p100);
  world.job.forwards = most_moves(2);
  CHECK(world.find(1, 0.3, 1e6).empty());
  CHECK_FALSE(world.later);
}

TEST_CASE("a peer that does not say its types counts by what it has of one type") {
  Three world;
  world.say(1, {});
  world.others[0].free = world.others[0].largest_free_server = 2;
  world.say(2, {});
  CHECK(world.find().front().to == AgentId{1});
  CHECK(world.found.front().starts);
  CHECK_FALSE(world.found.back().starts);
}

TEST_CASE("types that the peer does not have, or more than it has, count for nothing") {
  Three world;
  world.say(1, {{GpuTypeId{77}, 4, 4, 0}, {world.v100, 999, 999, 999}});
  CHECK(world.find().front().free == doctest::Approx(1));
  CHECK(world.found.front().open == doctest::Approx(1));
}

TEST_CASE("a job that asks for CPUs starts where those go with free GPUs") {
  Three world;  // servers of 64 CPUs and 512 GiB
  world.say(1, {{world.v100, 8, 4, 0}});
  world.say(2, {{world.v100, 3, 3, 0}, {world.p100, 0, 0, 0}});
  const auto starts = [&](std::uint32_t workers) {
    std::vector<std::uint32_t> out;
    for (const Destination& d : world.find(workers)) {
      if (d.starts) out.push_back(d.to.value);
    }
    return out;
  };
  using Agents = std::vector<std::uint32_t>;
  world.spec.cpus_per_worker = 20;
  CHECK(starts(3) == Agents{1, 2});  // no server has CPUs there
  constexpr std::int64_t kOne = 1'000'000;
  const std::vector<ServerRoom> rooms{{world.v100, 4, 2, {30 * kOne, 512 * kOne}}};
  world.others[0].rooms = rooms;
  CHECK(starts(1) == Agents{1, 2});
  CHECK(starts(2) == Agents{1, 2});
  CHECK_FALSE(world.found.front().one_server);
  CHECK(starts(3) == Agents{2});
  CHECK(world.found.front().one_server);
  world.find(2);
  world.give();  // to agent 1: it is full now, also without a new digest
  CHECK(starts(2) == Agents{2});
  CHECK(world.find(7).empty());  // 20 CPUs go three times into each of a type's two servers
  world.spec.cpus_per_worker = 0;
  CHECK(world.find(7).size() == 2);
}

/// Two partitions, the second one with the faster GPUs: the mean time that single jobs take.
double mean_time(const std::string& policy, std::uint32_t agents) {
  GeneratorOptions options;
  options.groups = {{2, "P100"}, {2, "V100"}};
  options.gpus_per_server = 4;
  options.servers_per_rack = 2;
  const Topology topology = generate_leaf_spine(options).value();
  const CrowdedSpeed speed(topology);
  Trace trace;
  for (std::uint32_t i = 0; i < 60; ++i) {
    TraceJob job;
    job.submit = from_seconds(40.0 * i);
    job.spec.id = JobId{1, i + 1};
    job.spec.model = "resnet50";
    job.spec.duration = from_seconds(200);
    trace.jobs.push_back(job);
  }
  TestWorld world(topology, make_policy_registry(), policy, {agents, 1, 0, &speed});
  world.run(trace);
  CHECK(world.faults.empty());
  double sum = 0;
  for (const TestWorld::Job& job : world.jobs) {
    REQUIRE(job.finished != kNever);
    sum += seconds(job.finished - job.submitted);
  }
  return sum / static_cast<double>(world.jobs.size());
}

TEST_CASE("policies that know speeds use the faster partition next door") {
  for (const char* const policy : {"lif:threshold=0.3", "smart-greedy:threshold=0.3", "lif"}) {
    CAPTURE(policy);
    // Five at a time: the eight V100s are enough for all, at 200 s each.
    CHECK(mean_time(policy, 1) == doctest::Approx(200).epsilon(0.02));
    CHECK(mean_time(policy, 2) == doctest::Approx(200).epsilon(0.02));
  }
  CHECK(mean_time("tetris", 2) > 250);
}

}  // namespace
}  // namespace starling
