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
  std::string build;           ///< 16 hex digits, of the program's bytes
  friend bool operator==(const BuildId&, const BuildId&) = default;
};
/// Of the program that runs now.
[[nodiscard]] BuildId own_build();

/// `unsupported` says how `there` on host `name` differs from `here` in a way that they could not
/// live with: version or protocol. Another build of the same version is no error.
[[nodiscard]] Status fits(const std::string& name, const BuildId& there, const BuildId& here);

}  // namespace starling
