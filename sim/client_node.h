#pragma once

#include <utility>

#include "agents/client.h"
#include "bus/node.h"

namespace starling {

/// A client on the simulated bus. It has nothing that must survive it.
class SimClientNode final : public Node {
 public:
  SimClientNode(Client client, const Limits& limits, Endpoint& endpoint)
      : Node(client.config().me, Incarnation{1}, limits, endpoint, nullptr, {}),
        client_(std::move(client)) {}

  [[nodiscard]] Client& core() noexcept { return client_; }
  [[nodiscard]] Instant next_deadline() const noexcept override { return client_.next_deadline(); }

 private:
  void receive(Instant now, Received received) override {
    client_.step(now, Event{std::move(received)}, out_);
  }
  void tick_core(Instant now) override { client_.step(now, Tick{}, out_); }

  Client client_;
};

}  // namespace starling
