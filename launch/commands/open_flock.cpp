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

Result<JobState> one_job(FlockClient& flock, const std::string& text) {
  auto found = flock.jobs_named(text);
  if (!found) return found.error();
  if (found.value().size() > 1)
    return {Errc::invalid, "'" + text + "' is an array; name a task of it, as " + text + "_0"};
  return std::move(found.value().front());
}

Status check_job_text(const std::string& text) {
  const auto id = parse_job_id(text.substr(0, text.find('_')));
  return id ? done() : Status(id.error());
}

}  // namespace starling
