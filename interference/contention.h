// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "workload/catalogue.h"

namespace starling {

/// How much jobs slow one another: the part of IterationForm that is measured, not derived.
/// Implementations are pure and allocate nothing.
class Contention {
 public:
  virtual ~Contention() = default;
  /// Time added, as a part of that alone, to `own` by the others on one GPU of that kind: at least
  /// 0, and 0 without others.
  [[nodiscard]] virtual double on_gpu(const ModelProfile& own,
                                      std::span<const ModelProfile* const> others,
                                      GpuKind kind) const noexcept = 0;
  /// By how much `own` slows on a server whose jobs ask `ratio` times the cores that it has: at
  /// least 1, and 1 up to a ratio of 1.
  [[nodiscard]] virtual double on_host(const ModelProfile& own, double ratio) const noexcept = 0;
};

/// Sharing by the fitted form of interference/sharing.h, others' costs added; CPUs one for one.
[[nodiscard]] const Contention& fitted_contention() noexcept;

}  // namespace starling
