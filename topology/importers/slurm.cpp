// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/slurm.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <sstream>

#include "base/lower_case.h"
#include "topology/importers/host_list.h"
#include "topology/importers/switch_tree.h"
#include "topology/reading/yaml_reader.h"

namespace starling {
namespace {

struct ConfLine {
  int line = 0;
  std::map<std::string, std::string> values;  // keys in lower case
};

// Slurm's Key=Value lines; '#' begins a comment, a backslash at the end continues the line.
std::vector<ConfLine> conf_lines(const std::string& text) {
  std::vector<ConfLine> lines;
  std::istringstream in(text);
  std::string joined;
  int number = 0;
  int began = 1;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (joined.empty()) began = number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    line = line.substr(0, line.find('#'));
    const bool goes_on = !line.empty() && line.back() == '\\';
    if (goes_on) line.pop_back();
    joined += line + " ";
    if (goes_on) continue;
    ConfLine made{began, {}};
    std::istringstream words(joined);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      made.values[lower_case(word.substr(0, equals))] =
          equals == std::string::npos ? "" : word.substr(equals + 1);
    }
    if (!made.values.empty()) lines.push_back(std::move(made));
    joined.clear();
  }
  return lines;
}

std::vector<std::string> hosts(const std::string& text, SourcePlace place,
                               Diagnostics& diagnostics) {
  auto names = expand_hosts(text);
  if (names.ok()) return names.value();
  diagnostics.add(place, names.error().message);
  return {};
}

std::string value_of(const ConfLine& line, const char* key) {
  const auto at = line.values.find(key);
  return at == line.values.end() ? "" : at->second;
}

std::uint32_t gpus_of(const ConfLine& line, Diagnostics& diagnostics) {
  const std::string count = value_of(line, "count");
  if (!count.empty()) {
    std::uint32_t n = 0;
    const auto read = std::from_chars(count.data(), count.data() + count.size(), n);
    constexpr std::uint32_t most = 256;
    if (read.ec == std::errc{} && read.ptr == count.data() + count.size() && n <= most) return n;
    diagnostics.add({line.line, 0}, "Count is '" + count + "'; write a number from 0 to 256");
    return 0;
  }
  const std::string file = value_of(line, "file");
  if (file.empty()) return 1;
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(256, hosts(file, {line.line, 0}, diagnostics).size()));
}

std::map<std::string, NodeHardware> read_gres(const std::string& text, const SwitchTree& tree,
                                              Diagnostics& diagnostics) {
  std::map<std::string, NodeHardware> hardware;
  std::map<std::string, std::vector<std::string>> cores;  // by node, of each socket
  for (const ConfLine& line : conf_lines(text)) {
    if (lower_case(value_of(line, "name")) != "gpu") continue;
    const std::uint32_t gpus = gpus_of(line, diagnostics);
    const std::string type = value_of(line, "type").empty() ? "V100" : value_of(line, "type");
    std::vector<std::string> nodes;
    if (value_of(line, "nodename").empty()) {
      for (const SwitchTree::Switch& each : tree.switches) {
        nodes.insert(nodes.end(), each.nodes.begin(), each.nodes.end());
      }
    } else {
      nodes = hosts(value_of(line, "nodename"), {line.line, 0}, diagnostics);
    }
    for (const std::string& node : nodes) {
      NodeHardware& there = hardware[node];
      if (!there.gpu_type.empty() && there.gpu_type != type) {
        diagnostics.add({line.line, 0}, "node '" + node + "' has GPUs of types " + there.gpu_type +
                                            " and " + type +
                                            "; a server holds one type, so leave one out");
        break;
      }
      there.gpu_type = type;
      auto& known = cores[node];
      const auto at = std::find(known.begin(), known.end(), value_of(line, "cores"));
      if (at == known.end()) {
        known.push_back(value_of(line, "cores"));
        there.gpus_by_socket.push_back(gpus);
      } else {
        there.gpus_by_socket[static_cast<std::size_t>(at - known.begin())] += gpus;
      }
    }
  }
  if (hardware.empty() && !diagnostics.any()) {
    diagnostics.add({1, 0},
                    "no line Name=gpu; write one, such as NodeName=n[1-4] Name=gpu "
                    "Type=a100 Count=8");
  }
  return hardware;
}

Result<Topology> finish(const SwitchTree& tree, const std::string& file_name,
                        Diagnostics& diagnostics, const std::string& gres_text,
                        const std::string& gres_name) {
  SwitchTreeOptions options;
  if (!gres_text.empty()) {
    Diagnostics gres_diagnostics(gres_name);
    options.hardware = read_gres(gres_text, tree, gres_diagnostics);
    if (gres_diagnostics.any()) return gres_diagnostics.error();
  }
  return build_switch_tree(tree, file_name, diagnostics, options);
}

