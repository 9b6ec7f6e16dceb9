// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "launch/guardian/part_cgroup.h"
#include "launch/launchers/test_process_rig.h"

namespace starling {

/// Where whoever runs these tests can run it.
inline std::string hard_job() {
  const char* const copy = std::getenv("HARD_JOB");
  return copy != nullptr ? copy : HARD_JOB;
}

inline bool cgroups_here() { return !PartCgroup::base().empty(); }

/// Both ways to find what a job has started; the second alone where there are no cgroups.
struct Guarded : ProcessRig {
  explicit Guarded(bool cgroups = true) : ProcessRig(cgroups) {}
  std::filesystem::path note = folder.path / "note";
  std::string hard(const std::string& kind) const {
    return "'" + hard_job() + "' " + kind + " '" + note.string() + "'";
  }
};

#define BOTH_WAYS()              \
  bool cgroups = true;           \
  SUBCASE("with a cgroup") {     \
    if (!cgroups_here()) return; \
  }                              \
  SUBCASE("by descent") { cgroups = false; }

}  // namespace starling
