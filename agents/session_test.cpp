// What a peer says of itself: who is let in, and which word is the newest.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "agents/agent.h"
#include "agents/state.h"
#include "interference/models.h"
#include "policies/registry.h"
#include "topology/generate.h"
#include "topology/partition.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Topology two_servers() {
  GeneratorOptions flat;
  flat.servers = 2;
  flat.gpus_per_server = 4;
  return generate_flat(flat).value();
}

/// Agent 0 of two, at epoch 3, with one executor.
struct Bench {
  Topology topology = two_servers();
  std::unique_ptr<SpeedModel> speed = make_flat_speed();
  AgentConfig config;
  std::unique_ptr<Agent> agent;
  Output out;

  Bench() {
    const std::vector<Partition> parts = partition(topology, 2).value();
    for (const Partition& part : parts) config.flock.push_back({AgentId{part.id.value}, part});
    config.epoch = Epoch{3};
    config.executors = {{executor_node(0), parts[0].servers}};
    agent = std::make_unique<Agent>(config, topology, *speed,
                                    make_policy_registry().make("fifo").value(), Rng(1),
                                    std::span<const Record>());
    agent->step(Instant{1s}, Tick{}, out);
  }
  void hear(NodeId from, const Message& message) {
    out.clear();
    agent->step(Instant{2s}, Received{from, message}, out);
  }
  template <class M>
  [[nodiscard]] std::ptrdiff_t said() const {
    return std::count_if(out.send.begin(), out.send.end(), [](const Send& send) {
      return std::holds_alternative<M>(send.message);
    });
  }
};

TEST_CASE("a node of another protocol gets a Goodbye and no Welcome") {
  Bench bench;
  bench.hear(executor_node(0), Hello{Role::executor, 8, 9, {}});
  CHECK(bench.said<Goodbye>() == 1);
  CHECK(bench.said<Welcome>() == 0);
  bench.hear(executor_node(0), Hello{Role::executor, 1, 9, {}});
  CHECK(bench.said<Welcome>() == 1);
}

TEST_CASE("an overtaken digest changes nothing") {
  Bench bench;
  const auto tell = [&](std::uint64_t version, std::uint32_t free) {
    Digest digest;
    digest.fence = {PartitionId{1}, Epoch{1}};
    digest.version = version;
    digest.gpus = 4;
    digest.free = free;
    bench.hear(agent_node(AgentId{1}), digest);
    return bench.agent->state().peers[1].digest->free;
  };
  CHECK(tell(5, 3) == 3);
  CHECK(tell(4, 1) == 3);
  CHECK(tell(6, 2) == 2);
}

TEST_CASE("an inventory that an earlier owner asked for is not believed") {
  Bench bench;
  bench.hear(executor_node(0), Inventory{{PartitionId{0}, Epoch{2}}, {}});
  CHECK(bench.agent->state().reconciling());
  CHECK(bench.agent->state().ledger.free_count() == 0);
  bench.hear(executor_node(0), Inventory{{PartitionId{0}, Epoch{3}}, {}});
  CHECK_FALSE(bench.agent->state().reconciling());
}

}  // namespace
}  // namespace starling
