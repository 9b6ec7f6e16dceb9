// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scheduling/policy.h"

namespace starling {

/// What a learned policy is kept from seeing, to measure what that is worth.
struct AblationMask {
  bool digests = false;       ///< what other agents say: as if no other were there
  bool interference = false;  ///< that jobs slow one another
};

/// Another speed model as if every job had its GPUs, servers and links to itself.
class IsolatedSpeed final : public SpeedModel {
 public:
  /// What is left of the view. It refers to this object, which from now on asks the view's model.
  [[nodiscard]] View seen_with(const AblationMask& mask, const View& view) {
    other_ = &view.speed;
    const SpeedModel& speed = mask.interference ? *this : view.speed;
    View seen{view.topology, view.gpus, view.waiting, view.running, view.others,
              speed,         view.now,  view.me,      view.ends};
    if (mask.digests) seen.others = {};
    return seen;
  }
  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours&) const override {
    return other_->speed(job, placement, {});
  }
  [[nodiscard]] double scaling(const JobProfile& job) const override {
    return other_->scaling(job);
  }
  [[nodiscard]] double pace(const JobProfile& job, const Placement& placement, const Neighbours&,
                            const Allocation& how) const override {
    return other_->pace(job, placement, {}, how);
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return other_->version(); }

 private:
  const SpeedModel* other_ = nullptr;
};

}  // namespace starling
