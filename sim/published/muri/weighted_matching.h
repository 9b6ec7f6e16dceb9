// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace starling {

/// What no node is matched with.
inline constexpr std::size_t kUnmatched = static_cast<std::size_t>(-1);

/// A matching of the greatest weight among `nodes` nodes, by Edmonds' blossoms with dual variables
/// in O(nodes^3). `weight(u, v)`, 0 where u and v may not be matched, is asked once for each
/// ordered pair, and is the same for both orders but for rounding. The result has each node's mate,
/// or kUnmatched.
///
/// Among equally heavy matchings it takes the one that Muri's published program takes: free nodes
/// are searched from in order, each looks at its neighbours in order, and what is within 1e-5 of
/// the last dual ends the search. So the weight may be a little below the greatest. Boost's
/// maximum_weighted_matching (1.74) does not return on dense graphs of 64 nodes with few weights.
[[nodiscard]] std::vector<std::size_t> heaviest_matching(
    std::size_t nodes, const std::function<double(std::size_t, std::size_t)>& weight);

}  // namespace starling
