// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "topology/topology.h"

namespace starling {

struct DrawOptions {
  double width = 1200;  ///< pixels after which rows wrap
  /// Those that are alike are drawn once where there are more than so many servers in a rack
  /// or racks in a pod, or more than twice as many racks in all.
  std::uint32_t each_max = 8;
  std::uint32_t kinds_max = 6;  ///< kinds beyond which only the rest's number is said
};

/// An SVG for people: core switches on top, below them pods, racks and servers with their GPUs,
/// coloured by type and outlined by island. Where there are many, those that are alike are
/// drawn once with their number, so 100 000 GPUs make a small picture. Links are labelled number x
/// Gbit/s. Light or dark as the reader prefers.
[[nodiscard]] std::string draw_svg(const Topology& topology, const DrawOptions& options = {});

}  // namespace starling
