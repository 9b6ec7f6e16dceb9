// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/open_flock.h"

#include "launch/deployment/deployment.h"

namespace starling {

Result<std::unique_ptr<FlockClient>> open_flock(const std::string& flock_option) {
  const auto dir = flock_dir(flock_option);
  if (!dir) return dir.error();
  return FlockClient::open(dir.value());
}

Result<std::unique_ptr<FlockClient>> connected_flock(const std::string& flock_option) {
  auto flock = open_flock(flock_option);
  if (!flock) return flock;
  if (const Status s = flock.value()->connect(); !s.ok()) return s.error();
  return flock;
}

}  // namespace starling
