// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tests/fuzz/targets.h"

namespace starling::fuzz {

/// Reads instructions; zeros behind the end.
class Script {
 public:
  explicit Script(FuzzBytes bytes) : bytes_(bytes) {}
  [[nodiscard]] bool more() const { return at_ < bytes_.size(); }
  std::uint32_t below(std::uint32_t limit) {
    return (more() ? bytes_[at_++] : std::uint8_t{0}) % limit;
  }

 private:
  FuzzBytes bytes_;
  std::size_t at_ = 0;
};

}  // namespace starling::fuzz
