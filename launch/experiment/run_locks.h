// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "base/result.h"

namespace starling {

/// Which of several processes, on any hosts that have one folder, does which run: a file ID.lock
/// there for each run that is under way, which names its holder's host, the boot of that host, and
/// its process.
///
/// A lock is left behind by a process that dies. Another takes it over at once where it can see
/// that the process is gone, on the same host; elsewhere once the file has not been touched for
/// `kStale` by the clock of the process that looks, for its holder touches it each `kTouched`. A
/// holder that only slept may then do a run that another does, too: that costs time and nothing
/// else, because a record is put in its place whole, and both have the same.
///
/// Calls may come from several threads. Locks that are held when it goes are released.
class RunLocks {
 public:
  static constexpr std::chrono::seconds kTouched{10}, kStale{60};

  /// The folder is there. `stale` is for tests.
  explicit RunLocks(std::filesystem::path folder, std::chrono::milliseconds stale = kStale);
  ~RunLocks();
  RunLocks(const RunLocks&) = delete;
  RunLocks& operator=(const RunLocks&) = delete;

  /// True: the run is this process's until release(). False: another has it. `io`: the folder
  /// cannot be written.
  [[nodiscard]] Result<bool> take(const std::string& id);
  void release(const std::string& id);
  /// The process that holds the lock of a run, for messages: "host (process 123)"; empty: none.
  [[nodiscard]] std::string holder(const std::string& id) const;

 private:
  struct Sight {  // of another's lock
    std::string text;
    std::filesystem::file_time_type touched;
    std::chrono::steady_clock::time_point since;
  };
  [[nodiscard]] std::filesystem::path file_of(const std::string& id) const;
  [[nodiscard]] bool dead(const std::string& id, const std::string& text);
  [[nodiscard]] bool remove_dead(const std::string& id);
  void remove_ours(const std::string& id);
  void touch_all();

  std::filesystem::path folder_;
  std::chrono::milliseconds stale_;
  std::string me_;
  mutable std::mutex mutex_;
  std::set<std::string> held_;
  std::map<std::string, Sight> seen_;
  std::condition_variable over_;
  bool ends_ = false;
  std::thread toucher_;
};

}  // namespace starling
