// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace starling {

/// How starts go at one executor, as its owner sees it. One whose starts fail again and again is
/// left to rest: what fails at once is free at once, and would draw every job there is. After the
/// rest a single start is a probe: while it is not known how it went, nothing else is started. A
/// start has gone well when the process has ended by itself, or has not failed for kProven.
class StartRecord {
 public:
  /// Failed starts in a row before the first rest.
  static constexpr std::uint32_t kFailures = 3;
  /// Rests double from the first to the longest while every probe fails. What was under way when
  /// one began and fails, too, makes it no longer.
  static constexpr Duration kFirstRest = std::chrono::seconds(1);
  static constexpr Duration kLongestRest = std::chrono::seconds(60);
  static constexpr Duration kProven = std::chrono::seconds(3);
  /// What is lost later than this after its launch had started.
  static constexpr Duration kAtOnce = std::chrono::seconds(10);

  void began(Instant now);
  void failed(Instant now, const std::string& why);
  void went_well();
  /// Time passes. True if resting() has changed.
  bool tick(Instant now);

  /// Nothing is to be started there.
  [[nodiscard]] bool resting() const noexcept { return until_ != kNever || probe_ != kNever; }
  /// When tick() has to be called; kNever: not at all.
  [[nodiscard]] Instant next() const noexcept { return until_ < probe_ ? until_ : probe_; }
  [[nodiscard]] std::uint32_t failures() const noexcept { return failures_; }
  /// "5 starts in a row have failed, the last: no space; tried again in 12 s"; empty before the
  /// first rest and once a start has gone well.
  [[nodiscard]] std::string text(Instant now) const;

 private:
  std::uint32_t failures_ = 0;  // in a row
  Duration rest_{0};            // the last one
  Instant until_ = kNever;      // of the rest
  Instant probe_ = kNever;      // when it has gone well
  std::string why_;
};

}  // namespace starling
