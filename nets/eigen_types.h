// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cstddef>

namespace starling {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Eigen counts in signed numbers.
inline Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }

}  // namespace starling
