// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "agents/output.h"
#include "base/result.h"
#include "bus/wire/codec.h"
#include "bus/wire/endpoint.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/state_dir.h"

namespace starling {

/// This process on the bus of a flock, as one of its clients. One thread.
class Session {
 public:
  /// A client that has heard no answer for so long asks again.
  static constexpr Duration kRepeat = std::chrono::milliseconds(250);

  /// Takes the first client place of the flock that no other process uses, or else becomes one more
  /// session of a place (bus/sessions.h). `busy` if there are thousands already.
  static Result<std::unique_ptr<Session>> open(const Deployment& flock);

  [[nodiscard]] NodeId me() const noexcept { return me_; }
  [[nodiscard]] std::uint32_t agents() const noexcept { return agents_; }
  /// The user that the flock takes this command's place for.
  [[nodiscard]] const Asker& holder() const noexcept { return holder_; }
  /// That user; where the flock names none, the one who runs this program.
  [[nodiscard]] std::string user() const;
  [[nodiscard]] static Instant now();
  /// Where no agent is connected yet it leaves as soon as one is, while this session receives;
  /// or never, if that takes so long that it has to be asked again anyway.
  void send(NodeId to, const Message& message);
  /// The next message that decodes, waiting until `deadline` at the latest or until a stop is
  /// requested.
  std::optional<Received> receive(Instant deadline);

  /// Sends `question` to `to`, again every kRepeat, until an answer of type T for which `is_it`
  /// holds, or `patience` is over. Other messages are dropped.
  template <class T, class IsIt>
  std::optional<T> ask(NodeId to, const Message& question, Duration patience, IsIt is_it) {
    const Instant until = now() + patience;
    while (now() < until) {
      send(to, question);
      const Instant again = std::min(until, now() + kRepeat);
      while (auto received = receive(again)) {
        const T* answer = received->from == to ? std::get_if<T>(&received->message) : nullptr;
        if (answer != nullptr && is_it(*answer)) return *answer;
      }
      if (stopped()) break;
    }
    return std::nullopt;
  }

  /// The newest protocol that `node` and this program speak; the oldest before it was heard.
  [[nodiscard]] std::uint16_t spoken_with(NodeId node) const;

  /// On which agent's host `agent` lived when it was heard last.
  [[nodiscard]] AgentId host_of(AgentId agent) const;

  /// The status of every agent that answers in time, by agent.
  std::vector<AgentStatus> status(Duration patience);
  /// What is missing, if these statuses are not enough.
  using Enough = std::function<std::optional<std::string>(const std::vector<AgentStatus>&)>;
  /// Waits until `enough`: by default until every agent answers and each GPU's executor has
  /// reported. `not_ready` says what is missing, `io` what `broken` said.
  Status wait_ready(Duration patience,
                    const std::function<std::optional<std::string>()>& broken = {},
                    const Enough& enough = {});

 private:
  Session(StateDir place, NodeId me, std::uint32_t agents, Incarnation incarnation,
          std::unique_ptr<Endpoint> endpoint);
  /// `conflict` if another process is that session.
  static Result<std::unique_ptr<Session>> take(const Deployment& flock, const DeployedNode& place,
                                               std::uint32_t session);
  [[nodiscard]] static bool stopped() noexcept;
  void send_unsent();

  struct Unsent {
    NodeId to;
    std::vector<std::byte> frame;
    Instant until;
  };

  StateDir place_;
  NodeId me_;
  std::uint32_t agents_;
  Asker holder_;
  Incarnation incarnation_;
  std::unique_ptr<Endpoint> endpoint_;
  std::deque<Unsent> unsent_;  // oldest first
  std::map<NodeId, std::uint32_t> heard_at_;
  std::map<NodeId, std::uint16_t> speaks_;
  Codec codec_;
  std::uint64_t sequence_ = 0;
};

}  // namespace starling
