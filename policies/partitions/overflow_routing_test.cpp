// SPDX-License-Identifier: Apache-2.0
// What policies that go by free GPUs do with jobs that cannot start here, by what others say.
#include "policies/partitions/overflow_routing.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>

#include "policies/testing/battery.h"

namespace starling {
namespace {

/// Servers of four GPUs: agent 0 has one, all taken, agents 1 and 2 have two each.
class Full {
 public:
  explicit Full(const std::string& text = "fifo:queue=skip",
                std::vector<ServerGroup> servers = {{5, "V100"}})
      : topology(make(std::move(servers))),
        gpus(topology, {4, 5}),
        policy(make_policy_registry().make(text).value()) {
    gpus.take(gpus.free_gpus(ServerId{4}, 4));
    for (const IndexRange theirs : {IndexRange{0, 2}, IndexRange{2, 4}}) {
      RemoteDigest d;
      d.agent = AgentId{static_cast<std::uint32_t>(others.size()) + 1};
      d.servers = theirs;
      d.gpus = 8;
      others.push_back(d);
      say(d.agent.value, 8);
    }
  }
  /// The agent has so many GPUs free, and so many wanted by those who wait.
  void say(std::uint32_t agent, std::uint32_t free, std::uint64_t waiting_gpus = 0) {
    RemoteDigest& d = others[agent - 1];
    d.free = free;
    d.largest_free_server = std::min(free, 4U);
    d.whole_free_servers = free / 4;
    d.waiting = waiting_gpus > 0 ? 1 : 0;
    d.waiting_gpus = waiting_gpus;
  }
  /// A job of so many GPUs waits that was offered to those agents; numbered from 1.
  JobSpec& add(std::uint32_t workers, std::vector<AgentId> offered = {}) {
    const auto id = static_cast<std::uint32_t>(jobs.size() + 1);
    Job& job = jobs[id];
    job.spec.id = JobId{1, id};
    job.spec.model = "resnet50";
    job.spec.workers = workers;
    job.offered = std::move(offered);
    return job.spec;
  }
  /// Where each job that is forwarded goes.
  std::map<std::uint64_t, std::uint32_t> forwards(std::vector<Spread>* spreads = nullptr) {
    std::vector<JobView> waiting;
    for (const auto& [id, job] : jobs) {
      JobView view;
      view.spec = &job.spec;
      view.order = id;
      view.offered = job.offered;
      waiting.push_back(view);
    }
    now += std::chrono::minutes(1);  // whatever was promised is forgotten
    for (RemoteDigest& d : others) d.at = now;
    const EqualSpeeds speed;
    const View view{topology, gpus, waiting, {}, others, speed, now, AgentId{0}};
    Rng rng(1);
    std::map<std::uint64_t, std::uint32_t> out;
    for (const Decision& decision : policy->decide(view, {}, rng)) {
      if (const auto* forward = std::get_if<Forward>(&decision))
        out.emplace(forward->job.lo, forward->to.value);
      if (const auto* spread = std::get_if<Spread>(&decision); spread && spreads)
        spreads->push_back(*spread);
    }
    return out;
  }

  struct Job {
    JobSpec spec;
    std::vector<AgentId> offered;
  };
  struct EqualSpeeds final : SpeedModel {
    [[nodiscard]] Speed speed(const JobProfile&, const Placement&,
                              const Neighbours&) const override {
      return {};
    }
  };
  Topology topology;
  Occupancy gpus;
  std::unique_ptr<Policy> policy;
  std::vector<RemoteDigest> others;
  std::map<std::uint32_t, Job> jobs;
  Instant now{};

 private:
  static Topology make(std::vector<ServerGroup> servers) {
    GeneratorOptions options;
    options.groups = std::move(servers);
    options.gpus_per_server = 4;
    return generate_flat(options).value();
  }
};

using Goes = std::map<std::uint64_t, std::uint32_t>;
constexpr AgentId kOne{1}, kTwo{2};

TEST_CASE("a job goes where it can start, and not to a home that was offered it before") {
  Full world;
  world.say(2, 4);
  world.add(2);
  world.add(2, {kOne});
  world.add(2, {kOne, kTwo});
  CHECK(world.forwards() == Goes{{1, 1}, {2, 2}});
}

TEST_CASE("those that can be offered to no home any more leave the others their turn") {
  Full world;
  world.say(2, 0);
  for (std::uint32_t i = 0; i < kForwardsPerCall + 4; ++i) world.add(1, {kOne});
  world.add(1);
  CHECK(world.forwards() == Goes{{kForwardsPerCall + 5, 1}});
}

TEST_CASE("nor is a job that this partition cannot hold offered twice") {
  Full world;
  world.add(8, {kOne});
  world.add(8, {kOne, kTwo});
  world.add(8);
  CHECK(world.forwards() == Goes{{1, 2}, {3, 1}});
}

TEST_CASE("of two jobs alike that ask for CPUs one may go where the other was refused") {
  Full world;
  world.say(2, 0);
  world.add(1, {kOne}).cpus_per_worker = 2;
  world.add(1).cpus_per_worker = 2;
  CHECK(world.forwards() == Goes{{2, 1}});
}

TEST_CASE("the last job that may still go there is given to a much shorter queue") {
  Full world;
  world.say(1, 0);
  world.say(2, 0, 64);
  for (int i = 0; i < 8; ++i) world.add(1);
  world.add(1, {kOne});
  CHECK(world.forwards() == Goes{{8, 1}});
}

TEST_CASE("a new job that the emptiest partition was offered goes to the next") {
  Full world("load-balance");
  world.say(2, 4);
  world.add(1, {kOne});
  CHECK(world.forwards() == Goes{{1, 2}});
}

TEST_CASE("a job that asks for a GPU type goes where such GPUs are free, at once") {
  Full world("fifo:queue=skip", {{2, "V100"}, {3, "P100"}});
  world.say(1, 6);
  world.say(2, 2);
  world.add(2).gpu_types = {"P100"};
  world.add(8).gpu_types = {"P100"};  // two servers of them
  world.add(2).gpu_types = {"V100"};
  world.add(8).gpu_types = {"V100"};
  CHECK(world.forwards() == Goes{{1, 2}, {2, 2}, {3, 1}, {4, 1}});
}

TEST_CASE("nor does it go where there are none, however much is free") {
  Full world("fifo:queue=skip", {{4, "V100"}, {1, "P100"}});
  world.add(1).gpu_types = {"P100"};
  CHECK(world.forwards().empty());
}

TEST_CASE("a gang that no partition has GPUs enough of its type for asks for that type") {
  Full world("fifo:queue=skip", {{4, "V100"}, {1, "P100"}});
  world.add(12).gpu_types = {"V100", "P100"};
  std::vector<Spread> spreads;
  CHECK(world.forwards(&spreads).empty());
  REQUIRE(spreads.size() == 1);
  CHECK(spreads.front().local.empty());
  CHECK(spreads.front().type == world.topology.server(ServerId{0}).gpu_type);
}

}  // namespace
}  // namespace starling
