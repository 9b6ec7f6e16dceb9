// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"

namespace starling {

/// How a daemon's process ended, as far as its keeper needs to know.
enum class DaemonEnd : std::uint8_t {
  well,     ///< with status 0
  refused,  ///< its configuration or its journal; or its state is another process's for a moment
  disk,     ///< what it must not forget could not be written
  broken    ///< anything else: killed, aborted, not even started
};

struct SupervisionRules {
  Duration first_pause = std::chrono::milliseconds(200), longest_pause = std::chrono::seconds(30);
  /// A daemon that has been up for so long is as good as new.
  Duration settled = std::chrono::seconds(20);
  /// After so many ends in a row it counts as away: nothing waits for it any more.
  std::uint32_t away_after = 3;
  /// After so many refusals in a row it is refused for good: tried after the longest pause alone.
  std::uint32_t refused_after = 5;
  bool restart = true;  ///< false: one that ends stays away
};

/// One daemon, for its keeper and for display.
struct Supervised {
  std::string name;
  bool wanted = true, up = false;
  bool over = false;  ///< ended, and is not to be started again
  Instant since;      ///< last started
  Instant due;        ///< where it is wanted and not up: when it is started
  Duration pause{0};
  std::uint32_t starts = 0;
  std::uint32_t ends = 0;      ///< in a row, since it was last settled
  std::uint32_t refusals = 0;  ///< in a row
  DaemonEnd how = DaemonEnd::well;
  std::string note;  ///< how it ended last, for people; empty once it has settled again
};

/// Each that is due is started now.
struct SupervisionTick {};
struct DaemonEnded {
  std::size_t who = 0;
  DaemonEnd how = DaemonEnd::broken;
  std::string what;  ///< "ended with exit code 2: ..." or why it could not be started
};
/// Whether it is to run. One that is not and runs is left alone; it ends by itself.
struct DaemonWanted {
  std::size_t who = 0;
  bool wanted = true;
};
/// What it reads has been changed since it ended: it may do better now.
struct DaemonMended {
  std::size_t who = 0;
};
struct SupervisionStop {};
using SupervisionEvent =
    std::variant<SupervisionTick, DaemonEnded, DaemonWanted, DaemonMended, SupervisionStop>;

struct SupervisionOutput {
  std::vector<std::size_t> start;  ///< now; one that cannot be started has ended at once
  std::vector<std::string> say;    ///< to people; a daemon that ends for ever is not said for ever
};

/// Keeps daemons: starts each that ends again, after a pause that doubles while it does not stay
/// up. Each goes by its own past alone, so a sick one never touches the others. Pure: (state, now,
/// event) -> output; `starling up` and the keepers of hosts are drivers around it.
class Supervision {
 public:
  Supervision(SupervisionRules rules, const std::vector<std::string>& names);

  void step(Instant now, const SupervisionEvent& event, SupervisionOutput& out);
  [[nodiscard]] const std::vector<Supervised>& daemons() const noexcept { return daemons_; }
  /// It is wanted, and nothing should wait for it: it keeps ending, or has ended for good.
  [[nodiscard]] bool away(std::size_t who) const;
  /// It is away because of what it reads, and stays so until that is mended.
  [[nodiscard]] bool refused(std::size_t who) const;

 private:
  void ended(Instant now, const DaemonEnded& end, SupervisionOutput& out);
  void settle(Instant now, SupervisionOutput& out);

  SupervisionRules rules_;
  std::vector<Supervised> daemons_;
  bool stopped_ = false;
};

/// "tried again in 12 s", "being tried again", "up again", ...: what becomes of a daemon that has a
/// note.
[[nodiscard]] std::string outlook(const Supervised& daemon, Instant now);

}  // namespace starling
