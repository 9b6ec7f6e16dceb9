// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace starling {

/// What a gateway has answered, for its own figures.
struct RequestCounts {
  /// Upper ends of the histogram's bins, in seconds; what takes longer is in the last one.
  static constexpr std::array<double, 9> kBins{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10};

  std::map<std::pair<std::string, unsigned>, std::uint64_t> by_route;  ///< its id, and the status
  std::array<std::uint64_t, kBins.size() + 1> bins{};
  double seconds = 0;
  std::uint64_t connections = 0;  ///< that are open
  std::uint64_t refused_connections = 0;

  void add(const std::string& route, unsigned status, double took_s) {
    ++by_route[{route, status}];
    seconds += took_s;
    std::size_t bin = 0;
    while (bin < kBins.size() && took_s > kBins[bin]) ++bin;
    ++bins[bin];
  }
};

}  // namespace starling
