// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/chaos_demo.h"

#include <chrono>
#include <optional>

namespace starling {
namespace {

constexpr Duration kPollEvery = std::chrono::milliseconds(50);
constexpr std::uint64_t kUnknownAttempt = 999'999;

std::optional<std::uint32_t> one_that_is_down(const World& world) {
  for (std::uint32_t e = 0; e < world.executors(); ++e) {
    if (world.executor(e) == nullptr) return e;
  }
  return std::nullopt;
}

void look(World& world) {
  const auto down = one_that_is_down(world);
  if (!down || world.hardware().jobs().empty()) {
    world.at(later(world.now(), kPollEvery), look);
    return;
  }
  const Topology& topology = world.topology();
  LaunchSpec spec;
  spec.attempt = {world.hardware().jobs().front().id, Epoch{1}, kUnknownAttempt};
  spec.server = ServerId{*down * topology.server_count() / world.executors()};
  spec.gpus = {GpuId{topology.servers()[spec.server.value].gpus.first}};
  spec.gang = {{PartitionId{0}, spec.gpus}};
  (void)world.hardware().start(*down, spec);
}

}  // namespace

void plant_demo(World& world) { world.at(later(world.now(), kPollEvery), look); }

}  // namespace starling
