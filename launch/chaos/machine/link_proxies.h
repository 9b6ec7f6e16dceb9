// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace starling::chaos_live {

/// What befalls the bytes of one link, in both directions of its connections: between two nodes
/// each direction of frames has a connection of its own.
struct LinkFaults {
  int cuts = 0;  ///< above 0: nothing passes. What waits passes when it is healed.
  double delay_s = 0, jitter_s = 0;
  double bytes_per_s = 0;   ///< 0: no bound
  double closes_per_s = 0;  ///< each connection is closed so often
  double corrupt = 0;       ///< so many of the pieces have a bit flipped

  friend bool operator==(const LinkFaults&, const LinkFaults&) = default;
};

struct LinkCounters {
  std::atomic<std::uint64_t> connections{0}, bytes{0}, closed{0}, corrupted{0};
};

/// TCP proxies in one thread of their own: each link listens on a port and passes on what comes to
/// where the link leads.
class LinkProxies {
 public:
  explicit LinkProxies(std::uint64_t seed);
  ~LinkProxies();
  LinkProxies(const LinkProxies&) = delete;
  LinkProxies& operator=(const LinkProxies&) = delete;

  /// A link from a free port of `listen_host` to `host`:`port` (IPv4); its number is one more than
  /// the last one's. Returns the port. Before start() only.
  [[nodiscard]] Result<std::uint16_t> add(const std::string& listen_host, const std::string& host,
                                          std::uint16_t port);
  void start();
  void set(std::size_t link, const LinkFaults& faults);
  [[nodiscard]] const LinkCounters& counters() const noexcept;

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace starling::chaos_live
