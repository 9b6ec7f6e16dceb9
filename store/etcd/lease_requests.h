// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "agents/epoch_authority.h"

namespace starling {

/// What an authority has been asked and has not done yet, in its order, for what does it beside
/// those that ask: the thread of EtcdAuthority, a task of a simulation.
class LeaseRequests {
 public:
  struct Request {
    enum class Kind : std::uint8_t { acquire, renew, release };
    Kind kind = Kind::renew;
    Ownership what;  ///< acquire: with the expected epoch

    /// Asks `leases`, which does it and waits for it.
    void make(EpochAuthority& leases) const;
  };

  /// False: a renewal that was asked for last and still waits.
  bool add(const Request& request);
  /// From now on there are releases alone.
  void stop();
  [[nodiscard]] bool empty() const noexcept { return requests_.empty(); }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  [[nodiscard]] std::optional<Request> next();

 private:
  std::deque<Request> requests_;
  bool stopped_ = false;
};

}  // namespace starling
