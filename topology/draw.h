#pragma once

#include <cstdint>
#include <string>

#include "topology/topology.h"

namespace starling {

struct DrawOptions {
  double width = 1200;          ///< pixels after which rows wrap
  std::uint32_t each_max = 8;   ///< up to so many racks of a pod or servers of a rack are all drawn
  std::uint32_t kinds_max = 6;  ///< kinds beyond which only the rest's number is said
};

/// An SVG for people: core switches on top, below them pods, racks and servers with their GPUs,
/// coloured by type and outlined by island. Where there are many, neighbours that are alike are
/// drawn once with their number, so 100 000 GPUs make a small picture. Links are labelled number x
/// Gbit/s. Light or dark as the reader prefers.
[[nodiscard]] std::string draw_svg(const Topology& topology, const DrawOptions& options = {});

}  // namespace starling
