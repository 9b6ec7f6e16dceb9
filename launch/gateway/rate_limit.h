// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/time.h"

namespace starling {

/// So many requests a second for each caller, and some at once before that (a token bucket each).
/// Memory is bounded: a caller that has not asked for as long as a bucket takes to fill up is
/// forgotten.
class RateLimit {
 public:
  /// `rate` in requests a second; `burst` >= 1.
  RateLimit(double rate, double burst) : rate_(rate), burst_(burst) {}

  /// Zero: it may go on, and is counted. Else how long the caller has to wait for that.
  [[nodiscard]] Duration wait(const std::string& caller, Instant now);

  static constexpr std::size_t kMostCallers = 65'536;

 private:
  struct Bucket {
    double filled = 0;
    Instant at;
  };
  void forget_idle(Instant now);
  [[nodiscard]] double level(const Bucket& bucket, Instant now) const;

  double rate_, burst_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace starling
