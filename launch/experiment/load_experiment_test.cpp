// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/load_experiment.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/rng.h"
#include "base/test_folder.h"
#include "gnn/search/search_policy.h"
#include "gnn/wiring/registry.h"
#include "launch/experiment/prepare.h"
#include "launch/experiment/values.h"

using namespace starling;

namespace {

const std::string kGood = R"(name: small
topologies:
  - {name: a, generate: flat, servers: 4, gpus_per_server: 8}
  - {name: b, generate: flat, servers: "2:V100,2:K80", gpus_per_server: 4, gang_max: 8}
workloads:
  - {name: w1, file: "${DATA}/jobs.csv", origin: 2017-09-04 10:30:41, from: 2017-09-11, length: 7d, jobs: 300}
  - {name: w2, file: "${DATA}/jobs.csv", from: 14d, length: 7d, models: draw}
splits:
  validation: {topologies: [a], workloads: [w1]}
  evaluation: {topologies: [b], workloads: [w2]}
loads: [0.7, as-is]
policies: [fifo, {policy: sjf, label: shortest, durations: {noisy: 0.5}}]
baseline: shortest
agents: [1, 2]
seeds: 3
physics: full
durations: none
)";

Result<Experiment> parse(const std::string& text, const std::string& split = {}) {
  return parse_experiment(text, "dir/x.yaml", make_policy_registry(), {{"DATA", "/data"}}, split);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string mistake(const std::string& from, const std::string& to) {
  const auto read = parse(replaced(kGood, from, to));
  return read ? "none" : read.error().message;
}

bool has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}

}  // namespace

