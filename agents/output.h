#pragma once

#include <variant>
#include <vector>

#include "agents/message.h"
#include "agents/record.h"
#include "base/ids.h"
#include "base/time.h"

namespace starling {

struct Tick {};                                        ///< time passed; nothing else happened
/// `from` is authenticated by the transport; `protocol` is the newest that both sides speak.
struct Received { NodeId from; Message message; std::uint16_t protocol = kNewestProtocol; };
using Event = std::variant<Tick, Received>;

struct Send { NodeId to; Message message; };

/// What a step wants done, in this order: persist and sync everything, then send, then teach the speed model. Callers
/// clear and reuse one Output, so that a step allocates nothing once it has warmed up.
struct Output {
  std::vector<Record> persist;
  std::vector<Send> send;
  std::vector<SpeedSample> teach;  ///< for SpeedModel::observe, which no step may call
  void clear() { persist.clear(), send.clear(), teach.clear(); }
};

}  // namespace starling
