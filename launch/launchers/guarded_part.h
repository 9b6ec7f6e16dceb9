// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "launch/guardian/part_files.h"

namespace starling {

/// One part of an attempt as its executor sees it: the folder that it shares with its guardian
/// (part_files.h), and that guardian, started by this life of the executor or by an earlier one.
/// Nothing here ever waits.
class GuardedPart {
 public:
  /// Makes the folder and starts the guardian. `io`: this machine could not; nothing is left of it.
  static Result<GuardedPart> start(const std::filesystem::path& folder, PartPlan plan);
  /// That of an earlier life. Nothing: none was or ever will be started there.
  static std::optional<GuardedPart> find(const std::filesystem::path& folder);
  ~GuardedPart();
  GuardedPart(GuardedPart&& other) noexcept;
  GuardedPart& operator=(GuardedPart&& other) noexcept;

  void say(ControlWord::Kind kind, std::int64_t at_ns);

  /// A guardian that was stopped (SIGSTOP) goes on.
  void wake();

  enum class State : std::uint8_t {
    guarded,
    ended,     ///< there is a result
    unguarded  ///< the guardian is gone without one: a process of the part may be left
  };
  /// Where it cannot be told, it is guarded.
  State look();
  [[nodiscard]] const PartResult& result() const noexcept { return result_; }
  /// As it was started; empty if an earlier life's cannot be read.
  [[nodiscard]] const PartPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] pid_t guardian() const noexcept { return child_; }  ///< a child of ours; else 0
  /// The guardian never came so far as to start anything.
  [[nodiscard]] bool nothing_started() const noexcept { return nothing_started_; }
  /// Of an unguarded part: kills what is left of it, as far as that can be found without its
  /// guardian. True: nothing was found any more.
  bool clear();
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  explicit GuardedPart(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
  PartPlan plan_;
  int control_ = -1;
  pid_t child_ = 0;
  std::optional<GuardianId> id_;  // of one that is no child of ours
  bool gone_ = false, nothing_started_ = false;
  PartResult result_;
};

}  // namespace starling