bool line_begins(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const bool same = line.size() > word.size() &&
                      std::equal(word.begin(), word.end(), line.begin(), [](char a, char b) {
                        return a == std::tolower(static_cast<unsigned char>(b));
                      });
    if (same) return true;
    at = end + 1;
  }
  return false;
}

// A mapping's scalar, or "".
std::string scalar(const YAML::Node& node, const char* key) {
  const YAML::Node value = child_of(node, key);
  return value.IsScalar() ? value.Scalar() : "";
}

void read_yaml_switches(const YAML::Node& list, const char* name_key, SwitchTree& tree,
                        Diagnostics& diagnostics) {
  if (!list.IsSequence()) {
    diagnostics.add(place_of(list),
                    std::string("write a list of {") + name_key + ": NAME, nodes: HOSTS}");
    return;
  }
  for (const YAML::Node& node : list) {
    SwitchTree::Switch made{scalar(node, name_key), {}, {}, place_of(node)};
    if (made.name.empty()) {
      diagnostics.add(made.place,
                      std::string("an entry lacks its name; add ") + name_key + ": NAME");
    }
    const std::string children = scalar(node, "children");
    const std::string nodes = scalar(node, "nodes");
    if (!children.empty()) made.children = hosts(children, made.place, diagnostics);
    if (!nodes.empty()) made.nodes = hosts(nodes, made.place, diagnostics);
    tree.switches.push_back(std::move(made));
  }
}

}  // namespace

bool is_slurm_conf(std::string_view text) noexcept {
  return line_begins(text, "switchname=") || line_begins(text, "blockname=");
}

bool is_slurm_yaml(std::string_view text) noexcept { return line_begins(text, "- topology:"); }

Result<Topology> import_slurm_conf(const std::string& text, const std::string& file_name,
                                   const std::string& gres_text, const std::string& gres_name) {
  Diagnostics diagnostics(file_name);
  SwitchTree tree;
  for (const ConfLine& line : conf_lines(text)) {
    const SourcePlace place{line.line, 0};
    const bool block = line.values.count("blockname") > 0;
    if (!block && line.values.count("switchname") == 0) {
      if (line.values.count("blocksizes") > 0) continue;
      diagnostics.add(place,
                      "a line without SwitchName= or BlockName=; write "
                      "SwitchName=NAME Nodes=HOSTS or Switches=NAMES");
      continue;
    }
    SwitchTree::Switch made{value_of(line, block ? "blockname" : "switchname"), {}, {}, place};
    const std::string switches = value_of(line, "switches");
    const std::string nodes = value_of(line, "nodes");
    if (made.name.empty()) diagnostics.add(place, "the name is empty; write SwitchName=NAME");
    if (!switches.empty()) made.children = hosts(switches, place, diagnostics);
    if (!nodes.empty()) made.nodes = hosts(nodes, place, diagnostics);
    tree.switches.push_back(std::move(made));
  }
  return finish(tree, file_name, diagnostics, gres_text, gres_name);
}

Result<Topology> import_slurm_yaml(const std::string& text, const std::string& file_name,
                                   const std::string& gres_text, const std::string& gres_name) {
  Diagnostics diagnostics(file_name);
  SwitchTree tree;
  try {
    const YAML::Node root = YAML::Load(text);
    YAML::Node chosen;
    for (std::size_t i = 0; root.IsSequence() && i < root.size(); ++i) {
      const YAML::Node each = root[i];
      if (!child_of(each, "tree").IsMap() && !child_of(each, "block").IsMap()) continue;
      if (!chosen.IsMap() || scalar(each, "cluster_default") == "true") chosen.reset(each);
    }
    if (!chosen.IsMap()) {
      diagnostics.add({1, 1}, "there is no topology with a tree or blocks; write one");
    } else if (const YAML::Node by_switch = child_of(chosen, "tree"); by_switch.IsMap()) {
      read_yaml_switches(child_of(by_switch, "switches"), "switch", tree, diagnostics);
    } else {
      read_yaml_switches(child_of(child_of(chosen, "block"), "blocks"), "block", tree, diagnostics);
    }
  } catch (const YAML::Exception& e) {
    diagnostics.add({e.mark.line + 1, e.mark.column + 1}, "not valid YAML: " + e.msg);
  }
  return finish(tree, file_name, diagnostics, gres_text, gres_name);
}

}  // namespace starling
