// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "launch/experiment/experiment.h"
#include "launch/experiment/load_experiment.h"
#include "topology/reading/yaml_reader.h"

namespace starling {

/// What reading the parts of an experiment file needs.
struct ExperimentReader {
  Diagnostics& diagnostics;
  const std::filesystem::path& folder;  ///< where relative file names start
  const Variables& variables;

  /// The value of a key as a file name: variables replaced, relative to the folder.
  [[nodiscard]] std::string file(const YamlMap& map, const char* key) const;
  /// The queues of the file that `queues` names, at version 1; none: it names none.
  [[nodiscard]] std::optional<QueueTree> queues(const YamlMap& map) const;
  [[nodiscard]] Duration length(const YamlMap& map, const char* key) const;
  /// Variables in the value of a key of `node`, if it is one value, give way to theirs. Where one
  /// has none that is reported, and the key is gone.
  void put_variables(YAML::Node node, const char* key) const;
};

/// Entries of `topologies` and `workloads`: a mapping, or a file name alone.
[[nodiscard]] TopologySource read_topology_source(const ExperimentReader& reader,
                                                  const YAML::Node& node);
[[nodiscard]] WorkloadSource read_workload_source(const ExperimentReader& reader,
                                                  const YAML::Node& node);

/// Gives every source its split. Reported are: an item in two splits or in none, names that do not
/// exist, and two items of different splits that are the same or overlap. `splits` may be
/// undefined: then nothing happens.
void assign_splits(Diagnostics& diagnostics, const YAML::Node& splits, Experiment& experiment);

}  // namespace starling
