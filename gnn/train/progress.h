// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "gnn/train/process_group.h"
#include "nets/weights.h"

namespace starling {

/// The file with the state of a training after its last step, which another run of the same
/// training goes on from. The first of its processes writes and reads it.
struct StageProgress {
  std::filesystem::path file;  ///< empty: none
  std::string hash;            ///< of what a state must come from
  bool resume = false;

  /// The state to go on from, the same for all processes; nothing where there is none of this hash.
  /// Every process has to call it.
  [[nodiscard]] Result<std::optional<Weights>> read(ProcessGroup& processes) const;
  [[nodiscard]] Status write(const ProcessGroup& processes, Weights state) const;
};

}  // namespace starling
