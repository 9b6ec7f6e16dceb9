// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/co_tenant.h"

namespace starling {

/// A gang over several partitions, for which free GPUs are not enough.
struct SharingGang {
  std::uint32_t gpus = 0;    ///< of all of it
  std::uint32_t free = 0;    ///< that it can have for itself
  std::uint32_t worker = 1;  ///< GPUs of a worker
  double alone = 0;          ///< its speed if it shared none; relative, as Speed
  double least = 0;          ///< speed that it must add net of what others lose, for each GPU
};

/// With whom the gang is to share, as Policy::choose_tenants(). Workers wait for one another, so
/// the gang is as fast as beside the worst of them: gain = gpus * alone * least speed - sum of
/// losses, as Candidate::gain. The largest gain that is at least gpus * least; of equals that
/// beside the faster. None: nothing is worth it, or there are too few. O(n^2).
[[nodiscard]] std::vector<std::size_t> choose_co_tenants(const SharingGang& gang,
                                                         std::span<const CoTenant> offered);

}  // namespace starling
