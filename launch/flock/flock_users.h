// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "bus/flock.h"
#include "launch/deployment/deployment.h"

namespace starling {

/// The user who is to get a client place of a flock.
struct Grant {
  std::string user;
  bool is_operator = false;
  std::uint64_t grant = 0;    ///< another one for each grant there ever was in this flock
  std::filesystem::path out;  ///< a new folder to be used as the flock's; empty: its own, here
};
struct Granted {
  std::filesystem::path flock;  ///< what the user gives to --flock
  bool handed_over = false;     ///< the files are the user's own already
};

/// Makes the place, with keys that are the user's alone, and lets it in: in flocks here and on
/// hosts, which may be at work. `invalid`: such a user cannot be let in, or has a place;
/// `not_ready`: a node does not take the flock's description on, and all is as it was.
[[nodiscard]] Result<Granted> grant(const Deployment& flock, const Grant& what,
                                    std::chrono::seconds patience);

/// Takes all places back that were granted to the user. What its jobs do they go on doing.
[[nodiscard]] Status revoke(const Deployment& flock, const std::string& user,
                            std::chrono::seconds patience);

/// The members that are users' places, which the deployment need not name.
[[nodiscard]] std::vector<const Member*> granted_places(const Deployment& flock,
                                                        const Flock& members);

}  // namespace starling
