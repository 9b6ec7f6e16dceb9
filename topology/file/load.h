// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

/// Reads a topology file: ours (docs/topology-format.md), or what an importer knows, told apart by
/// its content: node lists (openb, PAI, spot), Lingjun's table, NCCL's and hwloc's XML, `nvidia-smi
/// topo -m`, topograph, HiveD, Slurm's topology.conf and topology.yaml (with the gres.conf that
/// stands beside it). `io` if it
/// cannot be read; `invalid` with one line per mistake: "file:line:column: what is wrong; what
/// would be right".
[[nodiscard]] Result<Topology> load_topology(const std::string& path);

/// What load_topology takes for granted about the file at `path` because such files do not say it,
/// a sentence each that begins with the keys of ours; empty for our own YAML.
[[nodiscard]] std::vector<std::string> assumed_of(const std::string& path);

/// The same for text at hand; `file_name` is for messages, and names a topology that has no name.
[[nodiscard]] Result<Topology> parse_topology(const std::string& text,
                                              const std::string& file_name);
/// Our YAML only.
[[nodiscard]] Result<Topology> parse_topology_yaml(const std::string& text,
                                                   const std::string& file_name);

/// Our YAML, with counts and network rules where the topology is regular. Reads back equal,
/// provided that names are unique and hold no "{}".
[[nodiscard]] std::string to_yaml(const Topology& topology);
/// The same, below `remarks` as comments.
[[nodiscard]] std::string to_yaml(const Topology& topology,
                                  const std::vector<std::string>& remarks);
/// The latter into a file. `io` if it cannot be written.
[[nodiscard]] Status save_topology(const Topology& topology, const std::string& path,
                                   const std::vector<std::string>& remarks = {});

}  // namespace starling
