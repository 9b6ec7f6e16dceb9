// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/short_number.h"
#include "launch/commands/slurm/slurm_jobs.h"
#include "launch/commands/slurm/slurm_nodes.h"
#include "launch/commands/slurm/slurm_options.h"

namespace starling {
namespace {

using Takes = SlurmOption::Takes;
constexpr SlurmOption kKnown[] = {{'h', "noheader"},
                                  {'N', "Node"},
                                  {'l', "long"},
                                  {'a', "all"},
                                  {'n', "nodes", Takes::value},
                                  {'o', "format", Takes::value}};

/// Servers that look alike in a line.
struct Group {
  const SlurmNode* first;
  Words names;
};

std::optional<std::string> cell(const Group& group, char letter) {
  const SlurmNode& node = *group.first;
  switch (letter) {
    case 'P':
      return "all*";
    case 'R':
      return "all";
    case 'a':
      return "up";
    case 'l':
      return "infinite";
    case 'D':
      return std::to_string(group.names.size());
    case 't':
      return node.shortly;
    case 'T':
      return node.state;
    case 'N':
    case 'n':
      return host_list(group.names);
    case 'c':
      return std::to_string(static_cast<std::uint64_t>(node.cpus));
    case 'm':
      return std::to_string(static_cast<std::uint64_t>(node.memory_gib * 1024));
    case 'G':
      return "gpu:" + (node.gpu_type.empty() ? "" : node.gpu_type + ":") +
             std::to_string(node.gpus);
    case 'E':
      return node.drained ? "drained by an operator" : "none";
    default:
      return std::nullopt;
  }
}

const std::map<char, const char*>& headings() {
  static const std::map<char, const char*> all{
      {'P', "PARTITION"}, {'R', "PARTITION"}, {'a', "AVAIL"},    {'l', "TIMELIMIT"}, {'D', "NODES"},
      {'t', "STATE"},     {'T', "STATE"},     {'N', "NODELIST"}, {'n', "HOSTNAMES"}, {'c', "CPUS"},
      {'m', "MEMORY"},    {'G', "GRES"},      {'E', "REASON"}};
  return all;
}

}  // namespace

int run_sinfo(const Words& words) {
  const auto said = read_slurm_words("sinfo", kKnown, words);
  if (!said) return slurm_error("sinfo", said.error().message);
  if (!said.value().words.empty())
    return slurm_error("sinfo", "'" + said.value().words.front() + "' is not expected");
  const bool each = said.value().has("Node");
  std::string format = each ? "%10N %.6D %.9P %.5t" : "%9P %.5a %.10l %.6D %.6t %N";
  if (said.value().has("format")) format = said.value().text("format");
  const auto heading = slurm_line(format, [](char letter) -> std::optional<std::string> {
    const auto at = headings().find(letter);
    return at == headings().end() ? std::nullopt : std::optional<std::string>(at->second);
  });
  if (!heading) return slurm_error("sinfo", heading.error().message);
  const auto flock = slurm_flock("sinfo");
  if (flock == nullptr) return 1;
  const auto nodes = slurm_nodes("sinfo", *flock);
  if (!nodes) return 1;
  std::set<std::string> only;
  if (said.value().has("nodes")) {
    const auto named = hosts_in(said.value().text("nodes"));
    if (!named) return slurm_error("sinfo", "--nodes is no list of servers");
    only.insert(named->begin(), named->end());
  }
  std::vector<Group> groups;
  std::map<std::string, std::size_t> at;
  for (const SlurmNode& node : *nodes) {
    if (!only.empty() && !only.contains(node.name)) continue;
    if (each) {
      groups.push_back({&node, {node.name}});
      continue;
    }
    // What the line says of it, but for its name.
    Group alone{&node, {""}};
    const auto looks = slurm_line(format, [&](char letter) { return cell(alone, letter); });
    const auto [known, first] = at.try_emplace(node.state + looks.value(), groups.size());
    if (first) groups.push_back({&node, {}});
    groups[known->second].names.push_back(node.name);
  }
  if (!said.value().has("noheader")) std::printf("%s\n", heading.value().c_str());
  for (const Group& group : groups) {
    const auto line = slurm_line(format, [&](char letter) { return cell(group, letter); });
    std::printf("%s\n", line.value().c_str());
  }
  return 0;
}

}  // namespace starling
