// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "topology/placement.h"

namespace starling {

/// Something about an executor's hardware that people should know, in a sentence without its name.
struct HardwareFinding {
  enum class Kind : std::uint8_t {
    bad,      ///< these GPUs are not used
    drained,  ///< nor are those of these servers once their jobs are over
    lacking,  ///< less is there than the topology says, and nothing is done about it
    slow,     ///< clocks are held back; the GPU is used
    idle      ///< a job has these GPUs and does nothing with them
  };
  Kind kind = Kind::bad;
  Placement gpus = {};
  std::string text = {};
  friend bool operator==(const HardwareFinding&, const HardwareFinding&) = default;
};
[[nodiscard]] const char* name_of(HardwareFinding::Kind kind) noexcept;

/// What an executor has found, in hardware.json of its folder; no file where it is nothing.
[[nodiscard]] Status write_findings(const std::filesystem::path& node_dir,
                                    const std::vector<HardwareFinding>& findings);
/// None where there is no file, or one that makes no sense.
[[nodiscard]] std::vector<HardwareFinding> read_findings(const std::filesystem::path& node_dir);

}  // namespace starling
