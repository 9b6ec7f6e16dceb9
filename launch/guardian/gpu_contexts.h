// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace starling {

/// Whether the driver still holds something of processes that are dead: a GPU is free only then.
/// Asks NVML, where the machine has it; without it nothing is held. The library is loaded when the
/// first question is asked.
class GpuContexts {
 public:
  /// `gpus`: as NVML counts, which is the order of the PCI bus.
  explicit GpuContexts(std::vector<std::uint64_t> gpus, std::string library = "libnvidia-ml.so.1")
      : gpus_(std::move(gpus)), library_(std::move(library)) {}

  /// Contexts whose processes do not exist are waited for, but no longer than kPatience after the
  /// first question: in a container the driver may name processes that are alive elsewhere.
  [[nodiscard]] bool gone(std::int64_t now_ns);
  static constexpr std::int64_t kPatience_ns = 30'000'000'000;

 private:
  void load();
  [[nodiscard]] bool held(void* device) const;

  std::vector<std::uint64_t> gpus_;
  std::string library_;
  std::int64_t asked_ns_ = -1;
  std::vector<void*> devices_;
  int (*processes_)(void*, unsigned*, void*) = nullptr;
};

}  // namespace starling
