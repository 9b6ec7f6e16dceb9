#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/commands/commands.h"
#include "launch/exit_codes.h"
#include "launch/text.h"
#include "topology/describe.h"
#include "topology/generate.h"
#include "topology/load.h"
#include "topology/partition.h"

namespace starling {
namespace {

struct FileOptions {
  std::string file, out;
  bool json = false;
  std::uint32_t agents = 1;
};
struct MakeOptions {
  std::string kind, servers = "64", out;
  GeneratorOptions shape;
};

std::string amount(std::uint64_t n, const std::string& thing) {
  return with_commas(n) + " " + thing + (n == 1 ? "" : "s");
}

std::map<std::string, std::uint32_t> gpus_by_type(const Topology& topology) {
  std::map<std::string, std::uint32_t> count;
  for (const Server& server : topology.servers()) {
    if (server.gpus.size() > 0)
      count[topology.gpu_types()[server.gpu_type.value].name] += server.gpus.size();
  }
  return count;
}

std::string one_line(const Topology& topology) {
  std::map<Level, std::uint32_t> levels;
  for (const Subtree& subtree : topology.subtrees()) ++levels[subtree.level];
  std::string types;
  for (const auto& [type, gpus] : gpus_by_type(topology))
    types += (types.empty() ? "" : ", ") + with_commas(gpus) + " " + type;
  return topology.name() + ": " + amount(levels[Level::pod], "pod") + ", " +
         amount(levels[Level::rack], "rack") + ", " + amount(topology.server_count(), "server") +
         ", " + amount(topology.gpu_count(), "GPU") + (types.empty() ? "" : " (" + types + ")") +
         ", " + amount(topology.network_links().size(), "network link");
}

int show(const FileOptions& options) {
  auto read = load_topology(options.file);
  if (!read) return bad_input(read.error().message);
  const Topology& t = read.value();
  if (options.json) {
    const nlohmann::json out{{"schema", 1},
                             {"name", t.name()},
                             {"servers", t.server_count()},
                             {"gpus", t.gpu_count()},
                             {"gpu_types", gpus_by_type(t)},
                             {"links", t.network_links().size()}};
    std::printf("%s\n", out.dump(1).c_str());
    return kDone;
  }
  std::fputs(describe(t).c_str(), stdout);
  std::vector<std::vector<std::string>> rows{{"subtree", "servers", "GPUs"}};
  for (const Subtree& s : t.subtrees()) {
    const std::size_t depth = static_cast<std::size_t>(s.level);
    rows.push_back({std::string(depth * 2, ' ') + name_of(s.level) + " " + s.name,
                    with_commas(s.servers.size()), with_commas(s.gpus.size())});
  }
  std::fputs(table_text(rows).c_str(), stdout);
  return kDone;
}

int check(const FileOptions& options) {
  auto read = load_topology(options.file);
  if (!read) return bad_input(read.error().message);
  std::printf("%s: %s\n", options.file.c_str(), one_line(read.value()).c_str());
  bool right = true;
  for (const Finding& finding : check_topology(read.value())) {
    const bool error = finding.severity == Finding::Severity::error;
    std::printf("%s: %s\n", error ? "error" : "warning", finding.message.c_str());
    right = right && !error;
  }
  return right ? kDone : kBadInput;
}

int import(const FileOptions& options) {
  if (options.out.empty()) return bad_input("topology import: -o FILE is missing");
  auto read = load_topology(options.file);
  if (!read) return bad_input(read.error().message);
  if (auto written = save_topology(read.value(), options.out); !written.ok())
    return failed(written.error());
  std::fprintf(stderr, "%s: %s\n", options.out.c_str(), one_line(read.value()).c_str());
  return kDone;
}

int cut(const FileOptions& options) {
  auto read = load_topology(options.file);
  if (!read) return bad_input(read.error().message);
  const Topology& t = read.value();
  auto parts = partition(t, options.agents);
  if (!parts) return failed(parts.error());
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Partition& p : parts.value()) {
      list.push_back({{"partition", p.id.value},
                      {"servers", {p.servers.first, p.servers.last}},
                      {"gpus", {p.gpus.first, p.gpus.last}}});
    }
    std::printf("%s\n", nlohmann::json{{"schema", 1}, {"partitions", list}}.dump(1).c_str());
    return kDone;
  }
  std::vector<std::vector<std::string>> rows{
      {"partition", "servers", "GPUs", "first server", "last server"}};
  for (const Partition& p : parts.value()) {
    rows.push_back({std::to_string(p.id.value), with_commas(p.servers.size()),
                    with_commas(p.gpus.size()), t.server(ServerId{p.servers.first}).name,
                    t.server(ServerId{p.servers.last - 1}).name});
  }
  std::fputs(table_text(rows).c_str(), stdout);
  return kDone;
}

