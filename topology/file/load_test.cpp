// SPDX-License-Identifier: Apache-2.0
#include "topology/file/load.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/rng.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

std::filesystem::path source() {
  const char* set = std::getenv("STARLING_SOURCE");
  return set != nullptr ? set : ".";
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Line 1 to 6 of a right file; each mistake below replaces one line.
const char* const kRight[] = {
    "gpu_types: {V100: {memory_gib: 16}}",
    "server_templates:",
    "  dgx: {gpus: 8, gpu_type: V100, cpus: 64, memory_gib: 512}",
    "racks:",
    "  - {count: 2, servers: [{template: dgx, count: 4}]}",
    "network: {rack_switches: {count: 1}, core_switches: {count: 2, gbps: 100}}",
};

std::string with_line(int line, const std::string& replacement) {
  std::string text;
  for (int i = 1; i <= 6; ++i)
    text += (i == line ? replacement : kRight[i - 1]) + std::string("\n");
  return text;
}

struct Mistake {
  int line;
  const char* text;
  const char* place;  // line:column
  const char* says;   // a part of the message
};

const Mistake kMistakes[] = {
    {1, "gpu_type: {V100: {memory_gib: 16}}",
     "1:1:", "unknown key 'gpu_type' in the topology; did you mean 'gpu_types'?"},
    {1, "gpu_types: [V100]", "1:12:", "gpu_types must be a mapping"},
    {1, "gpu_types: {V100: {}}",
     "1:19:", "GPU type 'V100' lacks 'memory_gib'; add memory_gib: a number"},
    {1, "gpu_types: {V100: {memory_gib: -1}}",
     "1:32:", "memory_gib is '-1'; write a number from 0.001 to"},
    {1, "gpu_types: {V100: {memory_gib: nan}}", "1:32:", "memory_gib is 'nan'"},
    {1, "gpu_types: {V100: {memory_gib: 16}, V100: {memory_gib: 32}}",
     "1:37:", "'V100' is given twice in gpu_types"},
    {1, "name: \"\"", "1:7:", "name of the topology is empty"},
    {1, "name: [a]", "1:7:", "name of the topology is a list"},
    {1, "name: \"a\\nb\"", "1:7:", "not printable"},
    {1, "cpus: 3", "1:1:", "unknown key 'cpus' in the topology"},
    {1, "racks: []", "4:1:", "'racks' is given twice"},
    {1, "pods: []", "1:1:", "exclude one another"},
    {2, "server_template:", "2:1:", "did you mean 'server_templates'?"},
    {3, "  dgx: {gpu_type: V100, cpus: 64, memory_gib: 512}",
     "3:8:", "server template 'dgx' lacks 'gpus'"},
    {3, "  dgx: {gpus: eight, gpu_type: V100, cpus: 64, memory_gib: 512}",
     "3:15:", "gpus is 'eight'; write a whole number from 0 to 256"},
    {3, "  dgx: {gpus: 257, gpu_type: V100, cpus: 64, memory_gib: 512}", "3:15:", "gpus is '257'"},
    {3, "  dgx: {gpus: 8.0, gpu_type: V100, cpus: 64, memory_gib: 512}", "3:15:", "gpus is '8.0'"},
    {3, "  dgx: {gpus: 8, cpus: 64, memory_gib: 512}", "3:8:", "lacks 'gpu_type'"},
    {3, "  dgx: {gpus: 8, gpu_type: V10, cpus: 64, memory_gib: 512}",
     "3:28:", "unknown GPU type 'V10'; did you mean 'V100'?"},
    {3, "  dgx: {gpus: 8, gpu_type: V100, cpus: [64], memory_gib: 512}", "3:40:", "cpus is a list"},
    {3, "  dgx: {gpus: 8, gpu_type: V100, cpus: 64, memory_gb: 512}",
     "3:44:", "did you mean 'memory_gib'?"},
    {3, "  dgx: {gpus: 8, gpu_type: V100, cpus: 64, memory_gib: 512, island: 9}",
     "3:69:", "island is '9'; write a whole number from 1 to 8"},
    {3, "  dgx: {gpus: 8, gpu_type: V100, cpus: 64, memory_gib: 512, nic_gbps: 0}",
     "3:71:", "nic_gbps is '0'"},
    {3, "  dgx: 8", "3:8:", "server template 'dgx' is '8'; write a mapping with gpus, gpu_type"},
    {4, "rows:", "4:1:", "unknown key 'rows'"},
    {5, "  - {count: 0, servers: [{template: dgx, count: 4}]}",
     "5:13:", "count is '0'; write a whole number from 1"},
    {5, "  - {count: -2, servers: [{template: dgx, count: 4}]}", "5:13:", "count is '-2'"},
    {5, "  - {count: 2}", "5:5:", "a rack lacks 'servers'"},
    {5, "  - {count: 2, servers: []}", "5:25:", "servers of a rack is an empty list"},
    {5, "  - {count: 2, servers: [dgx]}",
     "5:26:", "an entry of servers is 'dgx'; write a mapping with template"},
    {5, "  - {count: 2, servers: [{template: dgz, count: 4}]}",
     "5:37:", "unknown server template 'dgz'; did you mean 'dgx'?"},
    {5, "  - {count: 2, servers: [{count: 4}]}", "5:26:", "lacks 'template'"},
    {5, "  - {count: 2, servers: [{template: dgx, count: 4, name: s}]}",
     "5:26:", "the name 's' of a server occurs twice; put {}"},
    {5, "  - {count: 2, name: r, servers: [{template: dgx}]}",
     "5:5:", "the name 'r' of a rack occurs twice"},
    {5, "  - {servers: [{template: dgx, names: [a, b, a]}]}",
     "5:16:", "the name 'a' of a server occurs twice"},
    {5, "  - {servers: [{template: dgx, count: 3, names: [a, b]}]}",
     "5:39:", "count is 3 but there are 2 names"},
    {5, "  - {servers: [{template: dgx, name: x, names: [a, b]}]}", "5:38:", "exclude one another"},
    {5, "  - {count: 1000, servers: [{template: dgx, count: 1000}]}",
     "5:29:", "in all 8000000 GPUs in 1000000 servers; at most 1048576"},
    {5, "  - {count: 1048576, servers: [{template: dgx, count: 1048576}]}",
     "5:32:", "lower a count"},
    {6, "network: {core_switches: {count: 2, gbps: 100}}",
     "6:10:", "network lacks 'rack_switches'"},
    {6, "network: {rack_switches: {}, core_switches: {count: 2}}",
     "6:45:", "core_switches lacks 'gbps'"},
    {6, "network: {rack_switches: {count: 2}, core_switches: {count: 3, gbps: 1, wiring: striped}}",
     "6:61:", "write a multiple of 2"},
    {6, "network: {rack_switches: {}, core_switches: {gbps: 1, wiring: ring}}",
     "6:63:", "write all"},
    {6, "network: {rack_switches: {latency_us: fast}}", "6:39:", "latency_us is 'fast'"},
    {6, "network: {switches: [a], links: [{a: a, b: p0-r0-s9, gbps: 1}]}",
     "6:34:", "a link ends at 'p0-r0-s9', which is no server and no switch; did you mean 'p0-r0-s"},
    {6, "network: {switches: [a], links: [{a: a, b: a, gbps: 1}]}", "6:34:", "from 'a' to itself"},
    {6, "network: {switches: [p0-r0-s0]}", "6:22:", "the name 'p0-r0-s0' of a switch occurs twice"},
    {6, "network: 7", "6:10:", "network is '7'; write a mapping"},
    {6, "network: {rack_switches: {count: 4096}, pod_switches: {count: 4096, gbps: 1}}",
     "6:10:", "use fewer switches"},
    {6, "network: {rack_switches: {count: 1}", "7:1:", "not valid YAML"},
    {6, "\tnetwork: 1", "6:2:", "not valid YAML"},
};

std::string right() { return with_line(0, ""); }

TEST_CASE("every mistake is named with its place and what would be right") {
  REQUIRE(parse_topology_yaml(right(), "t.yaml").ok());
  for (const Mistake& mistake : kMistakes) {
    const auto read = parse_topology_yaml(with_line(mistake.line, mistake.text), "t.yaml");
    CAPTURE(mistake.text);
    REQUIRE_FALSE(read.ok());
    CAPTURE(read.error().message);
    CHECK(read.error().message.find(std::string("t.yaml:") + mistake.place) != std::string::npos);
    CHECK(read.error().message.find(mistake.says) != std::string::npos);
  }
  for (const char* text : {"", "---\n---\n", "a", "[1, 2]", "a: 1\n---\nb: 2\n", "~", ",a: 1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_topology_yaml(text, "t.yaml").ok());
  }
}

TEST_CASE("several mistakes are reported at once, up to twenty") {
  std::string text = with_line(3, "  dgx: {gpus: x, gpu_type: V10, cpu: 64, memory_gib: 512}");
  const std::string message = parse_topology_yaml(text, "t.yaml").error().message;
  CHECK(message.find("gpus is 'x'") != std::string::npos);
  CHECK(message.find("unknown GPU type") != std::string::npos);
  CHECK(message.find("unknown key 'cpu'") != std::string::npos);
  text = "server_templates:\n";
  for (int i = 0; i < 30; ++i) text += "  t" + std::to_string(i) + ": {}\n";
  CHECK(parse_topology_yaml(text, "t.yaml").error().message.find("more") != std::string::npos);
}

void check_reads_back(const Topology& topology) {
  const std::string text = to_yaml(topology);
  const auto again = parse_topology_yaml(text, "again.yaml");
  CAPTURE(text.substr(0, 2000));
  REQUIRE_MESSAGE(again.ok(), (again.ok() ? "" : again.error().message));
  CHECK(again.value() == topology);
  CHECK(to_yaml(again.value()) == text);
}

TEST_CASE("what is written reads back equal") {
  Rng rng(11);
  for (int i = 0; i < 60; ++i) {
    GeneratorOptions o;
    o.servers = 1 + rng.below(70);
    o.gpus_per_server = 1 + rng.below(16);
    o.gpus_per_island = 1 + rng.below(8);
    o.servers_per_rack = 1 + rng.below(12);
    o.spines = 1 + rng.below(5);
    o.nic_gbps = 1 + 100 * rng.uniform();
    o.link_latency_us = rng.uniform();
    if (rng.chance(0.5)) o.groups = {{1 + rng.below(9), "K80"}, {1 + rng.below(20), "T4"}};
    if (rng.chance(0.3)) o.name = "a \"strange\" \\ name: #1";
    const char* kinds[] = {"flat", "leaf-spine", "fat-tree"};
    const Topology t = generate(kinds[rng.below(3)], o).value();
    check_reads_back(t);
    // Odd names and an irregular network, which no rule describes.
    Topology::Parts parts = t.parts();
    for (Server& server : parts.servers) {
      if (rng.chance(0.2)) server.name = "host #" + std::to_string(&server - parts.servers.data());
      if (rng.chance(0.2)) server.cpus += 1;
    }
    for (std::size_t s = 0; s < parts.servers.size(); ++s)
      parts.nodes[s].name = parts.servers[s].name;
    if (rng.chance(0.5)) parts.subtrees[2].name = "the first rack";
    if (rng.chance(0.5)) parts.links.back().gbps += 1;
    if (rng.chance(0.3)) parts.links.pop_back();
    if (rng.chance(0.2)) parts.links.clear();
    if (rng.chance(0.2)) parts.links.clear(), parts.nodes.clear();
    check_reads_back(Topology(parts));
  }
}

TEST_CASE(
    "GPUs of one type that differ are read and written, and topologies without are as before") {
  const auto with = [](const std::string& speeds) {
    return parse_topology_yaml(
        "name: t\nserver_templates: {x: {gpus: 2, gpu_type: V100}}\nservers:\n"
        "  - {template: x, names: [a, b]}\n" +
            speeds,
        "t.yaml");
  };
  const auto wrong = [&](const std::string& speeds) { return with(speeds).error().message; };
  const Topology slow = with("gpu_speeds: {b: [0.5, 1]}\n").value();
  CHECK(slow.gpu_speed(GpuId{0}) == 1);
  CHECK(slow.gpu_speed(GpuId{2}) == 0.5);
  CHECK(slow.gpu_speed(GpuId{3}) == 1);
  CHECK(to_yaml(slow).find("gpu_speeds:\n  b: [0.5, 1]\n") != std::string::npos);
  check_reads_back(slow);
  CHECK(with("gpu_speeds: {a: [1, 1]}\n").value() == with("").value());
  CHECK(to_yaml(with("").value()).find("gpu_speeds") == std::string::npos);
  CHECK(wrong("gpu_speeds: {c: [1, 1]}\n").find("gpu_speeds name 'c', which is no server") !=
        std::string::npos);
  CHECK(wrong("gpu_speeds: {a: []}\n").find("of 'a' are none") != std::string::npos);
  CHECK(wrong("gpu_speeds: {a: [1]}\n").find("are 1, the server has 2 GPUs") != std::string::npos);
  CHECK(wrong("gpu_speeds: {a: [1, 1.2]}\n")
            .find("t.yaml:5:21: a GPU speed of 'a' is 1.2; write a number from 0.05 to 1") !=
        std::string::npos);
  CHECK(wrong("gpu_speeds: {a: 1}\n").find("gpu_speeds of 'a' are no list") != std::string::npos);
  CHECK(wrong("gpu_speeds: [1]\n").find("gpu_speeds are no mapping") != std::string::npos);
}

TEST_CASE("the examples load, and two are what the generators make") {
  const auto load = [](const char* name) {
    auto read = load_topology((source() / "examples/topologies" / name).string());
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
    return read.value();
  };
  const Topology leaf_spine = load("leaf-spine-64x8.yaml");
  CHECK(leaf_spine == generate_leaf_spine({.servers = 64}).value());
  CHECK(load("fat-tree-k8.yaml") ==
        generate_fat_tree({.name = "fat-tree-k8", .servers = 128}).value());
  const Topology mixed = load("mixed-types.yaml");
  CHECK(mixed.gpu_count() == 8 * 8 + 16 * 4 + 20 * 4);
  CHECK(mixed.servers()[0].name == "volta0");
  CHECK(mixed.gpu_types()[0].memory_gib == doctest::Approx(32));
  check_reads_back(mixed);
}

TEST_CASE("the example in the guide loads") {
  const std::string guide = contents(source() / "docs/topology-format.md");
  const std::size_t fence = guide.find("```yaml\n");
  REQUIRE(fence != std::string::npos);
  const std::size_t start = fence + 8;
  const auto read =
      parse_topology_yaml(guide.substr(start, guide.find("```", start) - start), "guide");
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
  CHECK(read.value().gpu_count() == 136);
  check_reads_back(read.value());
}

TEST_CASE("no damage to a file crashes the loader") {
  const std::string texts[] = {right(), contents(source() / "examples/topologies/mixed-types.yaml"),
                               to_yaml(generate_fat_tree({.servers = 5}).value())};
  const std::string pieces[] = {"{",
                                "}",
                                "[",
                                "]",
                                ":",
                                "- ",
                                "\n",
                                "\t",
                                "\"",
                                "'",
                                "&a ",
                                "*a",
                                "!!map ",
                                "<<: ",
                                "999999999999",
                                "\xff",
                                "#",
                                "|",
                                ">",
                                "? ",
                                "%",
                                "{}",
                                "count: 1000000"};
  Rng rng(3);
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = texts[rng.below(3)];
    for (std::uint32_t n = 1 + rng.below(4); n > 0; --n) {
      const std::size_t at = rng.below(static_cast<std::uint32_t>(text.size()));
      const std::size_t length = rng.below(20);
      switch (rng.below(4)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, pieces[rng.below(std::size(pieces))]);
          break;
        case 2:
          text[at] = static_cast<char>(rng.below(256));
          break;
        default:
          text.insert(at, text.substr(rng.below(static_cast<std::uint32_t>(text.size())), length));
      }
      if (text.empty()) text = "x";
    }
    const auto read = parse_topology(text, "damaged.yaml");
    if (read.ok()) ++accepted;
    if (!read.ok()) REQUIRE(read.error().message.rfind("damaged.yaml:", 0) == 0);
  }
  CHECK(accepted > 0);
  CHECK(accepted < 4000);
  CHECK_FALSE(parse_topology(std::string(100'000, '['), "deep").ok());
  CHECK_FALSE(parse_topology(std::string(100'000, '{'), "deep").ok());
}

TEST_CASE("a file that is not there or not known is refused") {
  CHECK(load_topology("/no/such/file.yaml").error().code == Errc::io);
  CHECK(load_topology("/").error().code == Errc::io);
  CHECK(parse_topology("a,b,c\n1,2,3\n", "x.csv").error().message.find("no importer knows") !=
        std::string::npos);
}

}  // namespace
}  // namespace starling
