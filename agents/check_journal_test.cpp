// A journal of another data centre is a clear error, never an abort, and never silence.
#include "agents/check_journal.h"

#include <doctest/doctest.h>

#include "topology/generate.h"
#include "topology/partition.h"

namespace starling {
namespace {

Topology make(std::uint32_t servers) {
  GeneratorOptions options;
  options.servers = servers;
  options.gpus_per_server = 4;
  return generate_flat(options).value();
}

const AttemptId kAttempt{JobId{0, 1}, Epoch{1}, 1};

TEST_CASE("an agent's journal of another cut into partitions: an error with the partition") {
  const Topology topology = make(4);
  AgentConfig config;
  const std::vector<Partition> parts = partition(topology, 2).value();
  for (const Partition& part : parts) {
    config.flock.push_back({AgentId{part.id.value}, part});
  }
  const auto starting = [](std::uint32_t in, std::uint32_t gpu) {
    return Record{AttemptStarting{kAttempt, {{PartitionId{in}, {GpuId{gpu}}}}}};
  };
  CHECK(check_journal(config, std::vector<Record>{starting(0, 7)}).ok());
  CHECK_FALSE(check_journal(config, std::vector<Record>{starting(0, 8)}).ok());
  CHECK_FALSE(check_journal(config, std::vector<Record>{starting(3, 1)}).ok());
  CHECK(check_journal(config, std::vector<Record>{starting(3, 1), AttemptOver{kAttempt, {}}}).ok());
}

}  // namespace
}  // namespace starling
