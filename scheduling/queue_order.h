// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>

#include "scheduling/policy.h"

namespace starling {

/// Implemented by policies that ask the waiting jobs in another order than by priority and, among
/// equals, by submission. For people: nothing decides by it.
class QueueOrder {
 public:
  virtual ~QueueOrder() = default;
  /// Of two jobs that wait here: whether `a` is asked for its turn before `b`, by what the policy
  /// knows since its last decide(). A strict weak order.
  [[nodiscard]] virtual bool asks_first(const JobView& a, const JobView& b, Instant now) const = 0;
};

/// The order by priority, then by a key, the smaller first, then by submission.
template <class Key>
[[nodiscard]] bool goes_before(const JobView& a, const Key& key_of_a, const JobView& b,
                               const Key& key_of_b) {
  return std::tie(b.spec->priority, key_of_a, a.submitted, a.order) <
         std::tie(a.spec->priority, key_of_b, b.submitted, b.order);
}

/// Which of two jobs that wait the policy asks first.
[[nodiscard]] inline bool asks_first(const Policy& policy, const JobView& a, const JobView& b,
                                     Instant now) {
  const auto* own = dynamic_cast<const QueueOrder*>(&policy);
  return own == nullptr ? goes_before(a, 0, b, 0) : own->asks_first(a, b, now);
}

}  // namespace starling
