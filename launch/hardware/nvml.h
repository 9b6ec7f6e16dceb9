// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/hardware/machine_found.h"

namespace starling {

/// The NVIDIA driver's library by its usual name; on hosts without a driver there is none.
constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// How one GPU is now. What the driver does not say (an older one, a card without ECC) is not
/// there.
struct GpuSample {
  bool lost = false;         ///< the driver says that it is lost
  bool unreachable = false;  ///< the driver does not hand it out, for another reason
  std::optional<std::uint32_t> utilisation;  ///< percent of the last moment
  std::optional<std::uint32_t> temperature_c, slowdown_c;
  std::optional<std::uint64_t> uncorrected_ecc;  ///< since the driver was loaded
  std::optional<std::uint64_t> throttled;        ///< why its clocks are low, NVML's bits
  std::optional<std::uint64_t> energy_mj;        ///< used since the driver was loaded
  bool remap_failed = false;                     ///< no spare row for one that is broken
};

/// An error that the driver reported of a GPU.
struct XidEvent {
  std::uint32_t gpu = 0;  ///< index
  std::uint64_t xid = 0;
};

/// The NVIDIA Management Library of this machine, loaded when it is there: the program is not
/// linked with it, so that it runs where there is none. One thread at a time. A driver that hangs
/// makes calls hang, so what must not wait asks from a thread of its own.
class Nvml {
 public:
  /// Nothing: there is no such library, or its driver does not work (`why` says which).
  [[nodiscard]] static std::unique_ptr<Nvml> open(const std::string& library = kNvmlLibrary,
                                                  std::string* why = nullptr);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] std::uint32_t count() const;
  /// All GPUs by index; sockets and PCIe switches are not known here. One that the driver counts
  /// and cannot reach has no model.
  [[nodiscard]] std::vector<GpuFound> gpus() const;
  [[nodiscard]] GpuSample sample(std::uint32_t gpu) const;
  /// Errors since the last call; the first call begins to listen. At most 64 at once.
  [[nodiscard]] std::vector<XidEvent> errors();

 private:
  struct Calls;
  explicit Nvml(std::unique_ptr<Calls> calls);
  std::unique_ptr<Calls> calls_;
};

}  // namespace starling
