// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/chaos/machine/reaper.h"

namespace starling::chaos_live {

/// Hosts that are network namespaces of this machine, one per rack, joined by a bridge. Needs root,
/// ip(8), and nft(8) for packet loss.
class Namespaces {
 public:
  /// Why this machine cannot have them; empty if it can.
  [[nodiscard]] static std::string missing();
  /// `io` with the command that failed. What was made is removed at the end, also by the reaper.
  [[nodiscard]] static Result<std::unique_ptr<Namespaces>> make(std::uint32_t racks,
                                                                const Reaper& reaper);
  ~Namespaces();
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;

  /// Where this process and etcd are to be reached from all racks.
  [[nodiscard]] std::string here() const { return subnet_ + ".1"; }
  [[nodiscard]] std::string address(std::uint32_t rack) const {
    return subnet_ + "." + std::to_string(rack + 10);
  }
  /// What stands before a command that is to run there.
  [[nodiscard]] std::vector<std::string> inside(std::uint32_t rack) const;
  void link(std::uint32_t rack, bool up) const;
  /// Share of the packets that leave the rack or come to it; 0: none.
  void loss(std::uint32_t rack, double share) const;

 private:
  Namespaces() = default;
  [[nodiscard]] std::string name(std::uint32_t rack) const {
    return prefix_ + "r" + std::to_string(rack);
  }
  std::string prefix_, subnet_;
  std::uint32_t racks_ = 0;
};

}  // namespace starling::chaos_live
