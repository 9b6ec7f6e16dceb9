// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "agents/message.h"
#include "base/result.h"

namespace starling {

/// What must be the same, or known to differ, between the programs of a flock.
struct BuildId {
  std::string version;
  std::uint32_t protocol = kNewestProtocol;  ///< the newest that it speaks (agents/message.h)
  std::uint32_t oldest = kOldestProtocol;    ///< and the oldest
  std::string build;                         ///< 16 hex digits, of the program's bytes
  friend bool operator==(const BuildId&, const BuildId&) = default;
};
/// Of the program that runs now.
[[nodiscard]] BuildId own_build();

/// What people are to be told about `there` on host `name` beside `here`: nothing if they are of
/// one version and protocol; one line if they are not, but speak one protocol with one another, as
/// while a flock is restarted host by host. `unsupported` if they do not.
[[nodiscard]] Result<std::string> fits(const std::string& name, const BuildId& there,
                                       const BuildId& here);

}  // namespace starling
