// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "launch/client/flock_client.h"

namespace starling {

/// Threads that ask a flock for callers, each as a client of its own, so that one that waits for a
/// silent agent keeps only one of them. What waits for a thread is bounded.
class FlockWorkers {
 public:
  /// Gets the client, which has read the flock anew where its servers have changed; or why there is
  /// none.
  using Work = std::function<void(const Result<FlockClient*>&)>;

  /// `dir` empty: threads for work that asks no agent, and so gets no client.
  FlockWorkers(std::filesystem::path dir, std::size_t threads, std::size_t most_waiting);
  /// What waits is not done any more.
  ~FlockWorkers();
  FlockWorkers(const FlockWorkers&) = delete;
  FlockWorkers& operator=(const FlockWorkers&) = delete;

  /// False: too many wait.
  [[nodiscard]] bool post(Work work);

 private:
  void run();

  const std::filesystem::path dir_;
  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

/// A client of the flock in `dir`, opened where there is none yet, and up to date. Null stays null
/// where it cannot be had.
[[nodiscard]] Result<FlockClient*> current_client(const std::filesystem::path& dir,
                                                  std::unique_ptr<FlockClient>& client);

}  // namespace starling
