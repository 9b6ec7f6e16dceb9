// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>
#include <vector>

#include "agents/asker.h"
#include "agents/message.h"
#include "agents/record.h"
#include "base/ids.h"
#include "base/time.h"
#include "interference/speed.h"

namespace starling {

struct Tick {};  ///< time passed; nothing else happened
/// `from` and `by` are authenticated by the transport; `protocol` is the newest that both sides
/// speak.
struct Received {
  NodeId from;
  Message message;
  std::uint16_t protocol = kNewestProtocol;
  Asker by = {};
};
using Event = std::variant<Tick, Received>;

struct Send {
  NodeId to;
  Message message;
};

/// Ended jobs for Journal::archive, before the record that says so is persisted.
struct ArchiveChunk {
  std::uint64_t number = 0;
  std::vector<Record> records;
};
/// What `send` says of that job with an unknown phase (in a JobState or a JobList), or in no lines
/// (in an Explanation), is in that chunk of the archive: the driver fills it in. Where it cannot,
/// it is not said.
struct Recall {
  JobId job;
  std::uint64_t chunk = 0;
};

/// What a step wants done, in this order: archive, then persist and sync everything, then send with
/// what is recalled, then forget chunks of the archive, then teach the speed model. Callers
/// clear and reuse one Output, so that a step allocates nothing once it has warmed up.
struct Output {
  std::vector<Record> persist;
  std::vector<Send> send;
  std::vector<SpeedSample> teach;  ///< for SpeedModel::observe, which no step may call
  std::vector<ArchiveChunk> archive;
  std::vector<Recall> recall;
  std::vector<std::uint64_t> forget;
  void clear() {
    persist.clear(), send.clear(), teach.clear(), archive.clear(), recall.clear(), forget.clear();
  }
};

}  // namespace starling
