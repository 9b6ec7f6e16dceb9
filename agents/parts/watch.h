// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "agents/message.h"
#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// What an agent believes of a node that it hears or does not hear.
enum class Standing : std::uint8_t {
  well,
  silent,   ///< for too long; others have been asked
  cut_off,  ///< others hear it: the way between the two is broken, or one of them is slow
  lost      ///< those that were asked do not hear it either, or there is none to ask
};

/// One node as an agent hears it. Times count only while the agent listens.
struct Watch {
  Instant last_heard = Instant::min();
  Standing standing = Standing::well;
  Instant asked = kNever;    ///< when others were last asked; kNever: not since it was heard
  std::uint32_t askers = 0;  ///< so many were
  Instant indirect_ack = Instant::min();   ///< another agent last said then that it hears the node
  Instant indirect_nack = Instant::min();  ///< another last said then that it does not
  Duration lag{0};                         ///< how late its own cycles are, by its last Pong
  std::uint16_t protocol = kOldestProtocol;  ///< newest that both speak
  bool foreign = false;                      ///< has read another topology: not worked with
};

/// How far an agent may trust its own ears (Lifeguard): the later its cycles come, and the more of
/// those it watches seem silent at once, the likelier it is itself at fault and the longer it waits
/// before it suspects one.
class LocalHealth {
 public:
  static constexpr int kMost = 8;

  /// Once per heartbeat: how late it came, how long it should be, and whether most nodes are
  /// silent.
  void beat(Duration lag, Duration heartbeat, bool most_silent) noexcept;
  /// Own timeouts are so many times longer: 1 to kMost.
  [[nodiscard]] int factor() const noexcept { return 1 + score_; }
  /// The worst of late; halves with every heartbeat.
  [[nodiscard]] Duration lag() const noexcept { return lag_; }

 private:
  int score_ = 0;
  Duration lag_{0};
};

/// A question of another agent whether `node` lives, until it is heard or `deadline`.
struct Probe {
  NodeId node;
  AgentId asker;
  Instant deadline;
};

}  // namespace starling
