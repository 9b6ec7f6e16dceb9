// A journal of another data centre is a clear error, never an abort, and never silence.
#include "agents/check_journal.h"

#include <doctest/doctest.h>

#include "agents/executor_state.h"
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

Launch launch_on(std::uint32_t gpu) {
  Launch launch;
  launch.attempt = kAttempt;
  launch.here = {GpuId{gpu}};
  launch.gang = {{PartitionId{0}, launch.here}};
  return launch;
}

TEST_CASE("an executor's journal of a larger host: an error with the GPU, and no abort") {
  const Topology topology = make(1);
  ExecutorConfig config;
  config.servers = {0, 1};
  const std::vector<Record> fits = {ProcessLaunching{launch_on(3)}};
  const std::vector<Record> other = {ProcessLaunching{launch_on(6)}};
  const std::vector<Record> over = {ProcessLaunching{launch_on(6)}, ProcessForgotten{kAttempt}};
  CHECK(check_journal(config, topology, fits).ok());
  CHECK(check_journal(config, topology, over).ok());
  const Status wrong = check_journal(config, topology, other);
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().code == Errc::invalid);
  CHECK(wrong.error().message.find("GPU 6") != std::string::npos);
  Executor executor(config, topology, other);
  CHECK(executor.running().empty());
  config.servers = {0, 2};
  CHECK_FALSE(check_journal(config, topology, fits).ok());
}

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
