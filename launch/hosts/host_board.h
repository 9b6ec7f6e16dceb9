// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "launch/hosts/host_flock.h"
#include "launch/hosts/keeper.h"

namespace starling {

/// Watches the keepers of all hosts, one thread and one connection each. A connection that is lost
/// is made again, every 1 to 5 s; the daemons go on meanwhile. A keeper that is gone without having
/// been asked to is started again; one that was asked to stop may be started again by others. In an
/// allocation of Slurm the keepers are steps, and end with the board.
class HostBoard {
 public:
  struct Seen {
    bool linked = false;        ///< its keeper was heard in the last 3 s
    bool stopped = false;       ///< its keeper ended on request, and none has begun since
    std::uint32_t losses = 0;   ///< of the connection
    std::uint32_t keepers = 0;  ///< started again
    std::string trouble;        ///< why it is not linked
    std::chrono::steady_clock::time_point heard{};
    std::optional<HostStatus> status;  ///< the last one that was heard
  };

  /// Both outlive it.
  HostBoard(const HostFlock& flock, const Remote& remote);
  /// Ends the watching; of a flock in an allocation, its daemons too.
  ~HostBoard();
  HostBoard(const HostBoard&) = delete;
  HostBoard& operator=(const HostBoard&) = delete;

  [[nodiscard]] std::vector<Seen> look() const;

 private:
  void watch(std::size_t host);
  [[nodiscard]] Status start_again(const Host& host) const;
  void heard(std::size_t host, const std::string& line);
  void rest(std::chrono::milliseconds time) const;

  const HostFlock& flock_;
  const Remote& remote_;
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;
  std::vector<std::thread> threads_;
};

/// For people: a row for each host.
[[nodiscard]] std::string board_table(const HostFlock& flock,
                                      const std::vector<HostBoard::Seen>& seen);
/// One JSON object without line breaks.
[[nodiscard]] std::string board_line(const std::string& event, const HostFlock& flock,
                                     const std::vector<HostBoard::Seen>& seen);
/// What has happened between two looks, a line each: connections lost and found, daemons that ended
/// and were started again.
[[nodiscard]] std::vector<std::string> board_news(const HostFlock& flock,
                                                  const std::vector<HostBoard::Seen>& before,
                                                  const std::vector<HostBoard::Seen>& now);

/// What `starling node watch` exits with when the keeper is gone without having been asked to.
inline constexpr int kKeeperGone = 3;

}  // namespace starling