int make(MakeOptions& options) {
  if (options.out.empty()) return bad_input("topology generate: -o FILE is missing");
  auto groups = parse_server_groups(options.servers, options.shape.gpu_type);
  if (!groups) return bad_input("topology generate: --servers: " + groups.error().message);
  options.shape.groups = groups.value();
  auto made = generate(options.kind, options.shape);
  if (!made) return failed(made.error());
  if (auto written = save_topology(made.value(), options.out); !written.ok())
    return failed(written.error());
  std::fprintf(stderr, "%s: %s\n", options.out.c_str(), one_line(made.value()).c_str());
  return kDone;
}

}  // namespace

void add_topology(const Command& root) {
  const Command command = root.sub("topology", "make, check, import, show and cut data centres");
  const auto file_command = [&](const char* name, const char* help, auto action) {
    const auto options = std::make_shared<FileOptions>();
    const Command sub = command.sub(name, help);
    sub.positional("FILE", options->file, "YAML, or a list of servers in CSV");
    sub.action([options, action] { return action(*options); });
    return std::pair(sub, options);
  };
  auto [show_command, s] = file_command("show", "the tree and its sizes", show);
  show_command.flag("--json", s->json, "only JSON on stdout");
  file_command("check", "is the file right?", check);
  auto [import_command, i] = file_command("import", "turn any known file into YAML", import);
  import_command.option("-o,--out", i->out, "FILE", "where to");
  auto [cut_command, c] = file_command("partition", "who would own what", cut);
  cut_command.option("--agents", c->agents, "N", "how many partitions (default 1)", 1U, 4096U);
  cut_command.flag("--json", c->json, "only JSON on stdout");

  const auto m = std::make_shared<MakeOptions>();
  GeneratorOptions& g = m->shape;
  const Command make_command = command.sub("generate", "make a data centre");
  make_command.positional("KIND", m->kind, "flat, leaf-spine or fat-tree");
  make_command.option("--servers", m->servers, "N|N:TYPE,..",
                      "how many, or groups of GPU types: 8:V100,16:P100 (default 64)");
  make_command.option("--gpus", g.gpus_per_server, "G", "per server (default 8)", 1U, 1024U);
  make_command.option("--gpu-type", g.gpu_type, "NAME",
                      "where --servers names none (default V100)");
  make_command.option("--rack", g.servers_per_rack, "N", "servers per rack (default 8)", 1U,
                      65'536U);
  make_command.option("--spines", g.spines, "N", "leaf-spine: spine switches (default 4)", 1U,
                      4096U);
  make_command.option("--nic-gbps", g.nic_gbps, "X", "per server (default 100)", 0.0);
  make_command.option("--k", g.fat_tree_k, "K",
                      "fat-tree: ports of a switch; default: the smallest that fits", 2U, 256U);
  make_command.option("--name", g.name, "NAME", "default: leaf-spine-64x8 and the like");
  make_command.option("-o,--out", m->out, "FILE", "where to");
  make_command.action([m] { return make(*m); });
}

}  // namespace starling
