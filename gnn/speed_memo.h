// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interference/speed.h"
#include "topology/topology.h"

namespace starling {

/// A speed model that remembers what another one said, for searches that ask the same again and
/// again. It takes questions for equal that differ in the order of the neighbours, in neighbours on
/// other servers, or, for a job on one server, in which of several equal servers that is; models
/// may not tell these apart. Answers are those of the model, with the neighbours in an order of
/// this class, so they do not depend on what was asked before.
///
/// straggler_seed is ignored: the model must not know stragglers. After the model has learned,
/// forget(). Not to be shared among threads.
class SpeedMemo final : public SpeedModel {
 public:
  /// A job on some GPUs. Pointers are read during the call only.
  struct Who {
    const JobProfile* job = nullptr;
    std::uint64_t hash = 0;  ///< of the job
    const Placement* placement = nullptr;
  };

  /// `model` must outlive this.
  SpeedMemo(const Topology& topology, const SpeedModel& model);

  [[nodiscard]] static std::uint64_t hash_of(const JobProfile& job) noexcept;
  [[nodiscard]] Speed ask(const Who& job, std::span<const Who> beside) const;

  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override;
  [[nodiscard]] double scaling(const JobProfile& job) const override { return model_.scaling(job); }
  /// Not remembered.
  [[nodiscard]] double pace(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside, const Allocation& how) const override {
    return model_.pace(job, placement, beside, how);
  }

  void forget() const;
  /// Answers remembered, and questions that the model was asked.
  [[nodiscard]] std::size_t size() const noexcept { return used_; }
  [[nodiscard]] std::uint64_t misses() const noexcept { return misses_; }

 private:
  struct Slot {
    std::uint64_t key = 0;  // 0: empty
    Speed speed;
  };
  struct Part {
    std::uint64_t token = 0;
    std::uint32_t index = 0;
  };
  [[nodiscard]] std::uint64_t key_of(const Who& job, std::span<const Who> beside) const;
  [[nodiscard]] Speed ask_model(const Who& job, std::span<const Who> beside) const;
  void grow() const;
  [[nodiscard]] Slot& slot_of(std::uint64_t key) const;

  Topology topology_;
  const SpeedModel& model_;
  std::vector<std::uint32_t> class_of_;  // by server: equal ones have the same
  mutable std::vector<Slot> slots_;      // a power of two
  mutable std::size_t used_ = 0;
  mutable std::uint64_t misses_ = 0;
  mutable std::vector<Part> parts_;             // of the question: neighbours that count
  mutable std::vector<Neighbours> neighbours_;  // [n]: n of them, kept for their memory
  mutable std::vector<Who> whos_;
};

}  // namespace starling
