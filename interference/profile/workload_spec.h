// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace starling {

/// A kind of training step that the profiler can run, named by what bounds it.
struct WorkloadKind {
  std::string_view name;
  std::string_view bound_by;   ///< for people: "arithmetic", "memory bandwidth", ...
  std::string_view batch_is;   ///< what the batch size counts
  std::uint32_t small, large;  ///< batch sizes where none is given; `--quick` takes the small one
  std::uint32_t most;          ///< largest batch size that is accepted
};
[[nodiscard]] std::span<const WorkloadKind> workload_kinds();

/// One kind at one batch size.
struct WorkloadSpec {
  std::string kind;
  std::uint32_t batch = 0;
  auto operator<=>(const WorkloadSpec&) const = default;
};
/// "dense:64"
[[nodiscard]] std::string to_text(const WorkloadSpec& spec);

/// "dense,cache:4": kinds with both their batch sizes (with `quick` the small one), or at the one
/// that is named. Nothing: every kind. In the order given, without repeats. `invalid` names what is
/// no workload, or no batch size, and what there is.
[[nodiscard]] Result<std::vector<WorkloadSpec>> parse_workloads(std::string_view text, bool quick);

}  // namespace starling
