// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace starling {

/// Shares, speeds and amounts stand in messages as whole millionths: sums of them do not depend on
/// their order, nor on a machine's floating point.
constexpr double kMillion = 1e6;

}  // namespace starling
