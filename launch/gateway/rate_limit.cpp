// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/rate_limit.h"

#include <algorithm>

namespace starling {

double RateLimit::level(const Bucket& bucket, Instant now) const {
  return std::min(burst_, bucket.filled + seconds(now - bucket.at) * rate_);
}

void RateLimit::forget_idle(Instant now) {
  std::erase_if(buckets_, [&](const auto& one) { return level(one.second, now) >= burst_; });
  // All of them are busy: so many addresses are an attack, and no count is worth keeping.
  if (buckets_.size() >= kMostCallers) buckets_.clear();
}

Duration RateLimit::wait(const std::string& caller, Instant now) {
  if (buckets_.size() >= kMostCallers && !buckets_.contains(caller)) forget_idle(now);
  Bucket& bucket = buckets_.try_emplace(caller, Bucket{burst_, now}).first->second;
  bucket.filled = level(bucket, now);
  bucket.at = now;
  if (bucket.filled >= 1) {
    bucket.filled -= 1;
    return Duration::zero();
  }
  return from_seconds((1 - bucket.filled) / rate_);
}

}  // namespace starling