TEST_CASE("a whole experiment is read as it is written") {
  const auto read = parse(kGood);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const Experiment& e = read.value();
  CHECK(e.name == "small");
  CHECK(e.split == "evaluation");
  REQUIRE(e.topologies.size() == 2);
  CHECK(e.topologies[1].options.groups.size() == 2);
  CHECK(e.topologies[1].gang_max == 8);
  CHECK(e.topologies[1].split == "evaluation");
  REQUIRE(e.workloads.size() == 2);
  CHECK(e.workloads[0].file == "/data/jobs.csv");
  CHECK(e.workloads[0].from == from_seconds(7 * 86'400 - (10 * 3600 + 30 * 60 + 41)));
  CHECK(e.workloads[1].from == from_seconds(14 * 86'400));
  CHECK(e.workloads[1].draw_models);
  CHECK(e.loads == std::vector<double>{0.7, 0});
  REQUIRE(e.policies.size() == 2);
  CHECK(e.policies[0].durations.kind == DurationKnowledge::none);
  CHECK(e.policies[1].durations.sigma == 0.5);
  CHECK(text_of(e.policies[1].may) == "place, order");
  CHECK(e.policies[1].lengths == LengthSource::estimates);
  CHECK_FALSE(e.together);
  CHECK(parse(replaced(kGood, "seeds: 3", "seeds: 3\ncompare: together")).value().together);
  CHECK(e.agents == std::vector<std::uint32_t>{1, 2});
  CHECK(e.seeds == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(e.physics == PhysicsKind::full);
  REQUIRE(e.faults.size() == 1);
  CHECK(e.faults[0].name.empty());
  CHECK(e.faults[0].network.delay == NetworkModel::lan().delay);
  CHECK(e.jobs_csv);
}

TEST_CASE("physics and speed may be variables, too") {
  CHECK(has(mistake("physics: full", "physics: ${DATA}"), "physics: '/data' is wrong; give trace"));
  CHECK(has(mistake("physics: full", "physics: full\nspeed: ${MODEL}"), "${MODEL} has no value"));
}

TEST_CASE("another split can be asked for") {
  CHECK(parse(kGood, "validation").value().split == "validation");
  CHECK(has(parse(kGood, "training").error().message, "lacks a topology or a workload"));
  CHECK(has(parse(kGood, "evaluatoin").error().message, "did you mean 'evaluation'?"));
}

TEST_CASE("a mistake is told with its place and what would be right") {
  CHECK(has(mistake("policies: [fifo", "policies: [fifi"), "dir/x.yaml:12:12: "));
  CHECK(has(mistake("policies: [fifo", "policies: [fifi"), "did you mean 'fifo'?"));
  CHECK(has(mistake("baseline: shortest", "baseline: shortes"), "did you mean 'shortest'?"));
  CHECK(has(mistake("physics: full", "phisics: full"), "did you mean 'physics'?"));
  CHECK(has(mistake("generate: flat, servers: 4", "generate: flt, servers: 4"),
            "dir/x.yaml:3:25: no generator 'flt'; did you mean 'flat'?"));
  CHECK(has(mistake("servers: 4,", "servers: four,"), "dir/x.yaml:3:40: servers"));
  CHECK(has(mistake("gang_max: 8", "gang_max: 0"), "gang_max"));
  CHECK(has(mistake("length: 7d, jobs", "length: 7x, jobs"),
            "write e.g. 200ms, 90s, 15m, 36h or 7d"));
  CHECK(has(mistake("from: 2017-09-11", "from: 2017-13-11"), "is no date"));
  CHECK(has(mistake("loads: [0.7", "loads: [0"), "offered loads above 0"));
  CHECK(has(mistake("agents: [1, 2]", "agents: [1, 1]"), "each once"));
  CHECK(has(mistake("durations: none", "durations: maybe"), "write exact, none or noisy: SIGMA"));
  CHECK(has(mistake("name: b,", "name: a,"), "two topologies are called 'a'"));
  CHECK(has(mistake("${DATA}/jobs.csv\", origin", "${NOWHERE_SET}/j.csv\", origin"),
            "${NOWHERE_SET} has no value"));
  CHECK(has(mistake("name: w1, ", "name: w1, generate: gavel, "), "exactly one of"));
  CHECK(has(mistake("loads: [0.7", "loads: {"), "this is not YAML"));
  CHECK(has(parse(kGood + "---\nname: second\n").error().message, "a second document"));
  CHECK(has(parse("").error().message, "an experiment is"));
}

TEST_CASE("faults come on top of the network, each under a name") {
  const auto with = [](const std::string& faults) {
    return parse(replaced(kGood, "physics: full", "physics: full\nfaults: " + faults));
  };
  const auto read = with("[none, {name: lossy, loss: 0.05, reorder: 0.1}, {delay_us: 2000}]");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const auto& faults = read.value().faults;
  REQUIRE(faults.size() == 3);
  CHECK(faults[0].name.empty());
  CHECK(faults[1].name == "lossy");
  CHECK(faults[1].network.loss == 0.05);
  CHECK(faults[1].network.delay == NetworkModel::lan().delay);
  CHECK(faults[2].network.delay == from_seconds(0.002));
  CHECK(with("{loss: 0.01}").value().faults.size() == 1);
  CHECK(has(with("[none, {los: 0.1}]").error().message, "dir/x.yaml:17:17: "));
  CHECK(has(with("[none, {los: 0.1}]").error().message, "did you mean 'loss'?"));
  CHECK(has(with("[{loss: 2}]").error().message, "loss"));
  CHECK(has(with("lossy").error().message, "write none, or a mapping with name and any of"));
  CHECK(has(with("[none, none]").error().message, "two faults are called 'none'"));
  CHECK(has(with("[]").error().message, "empty list"));
}

TEST_CASE("a policy's parameters are a mapping, or stand in its name") {
  const auto with = [](const std::string& policy) {
    return parse(replaced(kGood, "policies: [fifo", "policies: [" + policy + ", fifo"));
  };
  const auto read = with("{policy: fifo, parameters: {queue: skip, fit: server}, label: skipping}");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read.value().policies[0].text == "fifo:queue=skip,fit=server");
  CHECK(with("\"fifo:queue=skip\"").value().policies[0].text == "fifo:queue=skip");
  CHECK(has(with("{policy: fifo, parameters: {queue: slip}, label: x}").error().message,
            "dir/x.yaml:12:"));
  CHECK(has(with("{policy: fifo, parameters: {quue: skip}, label: x}").error().message, "quue"));
  CHECK(
      has(with("{policy: fifo, parameters: skip, label: x}").error().message, "must be a mapping"));
}

TEST_CASE("a policy that was split at its commas is told how to be written") {
  const auto with = [](const std::string& policies) {
    const auto read = parse(replaced(kGood, "policies: [fifo, ", "policies: [" + policies + ", "));
    return read ? "none" : read.error().message;
  };
  CHECK(with("fifo:queue=skip,fit=server") ==
        "dir/x.yaml:12:28: no policy 'fit=server'; commas separate list entries; quote it: "
        "\"fifo:queue=skip,fit=server\"");
  CHECK(has(with("fifo, lif:threshold=0.3,order=forecast, share=no"),
            "quote it: \"lif:threshold=0.3,order=forecast,share=no\""));
  CHECK(has(with("fifo, queue=skip"), "quote it: \"fifo:queue=skip\""));
  CHECK(has(with("queue=skip"), "no policy 'queue=skip'; there are: "));
  CHECK(with("\"fifo:queue=skip,fit=server\"") == "none");
}

TEST_CASE("a kind of trace that had another name is known by it") {
  for (const auto& [kind, old] : {std::pair("gavel-continuous", "gavel"), {"philly-like", ""}}) {
    const std::string written = *old == '\0' ? kind : old;
    const auto read =
        parse_experiment("topologies: [{generate: flat}]\nworkloads: [{generate: " + written +
                             "}]\npolicies: [fifo]\n",
                         "x.yaml", make_policy_registry());
    REQUIRE(read.ok());
    const WorkloadSource& source = read.value().workloads.front();
    CHECK(source.generator == kind);
    CHECK(source.old_name == old);
    CHECK(source.name == kind);
  }
}

TEST_CASE("an upper bound for one agent is refused where there are more") {
  PolicyRegistry policies = make_policy_registry();
  add_gnn_policies(policies);  // what it searches over is one of them
  add_clairvoyant(policies);
  const auto with = [&](const std::string& agents) {
    return parse_experiment(
        "topologies: [{generate: flat}]\nworkloads: [{generate: gavel-continuous}]\n"
        "policies: [fifo, clairvoyant]\nagents: " +
            agents,
        "x.yaml", policies);
  };
  CHECK(with("1").ok());
  for (const char* agents : {"2", "[1, 2]"}) {
    const auto read = with(agents);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message ==
          "x.yaml:3:18: clairvoyant is an upper bound for one agent, not for 2; give it an "
          "experiment with agents: 1");
  }
}

TEST_CASE("one mistake that many entries share is told once") {
  const std::string message =
      mistake("workloads:\n",
              "workload_defaults: {length: 7x, jubs: 1}\nworkloads:\n  - {file: a}\n"
              "  - {file: b}\n  - {file: c}\n");
  CHECK(has(message, "dir/x.yaml:5:29: length is "));
  CHECK(message.find("5:29: ") == message.rfind("5:29: "));
  CHECK(message.find("'jubs'") == message.rfind("'jubs'"));
}

TEST_CASE("the sizes of every generator can be given, and only its own") {
  const auto with = [](const std::string& topology) {
    return parse(replaced(kGood, "generate: flat, servers: 4, gpus_per_server: 8", topology));
  };
  for (const auto& [text, servers] : std::vector<std::pair<std::string, std::uint32_t>>{
           {"generate: fat-tree, fat_tree_k: 4, uplink_gbps: 50", 16},
           {"generate: leaf-spine, servers: 6, servers_per_rack: 3, spines: 2", 6},
           {"generate: vl2, servers: 8, vl2_aggregation_ports: 4, vl2_intermediate_ports: 4", 8},
           {"generate: bcube, servers: 16, bcube_ports: 4, bcube_levels: 2", 16},
           {"generate: dragonfly, servers: 12, dragonfly_hosts: 2, dragonfly_routers: 3, "
            "dragonfly_global: 1",
            12},
           {"generate: rail-optimised, servers: 8, rails: 4, racks_per_unit: 2, "
            "servers_per_rack: 2",
            8},
           {"generate: nvl72, racks: 2, spines: 2, scale_up_gbps: 3600", 36},
           {"generate: torus-pods, servers: 8, servers_per_rack: 2, racks_per_pod: 2, "
            "server_template: tpu-v4",
            8},
           {"generate: flat, servers: 2, server_template: dgx-a100", 2}}) {
    CAPTURE(text);
    const auto read = with(text);
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    const auto made = open_topology(read.value().topologies[0]);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    CHECK(made.value().server_count() == servers);
  }
  CHECK(has(with("generate: flat, servers: 4, spines: 2").error().message,
            "dir/x.yaml:3:51: 'spines' means nothing to flat, only to leaf-spine, "
            "rail-optimised, nvl72, torus-pods; leave it out"));
  CHECK(has(with("generate: nvl72, servers: 4").error().message,
            "'servers' is known of an nvl72; leave it out, or write its racks"));
  CHECK(has(with("generate: flat, server_template: dgx-a1000").error().message,
            "did you mean 'dgx-a100'?"));
  CHECK(has(with("generate: flat, server_template: 4xt4, cpus: 3").error().message,
            "'cpus' is given by server_template"));
}

TEST_CASE("an item belongs to exactly one split") {
  CHECK(has(mistake("topologies: [b]", "topologies: [b, a]"),
            "dir/x.yaml:10:32: 'a' is in split validation already"));
  CHECK(has(mistake("workloads: [w2]", "workloads: []"), "empty list"));
  CHECK(has(mistake("seeds: 3", "seeds: 3\ncompare: all"),
            "compare is 'all'; write families (a table for each) or together (one for all)"));
  CHECK(has(mistake("seeds: 3", "seeds: 3\ncompare: [together]"), "compare"));
  CHECK(has(mistake("workloads: [w2]", "workloads: [w3]"), "did you mean 'w1'?"));
}

TEST_CASE("one thing under two names does not slip into two splits") {
  CHECK(has(mistake("from: 14d", "from: 13d"), "share jobs"));
  CHECK(has(mistake("from: 2017-09-11, length: 7d, ", "from: 2017-09-11, "), "share jobs"));
  CHECK(has(mistake("servers: \"2:V100,2:K80\", gpus_per_server: 4, gang_max: 8",
                    "servers: 4, gpus_per_server: 8"),
            "share their hardware"));
}

TEST_CASE("defaults of workloads give way to what an entry says") {
  const auto read = parse(
      replaced(kGood, "workloads:\n", "workload_defaults: {jobs: 9, gang_max: 4}\nworkloads:\n"));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read.value().workloads[0].jobs == 300);
  CHECK(read.value().workloads[1].jobs == 9);
  CHECK(read.value().workloads[0].gang_max == 4);
  CHECK(has(mistake("workloads:\n", "workload_defaults: {jubs: 9}\nworkloads:\n"),
            "did you mean 'jobs'?"));
  const auto elastic = [](const char* sizes) {
    return "workload_defaults: {elastic: " + std::string(sizes) + "}\nworkloads:\n";
  };
  CHECK(parse(replaced(kGood, "workloads:\n", elastic("0"))).ok());
  CHECK(has(mistake("workloads:\n", elastic("0.5")), "elastic is below 1; write how many times"));
}

TEST_CASE("queues come from a file beside the experiment") {
  CHECK_FALSE(parse(kGood).value().queues.has_value());
  const auto read = parse(replaced(kGood, "seeds: 3\n", "seeds: 3\nqueues: ${QUEUES}\n"));
  REQUIRE_FALSE(read.ok());
  CHECK(has(read.error().message, "queues"));
  const std::string list = mistake("seeds: 3\n", "seeds: 3\nqueues: [{name: a}]\n");
  CHECK(has(list, "queues of an experiment is a list"));
  CHECK_FALSE(has(list, "No such file"));
  const TestFolder folder("queues");
  std::ofstream(folder.path / "q.yaml") << "queues: [{name: a, most: 4}]\n";
  const std::string file = (folder.path / "q.yaml").string();
  const auto good = parse(replaced(kGood, "seeds: 3\n", "seeds: 3\nqueues: " + file + "\n"));
  REQUIRE_MESSAGE(good.ok(), good.error().message);
  REQUIRE(good.value().queues.has_value());
  CHECK(good.value().queues->version == 1);
  CHECK(good.value().queues->queues.front().most == 4);
  std::ofstream(folder.path / "q.yaml") << "queues: [{name: a, mots: 4}]\n";
  CHECK(has(mistake("seeds: 3\n", "seeds: 3\nqueues: " + file + "\n"),
            "queues: " + file + ":1:20: key 'mots' is unknown"));
}

TEST_CASE("a bound is found where it is asked for, and refused where none can be had") {
  CHECK(!parse(kGood).value().bound);
  CHECK(parse(kGood + "bound: yes\n").value().bound);
  CHECK(parse(replaced(kGood, "full\n", "full:goodput\nbound: yes\n")).value().bound);
  CHECK(has(mistake("seeds: 3\n", "seeds: 3\nbound: maybe\n"), "bound is 'maybe'; write yes"));
  for (const char* physics : {"trace", "full:stragglers=0.1", "full:network=flows"})
    CHECK(has(mistake("physics: full\n", std::string("bound: yes\nphysics: ") + physics + "\n"),
              "bound: yes needs physics: full"));
}

TEST_CASE("damaged experiments are refused, never fatal and never endless") {
  Rng rng(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = kGood;
    for (std::uint32_t edits = 1 + rng.below(4); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = rng.below(static_cast<std::uint32_t>(text.size()));
      switch (rng.below(3)) {
        case 0:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          text.erase(at, 1 + rng.below(9));
          break;
        default:
          text.insert(at, 1, "[]{},:-\"'#&*!|>%@` \n"[rng.below(20)]);
      }
    }
    const auto read = parse(text);
    if (!read) CHECK(read.error().message.find("dir/x.yaml") == 0);
  }
}

TEST_CASE("dates and lengths") {
  CHECK(seconds(read_date("1970-01-02").value()) == 86'400);
  CHECK(seconds(read_date("2017-10-23 08:30:00").value()) == 1'508'747'400);
  CHECK_FALSE(read_date("2017-02-30").ok());
  CHECK_FALSE(read_date("2017-02-03 25:00:00").ok());
  CHECK_FALSE(read_date("2017-02-03x").ok());
  CHECK(read_length("1.5h").value() == from_seconds(5400));
  CHECK(read_length("1ms").value() == from_seconds(0.001));
  CHECK_FALSE(read_length("h").ok());
  CHECK_FALSE(read_length("ms").ok());
  CHECK_FALSE(read_length("-1s").ok());
}
