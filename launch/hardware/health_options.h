// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace starling {

/// In a flock's directory: how its executors look after their machines (docs/reliability.md). No
/// file: as here.
constexpr const char* kHealthFile = "health.yaml";

/// What an executor does about hardware that the topology gives it and that is not there.
enum class Missing : std::uint8_t {
  usual,    ///< mark where the driver answers and the models are those, else believe: a topology
            ///< may stand for a test
  believe,  ///< say it, and place jobs as if all were there
  mark,     ///< GPUs that are not there, or are others, are bad
  refuse    ///< the executor ends
};

struct HealthOptions {
  Missing missing = Missing::usual;
  /// Run now and then; its failure drains the executor's servers. Empty: none.
  std::vector<std::string> command;
  Duration interval = std::chrono::seconds(60);
  Duration timeout = std::chrono::seconds(30);
  bool undrain = true;  ///< its success ends that

  bool watch_gpus = true;  ///< by NVML, where jobs are processes
  Duration gpu_interval = std::chrono::seconds(5);
  /// From here on a GPU is bad; nothing: at the driver's own slowdown threshold.
  std::optional<std::uint32_t> temperature_c;
  /// Errors of programs and not of hardware, after NVIDIA's list of XIDs.
  std::set<std::uint64_t> xids_ignored{13, 31, 43, 45, 68, 109};
  /// A job's GPU that has done nothing for so long is told. 0: it never is.
  Duration idle = std::chrono::minutes(10);
  friend bool operator==(const HealthOptions&, const HealthOptions&) = default;
};

/// `invalid` with one line per mistake: "file:line:column: what is wrong; what would be right".
[[nodiscard]] Result<HealthOptions> parse_health_options(const std::string& text,
                                                         const std::string& file);
/// Those of the flock in `dir`.
[[nodiscard]] Result<HealthOptions> read_health_options(const std::filesystem::path& dir);

}  // namespace starling
