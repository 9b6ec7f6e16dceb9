// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "bus/flock.h"
#include "launch/deployment/deployment.h"

namespace starling {

/// One daemon of a directory: whether it runs, and which flock.json it goes by (transport.h).
struct TakenFlock {
  std::string node;
  bool running = false;
  std::string mark;
};
/// Of all daemons that have keys in this directory.
[[nodiscard]] std::vector<TakenFlock> taken_flocks(const Deployment& deployment);

/// Puts `flock` in the place of flock.json, here and on all hosts, and waits until every daemon
/// that runs goes by it. `not_ready` says which does not yet.
[[nodiscard]] Status publish_flock(const Deployment& deployment, const Flock& flock,
                                   std::chrono::seconds patience);

/// Gives a node a new key, and an agent new ones for all seats that it may take, too, while the
/// flock runs, in three steps, each of which every running daemon has taken on before the next one
/// begins: the new key is let in beside the old one; the node uses the new one and is called by it;
/// the old one is let in no more. For flocks here and on hosts, all of which must be reachable.
/// `not_ready`: a node did not take a step on within `patience`; called again it begins anew,
/// from where it is. Returns the node's new public key.
[[nodiscard]] Result<std::string> rotate_key(const Deployment& deployment, const std::string& node,
                                             std::chrono::seconds patience);

}  // namespace starling
