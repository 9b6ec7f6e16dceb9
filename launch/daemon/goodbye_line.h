// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bus/wire/node.h"
#include "launch/system/log.h"

namespace starling {

/// Puts into the log, once, that a peer refuses to talk to this node, and why.
class GoodbyeLine {
 public:
  void say(const Node& node) {
    if (node.goodbye() == last_) return;
    last_ = node.goodbye();
    log_error("refused by a peer: " + last_);
  }

 private:
  std::string last_;
};

}  // namespace starling
