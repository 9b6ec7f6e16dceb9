// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace starling {

/// Which jobs have been passed by: another one that came later, and is no more urgent, has started
/// here. Kept in memory alone: in a next life jobs are passed by anew.
class Passing {
 public:
  static constexpr std::size_t kMost = 256;  ///< priorities told apart

  void started(std::int32_t priority, std::uint64_t order);
  [[nodiscard]] bool has_passed(std::int32_t priority, std::uint64_t order) const;
  [[nodiscard]] std::size_t size() const noexcept { return newest_.size(); }

 private:
  /// By priority: the newest that has started, if none of a lower priority is newer; so ascending.
  std::map<std::int32_t, std::uint64_t> newest_;
};

}  // namespace starling
