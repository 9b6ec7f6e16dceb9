// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>

#include "topology/describe.h"
#include "topology/file/load.h"
#include "topology/generate/generate.h"
#include "topology/generate/test_counts.h"
#include "topology/network_plan.h"

namespace starling {
namespace {

using testing::count;
using testing::switches;

// Number of nodes by their number of links, of servers or of switches.
std::map<std::size_t, std::size_t> degrees(const Topology& t, bool of_servers) {
  std::vector<std::size_t> degree(t.network_nodes().size());
  for (const NetworkLink& link : t.network_links()) {
    ++degree[link.a];
    ++degree[link.b];
  }
  std::map<std::size_t, std::size_t> found;
  for (std::size_t i = 0; i < degree.size(); ++i) {
    if (t.network_nodes()[i].is_server == of_servers) ++found[degree[i]];
  }
  return found;
}
using Degrees = std::map<std::size_t, std::size_t>;

TEST_CASE("VL2: the paper's counts, full bisection") {
  // D_A = D_I = 8: 16 racks in 4 pods, 4 intermediate and 8 aggregation switches.
  const Topology t = generate("vl2", {.servers = 16 * 20,
                                      .nic_gbps = 1,
                                      .servers_per_rack = 20,
                                      .vl2_aggregation_ports = 8,
                                      .vl2_intermediate_ports = 8})
                         .value();
  CHECK(count(t, Level::rack) == 16);
  CHECK(count(t, Level::pod) == 4);
  CHECK(switches(t) == 16 + 8 + 4);
  CHECK(degrees(t, true) == Degrees{{1, 320}});
  CHECK(degrees(t, false) == Degrees{{8, 8 + 4}, {22, 16}});
  CHECK(t.network_links().back().gbps == doctest::Approx(10));
  CHECK(bisection_gbps(t) == doctest::Approx(160));
  CHECK(check_topology(t).empty());
  CHECK(generate("vl2", {.servers = 16 * 8}).value().name() == "vl2-128x8");
  CHECK_FALSE(generate("vl2", {.servers = 100, .vl2_aggregation_ports = 4}).ok());
  CHECK_FALSE(generate("vl2", {.vl2_aggregation_ports = 5}).ok());
}

TEST_CASE("BCube: n^L servers of L ports, L n^(L-1) switches of n ports") {
  const Topology t = generate("bcube", {.servers = 64, .nic_gbps = 30, .bcube_ports = 4}).value();
  CHECK(switches(t) == 3 * 16);
  CHECK(count(t, Level::rack) == 16);
  CHECK(count(t, Level::pod) == 4);
  CHECK(degrees(t, true) == Degrees{{3, 64}});
  CHECK(degrees(t, false) == Degrees{{4, 48}});
  // One port of each server of one half leads to the top level's switches.
  CHECK(bisection_gbps(t) == doctest::Approx(32 * 10));
  // Servers that differ in d digits are 2 d links apart.
  CHECK(t.route(ServerId(0), ServerId(3)).links.size() == 2);
  CHECK(t.route(ServerId(0), ServerId(16)).links.size() == 2);
  CHECK(t.route(ServerId(0), ServerId(63)).links.size() == 6);
  const Topology part = generate("bcube", {.servers = 50, .bcube_ports = 4}).value();
  CHECK(degrees(part, true) == Degrees{{3, 50}});
  CHECK(degrees(part, false).count(0) == 0);
  CHECK_FALSE(generate("bcube", {.servers = 65, .bcube_ports = 8, .bcube_levels = 2}).ok());
  CHECK(generate("bcube", {.servers = 64, .bcube_ports = 8, .bcube_levels = 2}).ok());
  CHECK_FALSE(generate("bcube", {.bcube_ports = 1}).ok());
}

TEST_CASE("dragonfly: a h + 1 groups, every two of them linked once") {
  // p = h = 2, a = 4: 9 groups, 72 servers.
  const Topology t = generate("dragonfly", {.servers = 72}).value();
  CHECK(count(t, Level::pod) == 9);
  CHECK(count(t, Level::rack) == 36);
  CHECK(switches(t) == 36);
  CHECK(t.network_links().size() == 72 + 9 * 6 + 36);
  CHECK(degrees(t, true) == Degrees{{1, 72}});
  CHECK(degrees(t, false) == Degrees{{2 + 3 + 2, 36}});
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> between;
  double cut = 0;  // groups 0 to 3 against the others
  for (const NetworkLink& link : t.network_links()) {
    if (link.a < 72) continue;
    const std::uint32_t from = (link.a - 72) / 4;
    const std::uint32_t to = (link.b - 72) / 4;
    if (from == to) continue;
    ++between[{from, to}];
    if ((from < 4) != (to < 4)) cut += link.gbps;
  }
  CHECK(between.size() == 36);
  CHECK(cut == doctest::Approx(4 * 5 * 100));
  for (const auto& [pair, links] : between) CHECK(links == 1);
  // At most: local, global, local, and the two servers' links.
  for (std::uint32_t s = 1; s < 72; ++s) {
    CHECK(t.route(ServerId(0), ServerId(s)).links.size() <= 5);
  }
  // With fewer groups the same ports are spread over them: 8 ports, 2 other groups, 4 links each.
  const Topology three =
      generate("dragonfly",
               {.servers = 24, .dragonfly_hosts = 2, .dragonfly_routers = 4, .dragonfly_global = 2})
          .value();
  CHECK(degrees(three, false) == Degrees{{7, 12}});
  CHECK_FALSE(generate("dragonfly", {.servers = 73, .dragonfly_global = 2}).ok());
}

TEST_CASE("rail-optimised: a switch a rail and unit, full bisection") {
  const Topology t = generate("rail-optimised", {.servers = 64,
                                                 .servers_per_rack = 4,
                                                 .server_template = "dgx-h100",
                                                 .racks_per_unit = 8})
                         .value();
  CHECK(count(t, Level::pod) == 2);
  CHECK(switches(t) == 2 * 8 + 4);
  CHECK(degrees(t, true) == Degrees{{8, 64}});
  CHECK(degrees(t, false) == Degrees{{16, 4}, {32 + 4, 16}});
  CHECK(t.servers()[0].nics == 8);
  CHECK(t.network_links()[0].gbps == doctest::Approx(400));
  CHECK(bisection_gbps(t) == doctest::Approx(32 * 3200));
  CHECK(t.route(ServerId(0), ServerId(31)).links.size() == 2);
  CHECK(t.route(ServerId(0), ServerId(32)).links.size() == 4);
  CHECK(infer_plan(t.parts()).has_value());
  CHECK(check_topology(t).empty());
  CHECK(switches(generate("rail-optimised", {.servers = 8}).value()) == 8);
}

TEST_CASE("server templates: known machines, with sockets and PCIe switches") {
  const Topology t = generate("flat", {.servers = 2, .server_template = "DGX-A100"}).value();
  CHECK(t.gpu_count() == 16);
  CHECK(t.gpu_types()[0].name == "A100-80GB");
  CHECK(t.socket_of(GpuId(8 + 3)) == 0);
  CHECK(t.socket_of(GpuId(8 + 4)) == 1);
  CHECK(t.switch_of(GpuId(8 + 5)) == 2);
  CHECK(t.island_of(GpuId(0)) == t.island_of(GpuId(7)));
  const Topology t4 = generate("flat", {.servers = 1, .server_template = "4xt4"}).value();
  const GpuId pair[] = {GpuId(0), GpuId(1)};
  const GpuId across[] = {GpuId(1), GpuId(2)};
  CHECK(t4.tier_of(pair) == Tier::island);
  CHECK(t4.tier_of(across) == Tier::server);
  CHECK_FALSE(generate("flat", {.server_template = "dgx-a10"}).ok());
}

TEST_CASE("every generated network reads back from the file it writes") {
  for (const char* kind : {"vl2", "bcube", "dragonfly", "rail-optimised"}) {
    CAPTURE(kind);
    for (const char* machine : {"", "dgx-1", "8xa10"}) {
      const Topology t = generate(kind, {.servers = 70, .server_template = machine}).value();
      for (const Finding& finding : check_topology(t)) {
        CHECK(finding.severity == Finding::Severity::warning);  // parts may be oversubscribed
      }
      const auto again = parse_topology_yaml(to_yaml(t), "again.yaml");
      REQUIRE_MESSAGE(again.ok(), (again.ok() ? "" : again.error().message));
      CHECK(again.value() == t);
    }
  }
}

}  // namespace
}  // namespace starling
