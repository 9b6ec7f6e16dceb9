// SPDX-License-Identifier: Apache-2.0
// Journals go over to new numbers once, whole, and whenever they are found in old ones.
#include "launch/servers/own_numbers.h"

#include "bus/flock.h"
#include "launch/servers/generations.h"
#include "launch/servers/test_numbers.h"
#include "launch/system/files.h"

namespace starling {
namespace {

TEST_CASE("what runs goes over with other numbers, once") {
  const Rig rig("n, a, b, c");
  rig.write("agent-0", rig.of_agent(3));
  rig.write("executor-1", rig.of_executor(3));
  REQUIRE(rig.go_over().ok());
  const Deployment now = read_deployment(rig.before.dir).value();
  CHECK(now.generation == 2);
  for (const char* name : {"agent-0", "executor-1"}) {
    CAPTURE(name);
    const DeployedNode& me = *now.find(name);
    const std::filesystem::path file = now.node_dir(name) / "state" / "journal.db";
    for (int life = 0; life < 3; ++life) {
      auto journal = SqliteJournal::open(file).value();
      std::vector<Record> records = journal->recover().value();
      REQUIRE(renumber_journal(me, now, rig.after, *journal, records).ok());
      CHECK(all<TopologyRead>(records).back().fingerprint == fingerprint_in(now, rig.after));
      CHECK(all<LifeBegan>(records).back().incarnation == Incarnation{3});
      const Placement moved{GpuId{5}};
      if (me.role == Role::agent) {
        CHECK(all<AttemptStarting>(records).at(0).gang.at(0).gpus == moved);
        CHECK(all<ShareCommitted>(records).at(0).commit.gang.at(0).gpus == moved);
        CHECK(all<ShareLaunched>(records).size() == 1);
      } else {
        CHECK(all<ProcessLaunching>(records).at(0).launch.here == moved);
      }
    }
  }
}

TEST_CASE("nothing changes while something runs on a server that leaves") {
  for (const char* node : {"agent-0", "executor-0"}) {
    CAPTURE(node);
    const Rig rig("b, c");
    const bool agent = std::string(node) == "agent-0";
    rig.write(node, agent ? rig.of_agent(1) : rig.of_executor(1));
    const Status taken = rig.go_over();
    REQUIRE_FALSE(taken.ok());
    CHECK(taken.error().code == Errc::busy);
    CHECK(taken.error().message.find("still uses server 'a'") != std::string::npos);
    CHECK(why_servers_were_refused(rig.before.dir).error().code == Errc::busy);
    CHECK_FALSE(servers_are_asked_for(rig.before.dir));
    CHECK(read_deployment(rig.before.dir).value().generation == 1);
    // Once it is over.
    if (!agent) {
      rig.write(node, {ProcessForgotten{kAttempt}});
      CHECK(rig.go_over().ok());
    }
  }
}

TEST_CASE("archived jobs get the new numbers, also when the first try was interrupted") {
  const Rig rig("n, a, b, c");
  JobEnded ended{JobId{0, 9}, {}};
  ended.state.job = ended.job;
  ended.state.phase = JobPhase::finished;
  ended.state.placement = {GpuId{2}, GpuId{3}};
  const std::filesystem::path file = rig.before.node_dir("agent-0") / "state" / "journal.db";
  rig.write("agent-0", {LifeBegan{Incarnation{1}, Epoch{1}},
                        JobsArchived{4, 10, Duration{-1}, {ended.job}, {}}});
  {
    auto journal = SqliteJournal::open(file).value();
    REQUIRE(journal->recover().ok());
    REQUIRE(journal->archive(4, std::vector<Record>{ended}).ok());
    // Of a life that ended before its journal named it.
    REQUIRE(journal->archive(5, std::vector<Record>{}).ok());
  }
  REQUIRE(rig.go_over().ok());
  const Deployment now = read_deployment(rig.before.dir).value();
  for (int life = 0; life < 2; ++life) {
    auto journal = SqliteJournal::open(file).value();
    std::vector<Record> records = journal->recover().value();
    REQUIRE(renumber_journal(*now.find("agent-0"), now, rig.after, *journal, records).ok());
    const auto chunks = all<JobsArchived>(records);
    REQUIRE(chunks.size() == 1);
    CHECK(chunks[0].jobs == std::vector<JobId>{ended.job});
    const auto states = journal->archived(chunks[0].chunk).value();
    REQUIRE(states.size() == 1);
    CHECK(std::get<JobEnded>(states[0]).state.placement == Placement{GpuId{4}, GpuId{5}});
    CHECK_FALSE(journal->archived(4).ok());
  }
}

TEST_CASE(
    "a journal that begins in a later generation says so; the next change takes it from there") {
  const Rig rig("n, a, b, c");
  REQUIRE(rig.go_over().ok());
  const Deployment now = read_deployment(rig.before.dir).value();
  const std::filesystem::path dir = now.node_dir("agent-0") / "state";
  {
    const auto state = StateDir::take(dir).value();
    auto journal = SqliteJournal::open(dir / "journal.db").value();
    std::vector<Record> records = journal->recover().value();
    REQUIRE(renumber_journal(*now.find("agent-0"), now, rig.after, *journal, records).ok());
    REQUIRE(journal->append(rig.of_agent(5)).ok());
    records = journal->recover().value();
    REQUIRE(renumber_journal(*now.find("agent-0"), now, rig.after, *journal, records).ok());
    CHECK(all<AttemptStarting>(records).at(0).gang.at(0).gpus == Placement{GpuId{5}});
  }
  const auto third = plan_servers(now, rig.after, of("a, b, c"), 1, 4).value();
  REQUIRE(prepare_servers(now, third, of("a, b, c")).ok());
  REQUIRE(ask_for_servers(third.flock).ok());
  REQUIRE(take_servers(now.dir).ok());
  const Deployment later = read_deployment(now.dir).value();
  auto journal = SqliteJournal::open(dir / "journal.db").value();
  std::vector<Record> records = journal->recover().value();
  REQUIRE(renumber_journal(*later.find("agent-0"), later, of("a, b, c"), *journal, records).ok());
  CHECK(all<AttemptStarting>(records).at(0).gang.at(0).gpus == Placement{GpuId{3}});
}

TEST_CASE("a server with less memory than before is in use again after its change, each time") {
  const auto with = [](const std::string& memory) {
    return parse_topology_yaml(
               "name: t\nserver_templates: {x: {gpus: 2, gpu_type: V100, memory_gib: " + memory +
                   "}}\nracks:\n  - {name: r, servers: [{template: x, names: [a, b, c]}]}\n",
               "t.yaml")
        .value();
  };
  const Rig rig("a, b, c, n");
  rig.write("agent-0", {LifeBegan{Incarnation{1}, Epoch{1}}});
  REQUIRE(rig.go_over().ok());
  Topology topology = rig.after;
  for (const std::uint32_t generation : {2U, 3U, 4U}) {
    CAPTURE(generation);
    const Deployment now = read_deployment(rig.before.dir).value();
    REQUIRE(now.generation == generation);
    const std::filesystem::path dir = now.node_dir("agent-0") / "state";
    {
      const auto state = StateDir::take(dir).value();
      auto journal = SqliteJournal::open(dir / "journal.db").value();
      std::vector<Record> records = journal->recover().value();
      REQUIRE(renumber_journal(*now.find("agent-0"), now, topology, *journal, records).ok());
      CHECK(all<ServerDrained>(records).empty());
      REQUIRE(journal->append(std::vector<Record>{ServerDrained{ServerId{0}, true}}).ok());
    }
    if (generation == 4) break;
    const Topology next = with(generation == 2 ? "64" : "32");
    const auto smaller = plan_servers(now, topology, next, 1, 4).value();
    REQUIRE(prepare_servers(now, smaller, next).ok());
    REQUIRE(ask_for_servers(smaller.flock).ok());
    REQUIRE(take_servers(now.dir).ok());
    topology = next;
  }
}

TEST_CASE(
    "an earlier description that is put back finds journals in numbers that it does not know") {
  const Rig rig("n, a, b, c");
  rig.write("agent-0", rig.of_agent(3));
  REQUIRE(rig.go_over().ok());
  const Deployment now = read_deployment(rig.before.dir).value();
  auto journal = SqliteJournal::open(now.node_dir("agent-0") / "state" / "journal.db").value();
  std::vector<Record> records = journal->recover().value();
  REQUIRE(renumber_journal(*now.find("agent-0"), now, rig.after, *journal, records).ok());
  const Status refused =
      renumber_journal(*rig.before.find("agent-0"), rig.before, of("a, b, c"), *journal, records);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::invalid);
  CHECK(refused.error().message.find("put back the newer deployment.json") != std::string::npos);
}

TEST_CASE("an agent that joins is let in before, one that leaves no longer after") {
  const Rig rig("n, b, c");
  const auto members = [&] { return read_flock(rig.before.dir / "flock.json").value(); };
  const std::size_t at_first = members().size();
  REQUIRE(rig.go_over().ok());
  CHECK(members().size() == at_first + 1);
  CHECK(members().contains(executor_node(3)));
  CHECK(std::filesystem::exists(rig.before.node_dir("executor-3") / "keys.json"));
  const Deployment now = read_deployment(rig.before.dir).value();
  for (int again = 0; again < 2; ++again) {
    REQUIRE(tidy_servers(now).ok());
    CHECK(members().size() == at_first);
    CHECK_FALSE(members().contains(executor_node(0)));
  }
}

TEST_CASE("names of files stay with the server") {
  const auto label = [](const std::vector<ServerLabel>& all, std::uint32_t server) {
    const ServerLabel& l = all.at(server);
    return l.server + " " + l.gpus + std::to_string(l.first_gpu);
  };
  const std::vector<Generation> one{{Deployment{}, of("a, b, c"), 1}};
  const auto labels = server_labels(one, of("n, b, c"));
  CHECK(label(labels, 0) == "g2-0 g2-0");
  CHECK(label(labels, 1) == "1 2");
  CHECK(label(labels, 2) == "2 4");
  const std::vector<Generation> two{one[0], {Deployment{}, of("n, b, c"), 2}};
  const auto later = server_labels(two, of("x, n, c, a"));
  CHECK(label(later, 0) == "g3-0 g3-0");
  CHECK(label(later, 1) == "g2-0 g2-0");
  CHECK(label(later, 2) == "2 4");
  CHECK(label(later, 3) == "0 0");
  CHECK(server_labels({}, of("a, b")).at(1).server == "1");
}

}  // namespace
}  // namespace starling
