// SPDX-License-Identifier: Apache-2.0
// A scale-up domain is servers whose GPUs reach one another over an interconnect of their own: a
// rack of an NVL72, a pod of a torus. Each test says what a file may say of one and what follows.
#include <doctest/doctest.h>

#include <numeric>

#include "topology/describe.h"
#include "topology/draw/draw.h"
#include "topology/file/load.h"
#include "topology/generate/generate.h"
#include "topology/partition.h"

namespace starling {
namespace {

const std::string kHead =
    "server_templates:\n"
    "  tray: {gpus: 4, gpu_type: GB200, island: 4, nvlink_gbps: 7200, nic_gbps: 1600}\n"
    "  plain: {gpus: 4, gpu_type: GB200, island: 2, nic_gbps: 100}\n"
    "  loader: {gpus: 0}\n";

Topology read(const std::string& below) {
  const auto found = parse_topology_yaml(kHead + below, "t.yaml");
  REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
  return found.value();
}

std::string refusal(const std::string& below) {
  const auto found = parse_topology_yaml(kHead + below, "t.yaml");
  REQUIRE_FALSE(found.ok());
  return found.error().message;
}

Tier tier(const Topology& t, std::vector<std::uint32_t> ids) {
  std::vector<GpuId> gpus;
  for (const std::uint32_t id : ids) gpus.push_back(GpuId(id));
  return t.tier_of(gpus);
}

std::vector<IndexRange> ranges(const Topology& t) {
  std::vector<IndexRange> out;
  for (const ScaleUpDomain& domain : t.domains()) out.push_back(domain.servers);
  return out;
}

TEST_CASE("racks, pods, entries and ranges of servers are domains") {
  const Topology racks =
      read("racks:\n  - {count: 2, scale_up_gbps: 7200, servers: [{template: tray, count: 3}]}\n");
  CHECK(ranges(racks) == std::vector<IndexRange>{{0, 3}, {3, 6}});
  CHECK(racks.domains()[1].gbps == doctest::Approx(7200));
  CHECK(racks.domain_of(ServerId(2)) == 0);
  CHECK(racks.domain_of(ServerId(3)) == 1);
  const Topology pods = read(
      "pods:\n  - count: 2\n    scale_up_gbps: 2400\n    racks:\n"
      "      - {count: 2, servers: [{template: tray, count: 2}]}\n");
  CHECK(ranges(pods) == std::vector<IndexRange>{{0, 4}, {4, 8}});
  const Topology entry = read(
      "servers:\n  - {template: loader}\n  - {template: tray, count: 2, scale_up_gbps: 7200}\n"
      "  - {template: tray}\n");
  CHECK(ranges(entry) == std::vector<IndexRange>{{1, 3}});
  CHECK(entry.domain_of(ServerId(0)) == Topology::kNoDomain);
  const Topology named = read(
      "servers: [{template: tray, count: 5}]\n"
      "scale_up_domains:\n  - {from: p0-r0-s3, to: p0-r0-s4, gbps: 7200}\n"
      "  - {from: p0-r0-s0, to: p0-r0-s1, gbps: 3600}\n");
  CHECK(ranges(named) == std::vector<IndexRange>{{0, 2}, {3, 5}});
  for (const Topology& t : {racks, pods, entry, named}) {
    const std::string text = to_yaml(t);
    CAPTURE(text);
    CHECK(parse_topology_yaml(text, "again.yaml").value() == t);
  }
}

TEST_CASE("a gang in a domain is nearer than one in a rack, and one across domains is not") {
  const Topology t = read(
      "racks:\n  - {count: 2, scale_up_gbps: 7200, servers: [{template: plain, count: 3}]}\n"
      "  - {servers: [{template: plain, count: 2}]}\n");
  CHECK(tier(t, {0, 1}) == Tier::island);
  CHECK(tier(t, {0, 3}) == Tier::domain);  // two islands of one server
  CHECK(tier(t, {0, 4, 11}) == Tier::domain);
  CHECK(tier(t, {0, 12}) == Tier::network);
  CHECK(tier(t, {24, 27}) == Tier::server);
  CHECK(tier(t, {24, 28}) == Tier::rack);
}

TEST_CASE("what is no domain is refused, and where") {
  const auto says = [](const std::string& below, const std::string& part) {
    const std::string text = refusal(below);
    CAPTURE(text);
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  };
  const std::string tail = ", servers: [{template: tray, count: 3}]}\n";
  says("racks:\n  - {scale_up_gbps: 0" + tail, "t.yaml:6:21: scale_up_gbps is '0'");
  says("racks:\n  - {scale_up_gbps: -1" + tail, "scale_up_gbps is '-1'");
  says("racks:\n  - {scale_up_gbps: fast" + tail, "scale_up_gbps is 'fast'");
  says("racks:\n  - {scale_up_gbps: 1600" + tail,
       "t.yaml:6:5: a scale-up domain of 1600 Gbit/s a GPU is no faster than the network of its "
       "server 'p0-r0-s0', nic_gbps 1600; write more, or leave it out");
  says("racks:\n  - {scale_up_gbps: 7200, servers: [{template: tray}, {template: loader}]}\n",
       "t.yaml:6:5: a scale-up domain has GPUs of 1 server; write it where there are at least 2");
  says("racks:\n  - {scale_up_gbps: 7200, servers: [{template: loader, count: 2}]}\n",
       "has GPUs of 0 servers");
  says("pods:\n  - {scale_up_gbps: 7200, racks: [{scale_up_gbps: 7200" + tail.substr(0, 39) +
           "}]}\n",
       "server 'p0-r0-s0' is in two scale-up domains; leave one of them out");
  const std::string servers = "servers: [{template: tray, count: 4}]\nscale_up_domains:\n";
  says(servers +
           "  - {from: p0-r0-s0, to: p0-r0-s2, gbps: 7200}\n"
           "  - {from: p0-r0-s2, to: p0-r0-s3, gbps: 7200}\n",
       "t.yaml:8:5: server 'p0-r0-s2' is in two scale-up domains");
  says(servers + "  - {from: p0-r0-s0, to: p0-r0-s9, gbps: 7200}\n",
       "t.yaml:7:5: a scale-up domain ends at 'p0-r0-s9', which is no server; did you mean");
  says(servers + "  - {from: p0-r0-s2, to: p0-r0-s0, gbps: 7200}\n", "write them in the order");
  says(servers + "  - {from: p0-r0-s2, to: p0-r0-s2, gbps: 7200}\n", "has GPUs of 1 server;");
  says(servers + "  - {from: p0-r0-s2, to: p0-r0-s3}\n", "a scale-up domain lacks 'gbps'");
  says(servers + "  - {gbps: 7200, servers: [a]}\n", "unknown key 'servers'");
}

TEST_CASE("nvl72: racks of 18 trays, 72 GPUs a domain") {
  const Topology t = generate("nvl72", {.racks = 2}).value();
  CHECK(t.gpu_count() == 144);
  CHECK(t.server_count() == 36);
  CHECK(ranges(t) == std::vector<IndexRange>{{0, 18}, {18, 36}});
  CHECK(tier(t, {0, 71}) == Tier::domain);
  CHECK(tier(t, {71, 72}) == Tier::network);
  CHECK(parse_topology_yaml(to_yaml(t), "again.yaml").value() == t);
  const std::string text = describe(t);
  CAPTURE(text);
  CHECK(text.find("  2 scale-up domains: 72 GPUs of 18 servers at 7200 Gbit/s each\n") !=
        std::string::npos);
  CHECK(draw_svg(t).find("one domain at 7200 Gbit/s a GPU") != std::string::npos);
  CHECK_FALSE(generate("nvl72", {.racks = 0}).ok());
  CHECK_FALSE(generate("nvl72", {.racks = 1, .scale_up_gbps = 1000}).ok());
}

TEST_CASE("torus-pods: a pod is a domain, and no partition cuts one that need not be cut") {
  const Topology t =
      generate(
          "torus-pods",
          {.servers = 34, .servers_per_rack = 4, .server_template = "tpu-v4", .racks_per_pod = 4})
          .value();
  CHECK(ranges(t) == std::vector<IndexRange>{{0, 16}, {16, 32}, {32, 34}});
  CHECK(t.domains()[0].gbps == doctest::Approx(2400));
  CHECK(tier(t, {0, 63}) == Tier::domain);  // four racks
  CHECK(tier(t, {63, 64}) == Tier::network);
  CHECK(parse_topology_yaml(to_yaml(t), "again.yaml").value() == t);
  // 12 and 12 racks of 3 domains: the even cut falls into the second.
  const Topology three =
      generate(
          "torus-pods",
          {.servers = 96, .servers_per_rack = 4, .server_template = "tpu-v4", .racks_per_pod = 4})
          .value();
  const auto cut = partition(three, 6).value();
  for (const Partition& part : cut) CHECK(part.servers.first % 16 == 0);
  CHECK_FALSE(
      generate("torus-pods", {.servers = 8, .servers_per_rack = 1, .racks_per_pod = 1}).ok());
}

TEST_CASE("a leaf-spine of domains has as many links as any, and no more") {
  const auto many = generate("nvl72", {.spines = 1U << 19U, .racks = 4});
  REQUIRE_FALSE(many.ok());
  CHECK(many.error().message.find("too many links") != std::string::npos);
}

}  // namespace
}  // namespace starling
