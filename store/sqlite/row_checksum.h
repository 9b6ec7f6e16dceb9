// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/hash.h"

namespace starling {

/// Of a row of a journal in SQLite. Covers the row's number, so that a row in the wrong place is
/// noticed as well as a damaged one.
[[nodiscard]] inline std::int64_t row_checksum(std::int64_t seq, std::span<const std::byte> body) {
  TraceHash hash;
  hash.add(static_cast<std::uint64_t>(seq));
  hash.add(body);
  return static_cast<std::int64_t>(hash.value());
}

}  // namespace starling
