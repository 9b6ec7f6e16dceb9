// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "base/limits.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/kinds.h"
#include "launch/command_line/out_file.h"
#include "launch/command_line/topology_line.h"
#include "launch/commands/commands.h"
#include "topology/file/load.h"
#include "topology/generate/generate.h"
#include "topology/generate/server_templates.h"

namespace starling {
namespace {

struct Options {
  std::string kind, servers = "64", out;
  GeneratorOptions shape;
  bool force = false;
};

constexpr std::array<std::string_view, 9> kKinds{"flat",  "leaf-spine",     "fat-tree",
                                                 "vl2",   "bcube",          "dragonfly",
                                                 "nvl72", "rail-optimised", "torus-pods"};

// An nvl72 says what its servers are.
std::vector<std::string_view> with_own_servers() {
  std::vector<std::string_view> kinds(kKinds.begin(), kKinds.end());
  std::erase(kinds, "nvl72");
  return kinds;
}

const std::vector<KindOption>& kind_options() {
  static const std::vector<KindOption> options{
      {"--servers", with_own_servers()},
      {"--server-template", with_own_servers()},
      {"--gpus", with_own_servers()},
      {"--gpu-type", with_own_servers()},
      {"--island", with_own_servers()},
      {"--cpus", with_own_servers()},
      {"--memory-gib", with_own_servers()},
      {"--nic-gbps", with_own_servers()},
      {"--nvlink-gbps", with_own_servers()},
      {"--pcie-gbps", with_own_servers()},
      {"--rack", {"leaf-spine", "vl2", "rail-optimised", "torus-pods"}},
      {"--spines", {"leaf-spine", "rail-optimised", "nvl72", "torus-pods"}},
      {"--uplink-gbps",
       {"leaf-spine", "fat-tree", "vl2", "dragonfly", "rail-optimised", "nvl72", "torus-pods"}},
      {"--k", {"fat-tree"}},
      {"--vl2-aggregation-ports", {"vl2"}},
      {"--vl2-intermediate-ports", {"vl2"}},
      {"--bcube-ports", {"bcube"}},
      {"--bcube-levels", {"bcube"}},
      {"--dragonfly-hosts", {"dragonfly"}},
      {"--dragonfly-routers", {"dragonfly"}},
      {"--dragonfly-global", {"dragonfly"}},
      {"--rails", {"rail-optimised"}},
      {"--racks-per-unit", {"rail-optimised"}},
      {"--racks", {"nvl72"}},
      {"--racks-per-pod", {"torus-pods"}},
      {"--scale-up-gbps", {"nvl72", "torus-pods"}}};
  return options;
}

// What a server template says is not said again, and the type of its GPUs is that of --servers.
std::optional<std::string> use_template(const Command& command, GeneratorOptions& shape) {
  if (shape.server_template.empty()) return std::nullopt;
  for (const char* option : {"--gpus", "--gpu-type", "--island", "--cpus", "--memory-gib",
                             "--nic-gbps", "--nvlink-gbps", "--pcie-gbps"}) {
    if (command.given(option))
      return std::string(option) + " is given by --server-template; leave one of them out";
  }
  if (const auto known = known_server_template(shape.server_template))
    shape.gpu_type = known->gpu_type;
  return std::nullopt;
}

/// As many servers as its levels hold.
std::uint32_t full_bcube(const GeneratorOptions& shape) {
  std::uint64_t servers = 1;
  for (std::uint32_t l = 0; l < shape.bcube_levels; ++l)
    servers = std::min<std::uint64_t>(servers * shape.bcube_ports, Limits{}.gpus_total);
  return static_cast<std::uint32_t>(servers);
}

int make(const Command& command, Options& options) {
  const std::string where = "topology generate: ";
  GeneratorOptions& shape = options.shape;
  if (const auto wrong = wrong_for_kind(command, options.kind, kKinds, kind_options()))
    return bad_input(where + *wrong);
  if (options.out.empty()) return bad_input(where + "-o FILE is missing");
  if (const auto wrong = use_template(command, shape)) return bad_input(where + *wrong);
  if (options.kind == "nvl72") {
    shape.groups.clear();  // it counts racks
  } else if (command.given("--bcube-levels") && !command.given("--servers")) {
    shape.groups.clear();
    shape.servers = full_bcube(shape);
  } else if (command.given("--k") && !command.given("--servers")) {
    shape.servers = 0;
  } else {
    auto groups = parse_server_groups(options.servers, shape.gpu_type);
    if (!groups) return bad_input(where + "--servers: " + groups.error().message);
    shape.groups = groups.value();
  }
  auto made = generate(options.kind, shape);
  if (!made) {
    return made.error().code == Errc::invalid ? bad_input(where + made.error().message)
                                              : failed(made.error());
  }
  if (auto good = check_edited_file(options.out, to_yaml(made.value()), options.force); !good)
    return bad_input(where + "-o: " + good.error().message);
  if (auto written = save_topology(made.value(), options.out); !written.ok())
    return failed(written.error());
  std::fprintf(stderr, "%s: %s\n", options.out.c_str(), topology_line(made.value()).c_str());
  return kDone;
}

void add_server_options(const Command& command, GeneratorOptions& g) {
  command.option(
      "--server-template", g.server_template, "NAME",
      "dgx-1, dgx-2, dgx-a100, dgx-h100, 4xt4, 8xa10, gb200-nvl72 or tpu-v4, instead of the "
      "eight below");
  command.option("--gpus", g.gpus_per_server, "G", "per server (default 8)", 1U, 256U);
  command.option("--gpu-type", g.gpu_type, "NAME", "where --servers names none (default V100)");
  command.option("--island", g.gpus_per_island, "N", "GPUs joined by NVLink (default 4)", 1U,
                 1024U);
  command.option("--cpus", g.cpus, "X", "per server (default 64)", 0.0);
  command.option("--memory-gib", g.memory_gib, "X", "per server (default 512)", 0.0);
  command.option("--nic-gbps", g.nic_gbps, "X", "per server (default 100)", 0.0);
  command.option("--nvlink-gbps", g.nvlink_gbps, "X", "within an island (default 400)", 0.0);
  command.option("--pcie-gbps", g.pcie_gbps, "X", "between islands of a server (default 128)", 0.0);
}

void add_network_options(const Command& command, GeneratorOptions& g) {
  command.option("--rack", g.servers_per_rack, "N",
                 "leaf-spine, vl2, rail-optimised, torus-pods: servers per rack (default 8)", 1U,
                 65'536U);
  command.option("--spines", g.spines, "N",
                 "leaf-spine, rail-optimised, nvl72, torus-pods: spine switches (default 4)", 1U,
                 4096U);
  command.option("--uplink-gbps", g.uplink_gbps, "X",
                 "of one link between switches; default: not oversubscribed", 0.0);
  command.option("--latency-us", g.link_latency_us, "X", "of every link (default 1)", 0.0, true);
  command.option("--k", g.fat_tree_k, "K",
                 "fat-tree: ports of a switch; default: the smallest that fits. Without --servers "
                 "it is full",
                 2U, 256U);
  command.option("--vl2-aggregation-ports", g.vl2_aggregation_ports, "N",
                 "vl2: D_A, even; default: the smallest that fits", 2U, 512U);
  command.option("--vl2-intermediate-ports", g.vl2_intermediate_ports, "N",
                 "vl2: D_I, even; default: equal to D_A", 2U, 512U);
  command.option("--bcube-ports", g.bcube_ports, "N", "bcube: of a switch (default 8)", 2U, 1024U);
  command.option("--bcube-levels", g.bcube_levels, "N", "bcube; default: the fewest that fit", 1U,
                 8U);
  command.option("--dragonfly-hosts", g.dragonfly_hosts, "P",
                 "dragonfly: servers of a router; default: balanced, P = H", 1U, 4096U);
  command.option("--dragonfly-routers", g.dragonfly_routers, "A",
                 "dragonfly: routers of a group; default: balanced, A = 2 H", 1U, 4096U);
  command.option("--dragonfly-global", g.dragonfly_global, "H",
                 "dragonfly: links of a router to other groups; default: the fewest that fit", 1U,
                 4096U);
  command.option("--rails", g.rails, "N", "rail-optimised; default: one for each GPU of a server",
                 1U, 1024U);
  command.option("--racks-per-unit", g.racks_per_unit, "N",
                 "rail-optimised: racks that share rail switches (default 8)", 1U, 65'536U);
  command.option("--racks", g.racks, "N",
                 "nvl72: racks of 18 trays of 4 GPUs, a scale-up domain each (default 4)", 1U,
                 65'536U);
  command.option("--racks-per-pod", g.racks_per_pod, "N",
                 "torus-pods: racks of a pod, which is a scale-up domain (default 8)", 1U, 65'536U);
  command.option("--scale-up-gbps", g.scale_up_gbps, "X",
                 "nvl72, torus-pods: of each GPU in its domain; default: that of NVLink", 0.0);
}

}  // namespace

void add_topology_generate(const Command& topology) {
  const auto o = std::make_shared<Options>();
  const Command command = topology.sub("generate", "make a data centre");
  command.positional(
      "KIND", o->kind,
      "flat, leaf-spine, fat-tree, vl2, bcube, dragonfly, rail-optimised, nvl72 or torus-pods");
  command.option("--servers", o->servers, "N|N:TYPE,..",
                 "how many, or groups of GPU types: 8:V100,16:P100 (default 64)");
  command.option("-o,--out", o->out, "FILE", "where to");
  command.flag("--force", o->force, kForceHelp);
  command.option("--name", o->shape.name, "NAME", "default: leaf-spine-64x8 and the like");
  add_server_options(command, o->shape);
  add_network_options(command, o->shape);
  command.examples(
      {"starling topology generate leaf-spine --servers 8:V100,16:P100 --gpus 4 -o cluster.yaml",
       "starling topology generate fat-tree --k 8 -o cluster.yaml",
       "starling topology generate rail-optimised --servers 128 --server-template dgx-h100 -o "
       "cluster.yaml",
       "starling topology generate nvl72 --racks 8 -o cluster.yaml",
       "starling topology generate torus-pods --servers 128 --server-template tpu-v4 -o "
       "cluster.yaml",
       "starling topology generate dragonfly --servers 72 --dragonfly-global 2 -o cluster.yaml"});
  command.action([command, o] { return make(command, *o); });
}

}  // namespace starling
