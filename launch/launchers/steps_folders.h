// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "launch/guardian/part_files.h"

namespace starling {

/// Where jobs of other users keep the number of their steps: they cannot reach an executor's own
/// folder. A folder for each part, which is its user's alone, below one that is ours, in /tmp.
class StepsFolders {
 public:
  /// The file for the part called `name`; empty: there is no place for one.
  [[nodiscard]] std::filesystem::path make(const std::string& name, const PartUser& user);
  /// Removes the folder of such a file, of this or an earlier life.
  void forget(const std::filesystem::path& file);

 private:
  std::filesystem::path base_;
};

/// The file for the steps of a part with rank 0 whose output goes to `log`, also of an earlier
/// life's; empty: its user had no place for one.
[[nodiscard]] std::filesystem::path steps_file(const PartPlan& plan,
                                               const std::filesystem::path& log);

}  // namespace starling
