#pragma once

#include <map>
#include <string>

#include "agents/message.h"

namespace starling {

/// What clients said and were told of each job, held against the one story that there is:
/// unknown -> accepted -> .. -> terminal, or refused for good (S13). What was sent and not answered
/// may have happened or not.
class ClientHistory {
 public:
  void said(const Message& message);
  /// By a life of `from`. The first thing that does not fit; empty: it fits.
  [[nodiscard]] std::string told(NodeId from, Incarnation life, const Message& message);

 private:
  struct Story {
    bool submitted = false, refused = false;
    std::map<NodeId, Incarnation> accepted_by;
    JobPhase end = JobPhase::unknown;
  };
  std::map<JobId, Story> stories_;
};

}  // namespace starling
