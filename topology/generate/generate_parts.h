// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "topology/builder.h"
#include "topology/generate/generate.h"

namespace starling {

/// Servers by rack and racks by pod; 0 is not possible.
struct GeneratedShape {
  std::uint64_t servers_per_rack = 1;
  std::uint64_t racks_per_pod = 1;
};

/// Puts the server template's figures into the options, then says what cannot be.
[[nodiscard]] std::optional<Error> settle(GeneratorOptions& options);
[[nodiscard]] std::uint64_t servers_of(const GeneratorOptions& options);
/// The tree without a network. `kind` begins the name that is used where the options give none.
[[nodiscard]] TopologyBuilder lay_out(const GeneratorOptions& options, const std::string& kind,
                                      GeneratedShape shape);
/// A leaf per rack, each with a link to every spine. `invalid`: more links than can be.
[[nodiscard]] Result<NetworkPlan> leaf_spine_network(const GeneratorOptions& options);

}  // namespace starling
