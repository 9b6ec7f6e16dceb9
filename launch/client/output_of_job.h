// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/ids.h"
#include "launch/client/flock_client.h"
#include "launch/client/rank_lines.h"

namespace starling {

/// A line that a job has printed, and which worker did.
struct OutputLine {
  JobId job;
  std::uint32_t attempt = 0;  ///< 1 for its first
  std::string server;
  RankLine line;
  std::uint64_t gone = 0;  ///< above 0: no line, but so many bytes that are not kept any more
};

/// The output of a job's last attempt, from all servers that it is on, as it comes.
class OutputOfJob {
 public:
  struct Options {
    std::optional<std::uint32_t> rank;  ///< that worker's alone
    std::uint32_t from_end = 0;         ///< at most so many bytes of each server's; 0: all there is
    std::function<void(const OutputLine&)> line = {};  ///< gets each line, instead of `print`
  };
  using Say = std::function<void(const std::string&)>;
  /// `print` gets what was printed, whole lines where several workers print; `note` what there is
  /// to say of it. The flock outlives this.
  OutputOfJob(FlockClient& flock, Options options, Say print, Say note);

  /// Turns to the job's last attempt if that is another one than before, and to the flock's servers
  /// if those are. `not_ready`: there is none yet; `conflict`: `state` may be in earlier numbers,
  /// so it has to be asked for again; `invalid`: it has no such rank; `unsupported`: its home
  /// cannot say.
  [[nodiscard]] Status look_at(const JobState& state);
  /// Prints what there is now, to the end. False: not all have answered within `patience`.
  bool read(Duration patience);
  /// What has no line's end yet.
  void finish();
  /// Nothing was there to be read, and why; empty: something was.
  [[nodiscard]] std::string trouble() const;
  /// Servers whose owner has not answered lately.
  [[nodiscard]] std::vector<std::string> silent() const;

 private:
  struct Part {
    ServerId server;
    std::string name;  // of the server
    NodeId owner;
    RankLines lines;
    std::uint64_t file = 0, offset = 0;
    bool asked = false, ended = false, any = false;  // of this read(); ever
    std::string trouble = {};
  };
  /// True: the flock has other servers now, and the parts are in their numbers.
  [[nodiscard]] Result<bool> renumber();
  void ask(Part& part);
  void take(Part& part, const OutputPage& page);
  /// Says what is missing before a page, if something is.
  void tell_gone(const Part& part, const OutputPage& page) const;
  void hand_out(const Part& part, std::vector<RankLine> lines) const;

  FlockClient& flock_;
  Options options_;
  Say print_, note_;
  AttemptId attempt_;
  std::uint32_t attempts_ = 0;  // of the job until now
  std::vector<Part> parts_;
};

}  // namespace starling
