// SPDX-License-Identifier: Apache-2.0
// Cost of a frame: to bytes and back, and through the whole driver loop.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "bus/wire/codec.h"
#include "bus/wire/node.h"
#include "bus/wire/test_inbox.h"

namespace starling {
namespace {

Placement consecutive(std::uint32_t count) {
  Placement gpus;
  for (std::uint32_t i = 0; i < count; ++i) gpus.push_back(GpuId{i});
  return gpus;
}

Message sample(int what) {
  const AttemptId attempt{{1, 2}, Epoch{1}, 1};
  const Fence fence{PartitionId{1}, Epoch{1}};
  switch (what) {
    case 0:
      return Ping{7};
    case 1:
      return Reserve{attempt, fence, consecutive(8), 5000};
    case 2:
      return Digest{fence, 9, 256, 100, 8, 10, 3, 24};
    default: {
      JobSpec spec;
      spec.id = attempt.job;
      spec.name = "bert-large";
      spec.user = "ann";
      spec.model = "bert";
      spec.workers = 4, spec.gpus_per_worker = 8;
      spec.gpu_types = {"V100", "A100"};
      spec.command = {"python3", "train.py", "--epochs", "3"};
      return Launch{attempt, fence, spec, {{PartitionId{1}, consecutive(32)}}, consecutive(8), {}};
    }
  }
}
const char* const kNames[] = {"Ping", "Reserve of 8 GPUs", "Digest", "Launch of 32 GPUs"};

void encode(benchmark::State& state) {
  Codec codec;
  const Message message = sample(static_cast<int>(state.range(0)));
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto frame = codec.encode({1, Incarnation{1}, 1}, message);
    benchmark::DoNotOptimize(frame.data());
    bytes = frame.size();
  }
  state.SetLabel(std::string(kNames[state.range(0)]) + ", " + std::to_string(bytes) + " bytes");
}
BENCHMARK(encode)->DenseRange(0, 3);

void decode(benchmark::State& state) {
  Codec codec;
  const auto frame = codec.encode({1, Incarnation{1}, 1}, sample(static_cast<int>(state.range(0))));
  const std::vector<std::byte> bytes(frame.begin(), frame.end());
  for (auto _ : state) {
    const Result<Frame> got = codec.decode(bytes);
    if (!got.ok()) std::abort();
    benchmark::DoNotOptimize(got);
  }
  state.SetLabel(kNames[state.range(0)]);
}
BENCHMARK(decode)->DenseRange(0, 3);

/// Two nodes in one thread that answer each other's pings.
struct Wire : testing::Inbox {
  bool send(NodeId, std::span<const std::byte> frame) override {
    other->waiting.push_back({me, {frame.begin(), frame.end()}});
    return true;
  }
  NodeId me;
  Wire* other = nullptr;
};

class PingNode : public Node {
 public:
  PingNode(NodeId me, Endpoint& endpoint)
      : Node(me, Incarnation{1}, Limits{}, endpoint, nullptr, {}) {}
  Instant next_deadline() const noexcept override { return kNever; }

 private:
  void receive(Instant, Received r) override {
    out_.send.push_back({r.from, Ping{std::get<Ping>(r.message).sequence + 1}});
  }
  void tick_core(Instant) override {}
};

void loop(benchmark::State& state) {
  Wire a, b;
  a.me = agent_node(AgentId{0}), b.me = agent_node(AgentId{1});
  a.other = &b, b.other = &a;
  PingNode first(a.me, a), second(b.me, b);
  Codec codec;
  b.send(a.me, codec.encode({1, Incarnation{1}, 1}, Ping{1}));
  for (auto _ : state) {
    if (!first.pump(Instant{}).ok() || !second.pump(Instant{}).ok()) std::abort();
  }
  if (first.counters().frames_in < static_cast<std::uint64_t>(state.iterations())) std::abort();
  state.SetItemsProcessed(2 * static_cast<std::int64_t>(state.iterations()));
  state.SetLabel("two frames: receive, decode, step, encode, send");
}
BENCHMARK(loop);

}  // namespace
}  // namespace starling
