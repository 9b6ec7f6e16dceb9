// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"
#include "bus/wire/endpoint.h"
#include "launch/deployment/deployment.h"

namespace starling {

/// Opens the encrypted endpoint of `me` at one of its seats (bus/flock.h) and lets in exactly the
/// members of the flock: those of flock.json as it is now, twice a second. What it goes by stands
/// in a file beside the keys (transport.h, taken_flock). `io` if the port is taken or too few file
/// descriptors are left, both of which may pass.
[[nodiscard]] Result<std::unique_ptr<Endpoint>> open_endpoint(const Deployment& flock, NodeId me,
                                                              const std::filesystem::path& key_file,
                                                              const Limits& limits,
                                                              std::uint32_t seat = 0);

/// A text that differs for different contents of `dir`/flock.json; empty without one.
[[nodiscard]] std::string flock_mark(const std::filesystem::path& dir);
/// The flock_mark that the daemon with these keys goes by, or did last. For a standby seat that is
/// not served it is empty, unless its process was killed.
[[nodiscard]] std::string taken_flock(const std::filesystem::path& key_file);
/// Nothing goes by these keys.
void forget_taken_flock(const std::filesystem::path& key_file);

/// The machine's monotonic clock, which goes on while it sleeps: a process that wakes up sees how
/// long it was away. Also the endpoint's deadlines are read against it.
[[nodiscard]] const Clock& machine_clock();

}  // namespace starling
