#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace starling {

/// Where the state of a flock lives in etcd, as people write it:
/// etcd://HOST:PORT[,HOST:PORT...]/NAME
struct EtcdAddress {
  std::vector<std::pair<std::string, std::string>> members;  ///< host and port of each
  std::string name;  ///< of the flock: flocks of different names share an etcd; may be missing

  /// `invalid` says what is wrong.
  static Result<EtcdAddress> parse(const std::string& url);
  [[nodiscard]] static bool is_one(const std::string& text) {
    return text.rfind("etcd://", 0) == 0;
  }
  [[nodiscard]] std::string url() const;
};

/// The keys of one partition. All are below etcd_root(), so that they can be removed together.
struct EtcdKeys {
  EtcdKeys(const EtcdAddress& flock, PartitionId partition);
  std::string epoch;    ///< its value: the owner's number; its revision: the epoch
  std::string alive;    ///< there as long as the owner's lease
  std::string wish;     ///< there while its own host asks for it back
  std::string head;     ///< which generation of the journal counts
  std::string journal;  ///< ends in '/', before generation and number
  std::string archive;  ///< ends in '/', before the number of a chunk
};
[[nodiscard]] std::string etcd_root(const EtcdAddress& flock);  ///< /starling/NAME/
/// The key behind all keys that begin with `prefix`.
[[nodiscard]] std::string behind(std::string prefix);

}  // namespace starling
