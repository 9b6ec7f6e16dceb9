// SPDX-License-Identifier: Apache-2.0
// A journal of another data centre is a clear error, never an abort, and never silence.
#include "agents/check_journal.h"

#include <doctest/doctest.h>

#include "topology/generate/generate.h"
#include "topology/partition.h"

namespace starling {
namespace {

Topology make(std::uint32_t servers) {
  return generate_flat({.servers = servers, .gpus_per_server = 4}).value();
}

const AttemptId kAttempt{JobId{0, 1}, Epoch{1}, 1};

TEST_CASE("an agent's journal of another cut into partitions: an error with the partition") {
  const Topology topology = make(4);
  AgentConfig config;
  const std::vector<Partition> parts = partition(topology, 2).value();
  for (const Partition& part : parts) {
    config.flock.push_back({AgentId{part.id.value}, part});
  }
  config.executors = {{executor_node(0), parts[0].servers}};
  const auto starting = [](std::uint32_t in, std::uint32_t gpu) {
    return Record{AttemptStarting{kAttempt, {{PartitionId{in}, {GpuId{gpu}}}}}};
  };
  CHECK(check_journal(config, std::vector<Record>{starting(0, 7)}).ok());
  CHECK_FALSE(check_journal(config, std::vector<Record>{starting(0, 8)}).ok());
  CHECK_FALSE(check_journal(config, std::vector<Record>{starting(3, 1)}).ok());
  CHECK(check_journal(config, std::vector<Record>{starting(3, 1), AttemptOver{kAttempt, {}}}).ok());
}

/// Agent `me` of `agents` on a data centre of `servers`, whose executors serve `served` each.
AgentConfig config_on(std::uint32_t servers, std::uint32_t agents, std::uint32_t me,
                      const std::vector<IndexRange>& served) {
  AgentConfig config;
  config.me = AgentId{me};
  const Topology topology = make(servers);
  const std::vector<Partition> parts = partition(topology, agents).value();
  for (const Partition& part : parts) config.flock.push_back({AgentId{part.id.value}, part});
  for (std::uint32_t i = 0; i < served.size(); ++i)
    config.executors.push_back({executor_node(i), served[i]});
  return config;
}

TEST_CASE("a data centre with fewer or more servers than executors serve: an error, no abort") {
  const std::vector<IndexRange> four = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  CHECK(check_journal(config_on(4, 1, 0, four), {}).ok());
  for (std::uint32_t servers = 1; servers <= 8; ++servers) {
    CAPTURE(servers);
    const Status found = check_journal(config_on(servers, 1, 0, four), {});
    CHECK(found.ok() == (servers == 4));
    if (!found.ok()) CHECK(found.error().message.find("topology") != std::string::npos);
  }
  // Two agents: the border between them moves.
  CHECK(check_journal(config_on(4, 2, 1, {{2, 3}, {3, 4}}), {}).ok());
  CHECK_FALSE(check_journal(config_on(3, 2, 1, {{2, 3}, {3, 4}}), {}).ok());
  CHECK_FALSE(check_journal(config_on(6, 2, 1, {{2, 3}, {3, 4}}), {}).ok());
}

TEST_CASE("executors that cannot be, and an agent that is not there: an error, no abort") {
  for (const std::vector<IndexRange>& served : std::vector<std::vector<IndexRange>>{
           {}, {{0, 0}, {0, 4}}, {{0, 2}}, {{0, 2}, {1, 4}}, {{2, 4}, {0, 2}}, {{0, 5}}, {{4, 0}}})
    CHECK_FALSE(check_journal(config_on(4, 1, 0, served), {}).ok());
  CHECK_FALSE(check_journal(config_on(4, 2, 7, {{0, 4}}), {}).ok());
}

TEST_CASE("a portion of an agent that is not there: an error, for it may use that") {
  const AgentConfig config = config_on(4, 2, 0, {{0, 2}});
  const auto portion = [](std::uint32_t home) {
    return QuotaPortions{AgentId{home}, {Incarnation{1}, 1}, 1, {{{"a", ""}, 4}}};
  };
  CHECK(check_journal(config, std::vector<Record>{portion(0), portion(1)}).ok());
  const Status found = check_journal(config, std::vector<Record>{portion(0), portion(2)});
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().message ==
        "the journal was written for another flock: agent 2 has a portion of its queues, and there "
        "are 2; start with as many agents as it was written with");
}

TEST_CASE("a job that is offered to an agent that is not there: an error, until it is over") {
  const AgentConfig config = config_on(4, 2, 0, {{0, 2}});
  const JobId job{0, 1};
  CHECK(check_journal(config, std::vector<Record>{JobOffered{job, AgentId{1}}}).ok());
  CHECK_FALSE(check_journal(config, std::vector<Record>{JobOffered{job, AgentId{2}}}).ok());
  CHECK(check_journal(config, std::vector<Record>{JobOffered{job, AgentId{2}}, JobEnded{job, {}}})
            .ok());
}

}  // namespace
}  // namespace starling
