// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/packing.h"
#include "scheduling/policy.h"

namespace starling {

/// What a call of decide() sees, as long as it lasts; a later look at it is a RuntimeError.
struct OwnCall {
  const View* view = nullptr;  ///< null: it is over
  Trial* trial = nullptr;
  const View& seen() const;
};

/// A job as the policy sees it.
struct OwnJob {
  std::shared_ptr<const OwnCall> call;
  const JobView* job = nullptr;
  [[nodiscard]] const JobView& seen() const { return call->seen(), *job; }
};

/// The View of a call for Python. Copies nothing.
class OwnView {
 public:
  explicit OwnView(std::shared_ptr<OwnCall> call) : call_(std::move(call)) {}
  const View& seen() const { return call_->seen(); }
  [[nodiscard]] std::vector<OwnJob> waiting() const { return jobs(seen().waiting); }
  [[nodiscard]] std::vector<OwnJob> running() const { return jobs(seen().running); }
  /// GPUs that the call has not promised yet, for a job; it promises them. None: there is no room.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> place(const OwnJob& job,
                                                                const std::string& fit) const;
  /// Of the partition: how many are free, after what the call has promised.
  [[nodiscard]] std::uint32_t free_gpus() const { return seen(), call_->trial->free_count(); }
  /// Which.
  [[nodiscard]] std::vector<std::uint32_t> free() const;

 private:
  [[nodiscard]] std::vector<OwnJob> jobs(std::span<const JobView> all) const;
  std::shared_ptr<OwnCall> call_;
};

/// What decide() gives back, one each.
struct OwnDecision {
  Decision decision;
};

void bind_own_view(pybind11::module_& module);

}  // namespace starling
