// SPDX-License-Identifier: Apache-2.0
// Round trips and one-way rate between two processes' worth of sockets in one process, with and
// without encryption. Both ends run in one thread: it is the transport that is measured, not the
// scheduler.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "bus/test_flock.h"

namespace starling {
namespace {

const NodeId kA = agent_node(AgentId{0});
const NodeId kB = agent_node(AgentId{1});

struct Pair {
  explicit Pair(bool with_keys) : world(with_keys) {
    world.add(kA), world.add(kB);
    a = world.open(kA), b = world.open(kB);
    while (!a->send(kB, frame) || !world.await(*b)) {
    }
    while (!b->send(kA, frame) || !world.await(*a)) {
    }
  }
  std::vector<std::byte> frame = std::vector<std::byte>(200);
  testing::SocketFlock world;
  std::unique_ptr<ZmqEndpoint> a, b;
};

void round_trip(benchmark::State& state) {
  Pair p(state.range(0) != 0);
  for (auto _ : state) {
    if (!p.a->send(kB, p.frame) || !p.world.await(*p.b, 1000)) std::abort();
    if (!p.b->send(kA, p.frame) || !p.world.await(*p.a, 1000)) std::abort();
  }
  state.SetLabel(state.range(0) != 0 ? "ipc, CURVE" : "ipc");
}
BENCHMARK(round_trip)->Arg(0)->Arg(1)->UseRealTime();

void one_way(benchmark::State& state) {
  Pair p(state.range(0) != 0);
  constexpr int kBurst = 1000;
  for (auto _ : state) {
    for (int i = 0; i < kBurst; ++i) {
      if (!p.a->send(kB, p.frame)) std::abort();
    }
    for (int i = 0; i < kBurst; ++i) {
      if (!p.world.await(*p.b, 1000)) std::abort();
    }
  }
  state.SetItemsProcessed(kBurst * static_cast<std::int64_t>(state.iterations()));
  state.SetLabel(state.range(0) != 0 ? "ipc, CURVE, 200 bytes" : "ipc, 200 bytes");
}
BENCHMARK(one_way)->Arg(0)->Arg(1)->UseRealTime();

}  // namespace
}  // namespace starling
