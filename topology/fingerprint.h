// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "topology/topology.h"

namespace starling {

/// A number for what two nodes must agree on before one may speak of the other's servers and GPUs:
/// the tree, and each server's name, number of GPUs and their type. Equal wherever those are equal,
/// on every machine and in every build; never 0. Not cryptographic. O(servers).
[[nodiscard]] std::uint64_t fingerprint_of(const Topology& topology);

}  // namespace starling
