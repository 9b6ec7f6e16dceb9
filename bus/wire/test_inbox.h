// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "bus/wire/endpoint.h"

namespace starling::testing {

/// Gives what waits in it, without waiting for more. Where frames go that are sent is the business
/// of what derives from it.
struct Inbox : Endpoint {
  std::optional<Delivery> receive(Instant) override {
    if (waiting.empty()) return std::nullopt;
    Delivery next = std::move(waiting.front());
    waiting.pop_front();
    return next;
  }
  std::deque<Delivery> waiting;
};

}  // namespace starling::testing
