// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include "launch/experiment/read_sources.h"

namespace starling {
namespace {

constexpr std::array<const char*, 3> kSplits = {"training", "validation", "evaluation"};

using Assigned = std::map<std::string, std::string>;  // item to split

void read_list(Diagnostics& diagnostics, const YamlMap& split, const std::string& split_name,
               const char* key, const std::vector<std::string>& known, Assigned& assigned) {
  for (const YAML::Node& node : split.list(key, false)) {
    const auto item = read_name(diagnostics, node, std::string("an entry of ") + key);
    if (!item) continue;
    if (std::find(known.begin(), known.end(), *item) == known.end()) {
      diagnostics.add(place_of(node), "split " + split_name + " names '" + *item +
                                          "', which is not among the " + key +
                                          suggestion(*item, known));
      continue;
    }
    const auto [before, fresh] = assigned.emplace(*item, split_name);
    if (!fresh) {
      diagnostics.add(place_of(node), "'" + *item + "' is in split " + before->second +
                                          " already; an item belongs to exactly one split");
    }
  }
}

template <class Source>
std::vector<std::string> names_of(const std::vector<Source>& sources) {
  std::vector<std::string> names;
  names.reserve(sources.size());
  for (const Source& source : sources) names.push_back(source.name);
  return names;
}

template <class Source>
void apply(Diagnostics& diagnostics, SourcePlace place, const char* key, const Assigned& assigned,
           std::vector<Source>& sources) {
  for (Source& source : sources) {
    const auto found = assigned.find(source.name);
    if (found != assigned.end()) {
      source.split = found->second;
    } else {
      diagnostics.add(place, "'" + source.name + "' is in no split; name it in the " + key +
                                 " of training, validation or evaluation");
    }
  }
}

bool same(const TopologySource& a, const TopologySource& b) {
  if (a.file != b.file) return false;
  if (!a.file.empty()) return true;
  const GeneratorOptions &x = a.options, &y = b.options;
  return a.generator == b.generator && x.groups == y.groups && x.servers == y.servers &&
         x.gpu_type == y.gpu_type && x.gpus_per_server == y.gpus_per_server &&
         x.servers_per_rack == y.servers_per_rack && x.spines == y.spines &&
         x.fat_tree_k == y.fat_tree_k && x.nic_gbps == y.nic_gbps &&
         x.uplink_gbps == y.uplink_gbps && x.server_template == y.server_template &&
         x.vl2_aggregation_ports == y.vl2_aggregation_ports &&
         x.vl2_intermediate_ports == y.vl2_intermediate_ports && x.bcube_ports == y.bcube_ports &&
         x.bcube_levels == y.bcube_levels && x.dragonfly_hosts == y.dragonfly_hosts &&
         x.dragonfly_routers == y.dragonfly_routers && x.dragonfly_global == y.dragonfly_global &&
         x.rails == y.rails && x.racks_per_unit == y.racks_per_unit;
}

bool same(const WorkloadSource& a, const WorkloadSource& b) {
  if (a.file != b.file) return false;
  if (a.file.empty()) {
    return a.generator == b.generator && a.jobs == b.jobs &&
           a.mean_duration_s == b.mean_duration_s && a.duration_max == b.duration_max;
  }
  const auto end = [](const WorkloadSource& w) {
    return w.length == Duration::zero() ? Duration::max() : w.from + w.length;
  };
  return a.from < end(b) && b.from < end(a);
}

/// Two names of different splits must not mean the same thing.
template <class Source>
void keep_apart(Diagnostics& diagnostics, SourcePlace place, const char* hint,
                const std::vector<Source>& sources) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (std::size_t j = i + 1; j < sources.size(); ++j) {
      const Source &a = sources[i], &b = sources[j];
      if (a.split == b.split || a.split.empty() || b.split.empty() || !same(a, b)) continue;
      diagnostics.add(place, "'" + a.name + "' (" + a.split + ") and '" + b.name + "' (" + b.split +
                                 ") share " + hint);
    }
  }
}

}  // namespace

void assign_splits(Diagnostics& diagnostics, const YAML::Node& splits, Experiment& experiment) {
  if (!splits.IsDefined()) return;
  const YamlMap map(diagnostics, splits, "splits", {kSplits.begin(), kSplits.end()});
  if (!splits.IsMap()) return;
  Assigned topologies, workloads;
  for (const char* name : kSplits) {
    if (!map.has(name)) continue;
    const YamlMap split(diagnostics, map.get(name), std::string("split ") + name,
                        {"topologies", "workloads"});
    read_list(diagnostics, split, name, "topologies", names_of(experiment.topologies), topologies);
    read_list(diagnostics, split, name, "workloads", names_of(experiment.workloads), workloads);
  }
  apply(diagnostics, map.place(), "topologies", topologies, experiment.topologies);
  apply(diagnostics, map.place(), "workloads", workloads, experiment.workloads);
  keep_apart(diagnostics, map.place(), "their hardware; splits are never mixed",
             experiment.topologies);
  keep_apart(diagnostics, map.place(),
             "jobs; give both a from and a length that do not overlap, or other generator options",
             experiment.workloads);
}

}  // namespace starling
