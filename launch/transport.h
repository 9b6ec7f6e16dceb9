#pragma once

#include <memory>

#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"
#include "bus/endpoint.h"
#include "launch/deployment.h"

namespace starling {

/// Opens the encrypted endpoint of `me` at one of its seats (bus/flock.h) and lets in exactly the
/// members of the flock. `io` if the port is taken.
[[nodiscard]] Result<std::unique_ptr<Endpoint>> open_endpoint(const Deployment& flock, NodeId me,
                                                              const std::filesystem::path& key_file,
                                                              const Limits& limits,
                                                              std::uint32_t seat = 0);

/// The machine's monotonic clock, which also the endpoint's deadlines are read against.
[[nodiscard]] const Clock& machine_clock();

}  // namespace starling
