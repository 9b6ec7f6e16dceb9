// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace starling {

/// Whose format a topology file is in.
enum class FileKind : std::uint8_t {
  ours,  ///< or unknown
  openb,
  lingjun,
  pai,
  spot,
  nvidia_smi,
  nccl,
  hwloc,
  slurm_conf,
  slurm_yaml,
  topograph,
  hived
};

/// By its content alone.
[[nodiscard]] FileKind kind_of(const std::string& text);
/// Without what ends it.
[[nodiscard]] std::string first_line(const std::string& text);

}  // namespace starling
