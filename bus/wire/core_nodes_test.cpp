// SPDX-License-Identifier: Apache-2.0
// The loop around the real executor and client cores; frames pass by hand.

#include <doctest/doctest.h>

#include <utility>

#include "bus/wire/node.h"
#include "bus/wire/test_inbox.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

const NodeId kOwner = agent_node(AgentId{0});

struct QueueEndpoint : testing::Inbox {
  bool send(NodeId to, std::span<const std::byte> frame) override {
    sent.push_back({to, codec.decode(frame).value().message});
    return true;
  }
  void arrive(const Message& m) {
    const auto bytes =
        codec.encode({protocol_of(Message(m).index()), Incarnation{1}, ++sequence}, m);
    waiting.push_back({kOwner, {bytes.begin(), bytes.end()}});
  }
  template <class M>
  const M* said() const {
    for (const Send& s : sent) {
      if (const auto* m = std::get_if<M>(&s.message)) return m;
    }
    return nullptr;
  }

  std::uint64_t sequence = 0;
  Codec codec;
  std::vector<Send> sent;
};

struct ListJournal : Journal {
  Status append(std::span<const Record> records) override {
    all.insert(all.end(), records.begin(), records.end());
    return done();
  }
  Result<std::vector<Record>> recover() override { return all; }
  Status compact(std::span<const Record> records) override {
    all.assign(records.begin(), records.end());
    return done();
  }
  std::vector<Record> all;
};

struct FakeLauncher : Launcher {
  Status start(const LaunchSpec& spec) override {
    started.push_back(spec.attempt);
    return broken ? Status(Errc::io, "no such program") : done();
  }
  void stop(AttemptId attempt, Duration) override { stopped.push_back(attempt); }
  void renew(AttemptId, Instant) override {}
  std::vector<Exit> reap() override { return std::exchange(ended, {}); }
  std::optional<SickGpus> health_news() override { return std::exchange(news, std::nullopt); }

  OutputPage read_output(const ReadOutput& read) const override {
    OutputPage page = page_for(read);
    page.bytes = "said by " + to_string(read.attempt.job);
    return page;
  }

  bool broken = false;
  std::vector<AttemptId> started, stopped;
  std::vector<Exit> ended;
  std::optional<SickGpus> news;
};

struct ExecutorFixture {
  ExecutorFixture() {
    GeneratorOptions options;
    options.servers = 1;
    options.gpus_per_server = 4;
    topology.emplace(generate_flat(options).value());
    ExecutorConfig config;
    config.me = executor_node(0);
    config.servers = {0, 1};
    node.emplace(Executor(config, *topology, {}), endpoint, journal, launcher);
    endpoint.arrive(Welcome{{PartitionId{0}, Epoch{1}}});
    cycle(0s);
  }
  void cycle(Duration at) {
    endpoint.sent.clear();
    REQUIRE(node->pump(Instant{at}).ok());
  }
  Launch launch() const {
    Launch m;
    m.attempt = {JobId{0, 1}, Epoch{1}, 1};
    m.spec.id = m.attempt.job;
    m.fence = {PartitionId{0}, Epoch{1}};
    m.here = {GpuId{0}};
    m.gang = {{PartitionId{0}, m.here}};
    return m;
  }

  std::optional<Topology> topology;
  QueueEndpoint endpoint;
  ListJournal journal;
  FakeLauncher launcher;
  std::optional<ExecutorNode> node;
};

TEST_CASE_FIXTURE(ExecutorFixture,
                  "an executor launches what its owner says and tells how it ended") {
  endpoint.arrive(launch());
  cycle(1s);
  REQUIRE(launcher.started.size() == 1);
  CHECK_FALSE(journal.all.empty());
  REQUIRE(endpoint.said<LaunchResult>() != nullptr);
  CHECK(endpoint.said<LaunchResult>()->ok);

  launcher.ended.push_back({launch().attempt, ServerId{0}, {3, false, "bye"}, 5s});
  cycle(2s);
  REQUIRE(endpoint.said<Exited>() != nullptr);
  CHECK(endpoint.said<Exited>()->exit.code == 3);
  CHECK(endpoint.said<Exited>()->served == 5s);
}

TEST_CASE_FIXTURE(ExecutorFixture,
                  "an end is told before GPUs that must not be used from then on") {
  endpoint.arrive(launch());
  cycle(1s);
  launcher.ended.push_back({launch().attempt, ServerId{0}, {0, false, ""}, 5s});
  launcher.news = SickGpus{{}, {GpuId{0}}};
  cycle(2s);
  const auto at = [&](const char* name) {
    return std::find_if(endpoint.sent.begin(), endpoint.sent.end(), [name](const Send& send) {
      return std::string_view(name_of(send.message)) == name;
    });
  };
  REQUIRE(at("Exited") != endpoint.sent.end());
  REQUIRE(at("GpuHealth") != endpoint.sent.end());
  CHECK(at("Exited") < at("GpuHealth"));
}

TEST_CASE_FIXTURE(ExecutorFixture, "a process that cannot start has ended with code 127") {
  launcher.broken = true;
  endpoint.arrive(launch());
  cycle(1s);
  REQUIRE(launcher.started.size() == 1);
  CHECK(node->next_deadline() <= Instant{1s});  // due at once
  cycle(1s);
  REQUIRE(endpoint.said<Exited>() != nullptr);
  CHECK(endpoint.said<Exited>()->exit.code == 127);
  CHECK(endpoint.said<Exited>()->exit.log_tail == "no such program");
}

TEST_CASE_FIXTURE(ExecutorFixture, "an executor gives what was printed to its owner alone") {
  const ReadOutput read{launch().attempt, ServerId{0}, client_node(3), 7, 8, 0};
  endpoint.arrive(read);
  cycle(1s);
  const auto* page = endpoint.said<OutputPage>();
  REQUIRE(page != nullptr);
  CHECK(endpoint.sent.front().to == kOwner);
  CHECK(page->client == client_node(3));
  CHECK(page->asked_file == 7);
  CHECK(page->asked_offset == 8);
  CHECK(page->bytes == "said by " + to_string(launch().attempt.job));
  // Many at once are not all answered: who waits asks again.
  for (int i = 0; i < 100; ++i) endpoint.arrive(read);
  cycle(2s);
  CHECK(endpoint.sent.size() <= ExecutorOutput::kMostReads + 2);
}

TEST_CASE("a client submits through its node and hears the answer") {
  QueueEndpoint endpoint;
  ClientConfig config;
  config.me = client_node(0);
  config.agents = {AgentId{0}};
  ClientNode node(Client(config, Rng(1)), Incarnation{1}, Limits{}, endpoint);
  JobSpec spec;
  spec.id = {0, 7};
  node.core().submit(Instant{1s}, spec, AgentId{0});
  CHECK(node.next_deadline() == Instant{1s});
  REQUIRE(node.pump(Instant{1s}).ok());
  REQUIRE(endpoint.said<Submit>() != nullptr);
  CHECK(endpoint.said<Submit>()->spec.id == spec.id);
  CHECK(endpoint.said<Submit>()->client == client_node(0));

  endpoint.arrive(Accepted{spec.id, AgentId{0}});
  REQUIRE(node.pump(Instant{1s}).ok());
  CHECK(node.core().counts().accepted == 1);
}

}  // namespace
}  // namespace starling
