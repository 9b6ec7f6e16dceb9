// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/command_line/topology_line.h"
#include "launch/commands/commands.h"
#include "launch/system/text.h"
#include "topology/describe.h"
#include "topology/file/load.h"
#include "topology/partition.h"

namespace starling {
namespace {

struct FileOptions {
  std::string file, out;
  bool json = false, force = false;
  std::uint32_t agents = 1;
};

void add_sizes(const Topology& topology, nlohmann::json& out) {
  out["name"] = topology.name();
  out["servers"] = topology.server_count();
  out["gpus"] = topology.gpu_count();
  out["scale_up_domains"] = topology.domains().size();
  out["gpu_types"] = gpus_by_type(topology);
  out["links"] = topology.network_links().size();
}

nlohmann::json lines_of(const std::string& text) {
  nlohmann::json lines = nlohmann::json::array();
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

int show(const FileOptions& options) {
  auto read = load_topology(options.file);
  if (!read) return bad_input(read.error().message);
  const Topology& t = read.value();
  if (options.json) {
    nlohmann::json out{{"schema", 1}};
    add_sizes(t, out);
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

/// {"right": yes or no, "errors": [...], "warnings": [...]}, and the sizes of a file that reads.
int check_json(const FileOptions& options) {
  const auto read = load_topology(options.file);
  nlohmann::json errors = nlohmann::json::array(), warnings = nlohmann::json::array();
  nlohmann::json out{{"schema", 1}, {"file", options.file}};
  if (!read) {
    errors = lines_of(read.error().message);
  } else {
    for (const Finding& finding : check_topology(read.value()))
      (finding.severity == Finding::Severity::error ? errors : warnings).push_back(finding.message);
    add_sizes(read.value(), out);
  }
  const bool right = errors.empty();
  out["right"] = right;
  out["errors"] = std::move(errors);
  out["warnings"] = std::move(warnings);
  std::printf("%s\n", out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return right ? kDone : kBadInput;
}

int check(const FileOptions& options) {
  if (options.json) return check_json(options);
  auto read = load_topology(options.file);
  if (!read) return bad_input(read.error().message);
  std::printf("%s: %s\n", options.file.c_str(), topology_line(read.value()).c_str());
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
  std::vector<std::string> remarks;
  for (const std::string& line : assumed_of(options.file)) remarks.push_back("assumed: " + line);
  const std::size_t assumed = remarks.size();
  if (assumed > 0) remarks.push_back("Edit what is not so.");
  if (auto good = check_edited_file(options.out, to_yaml(read.value(), remarks), options.force);
      !good)
    return bad_input("topology import: -o: " + good.error().message);
  if (auto written = save_topology(read.value(), options.out, remarks); !written.ok())
    return failed(written.error());
  for (std::size_t i = 0; i < assumed; ++i) std::fprintf(stderr, "%s\n", remarks[i].c_str());
  std::fprintf(stderr, "%s: %s\n", options.out.c_str(), topology_line(read.value()).c_str());
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

}  // namespace

void add_topology(const Command& root) {
  const Command command =
      root.sub("topology", "find, make, check, import, show, draw and cut data centres");
  const auto file_command = [&](const char* name, const char* help, auto action) {
    const auto options = std::make_shared<FileOptions>();
    const Command sub = command.sub(name, help);
    sub.positional("FILE", options->file, "YAML, or a list of servers in CSV");
    sub.action([options, action] { return action(*options); });
    return std::pair(sub, options);
  };
  auto [show_command, s] = file_command("show", "the tree and its sizes", show);
  show_command.flag("--json", s->json, "only JSON on stdout");
  auto [check_command, k] = file_command("check", "is the file right?", check);
  check_command.flag("--json", k->json, "only JSON on stdout, mistakes too");
  auto [import_command, i] = file_command("import", "turn any known file into YAML", import);
  import_command.option("-o,--out", i->out, "FILE", "where to");
  import_command.flag("--force", i->force, kForceHelp);
  auto [cut_command, c] = file_command("partition", "which agent would own what", cut);
  cut_command.option("--agents", c->agents, "N", "how many partitions (default 1)", 1U, 4096U);
  cut_command.flag("--json", c->json, "only JSON on stdout");

  add_topology_discover(command);
  add_topology_generate(command);
  add_topology_draw(command);
  add_topology_state(command);
  show_command.examples({"starling topology show cluster.yaml"});
  import_command.examples({"starling topology import servers.csv -o cluster.yaml"});
  check_command.examples({"starling topology check cluster.yaml"});
  cut_command.examples({"starling topology partition cluster.yaml --agents 4"});
}

}  // namespace starling
