// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "launch/client/flock_client.h"

namespace starling {

/// The flock of --flock, or of $STARLING_FLOCK.
[[nodiscard]] Result<std::unique_ptr<FlockClient>> open_flock(const std::string& flock_option);
/// The same, connected.
[[nodiscard]] Result<std::unique_ptr<FlockClient>> connected_flock(const std::string& flock_option);

/// The job of an id, of the beginning of one, or of ID_7, a task of an array. `invalid`: an array
/// with several tasks; else as FlockClient::jobs_named().
[[nodiscard]] Result<JobState> one_job(FlockClient& flock, const std::string& text);
/// `invalid`: no text that names a job.
[[nodiscard]] Status check_job_text(const std::string& text);

}  // namespace starling
