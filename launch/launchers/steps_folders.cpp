// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/steps_folders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace starling {
namespace {

namespace fs = std::filesystem;

/// Others find what they know the name of, and cannot put anything in its place.
fs::path make_base() {
  std::string name = "/tmp/starling-steps-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr || ::chmod(name.c_str(), 0711) != 0) return {};
  return name;
}

}  // namespace

fs::path StepsFolders::make(const std::string& name, const PartUser& user) {
  for (int i = 0; i < 2; ++i) {
    if (base_.empty()) base_ = make_base();
    if (base_.empty()) return {};
    const fs::path folder = base_ / name;
    if (::mkdir(folder.c_str(), 0700) == 0) {
      if (::chown(folder.c_str(), user.uid, user.gid) == 0) return folder / "steps";
      ::rmdir(folder.c_str());
      return {};
    }
    base_.clear();  // /tmp has been tidied up
  }
  return {};
}

void StepsFolders::forget(const fs::path& file) {
  const fs::path folder = file.parent_path(), base = folder.parent_path();
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (::rmdir(base.c_str()) == 0 && base == base_) base_.clear();
}

fs::path steps_file(const PartPlan& plan, const fs::path& log) {
  if (!plan.user) return fs::path(log).replace_extension(".steps");
  const std::string name = "STARLING_STEPS=";
  for (const PlannedWorker& worker : plan.workers) {
    for (const std::string& entry : worker.environment)
      if (entry.starts_with(name)) return entry.substr(name.size());
  }
  return {};
}

}  // namespace starling
