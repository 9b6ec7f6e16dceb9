// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "scheduling/policy.h"

namespace starling {

/// The frame of an Ask (decider.fbs): all that a policy may know. `state` is a hash of what stands
/// in it but the number and times, equal for equal states.
struct AskFrame {
  std::vector<std::byte> bytes;
  std::uint64_t state = 0;
};
[[nodiscard]] AskFrame ask_frame(const View& view, std::uint64_t number);

struct DeciderAdvice {
  std::uint64_t number = 0;
  std::vector<Decision> decisions;
};
constexpr std::size_t kMostAdvised = 4096;                       ///< decisions of one advice
constexpr std::size_t kMostAdvisedGpus = std::size_t{1} << 20U;  ///< of all its decisions together

/// What a decider answered. `invalid`: it is no frame of an advice of this version, names GPUs that
/// `topology` does not have, or has more decisions or GPUs than may be. Jobs, agents, order and
/// room are the core's to check, as those of any policy.
[[nodiscard]] Result<DeciderAdvice> read_advice(std::span<const std::byte> frame,
                                                const Topology& topology);

// The decider's side, for one in C++ and for tests.

struct DeciderQuestion {
  struct Waiting {
    JobId job;
    std::uint32_t gpus = 0;
    bool blocked = false;
  };
  std::uint64_t number = 0;
  std::uint32_t agent = 0;
  std::vector<std::vector<GpuId>> free;  ///< by server of the partition
  std::vector<Waiting> waiting;
};
/// `invalid`: it is no ask of this version.
[[nodiscard]] Result<DeciderQuestion> read_ask(std::span<const std::byte> frame);
/// Decisions of other kinds than start, resize, preempt and forward are left out.
[[nodiscard]] std::vector<std::byte> advice_frame(const DeciderAdvice& advice);

}  // namespace starling
