// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "agents/record.h"
#include "base/result.h"

namespace starling {

/// Grows with every change of the encoding; a journal of another format is refused, never guessed
/// at.
constexpr std::uint32_t kRecordFormat = 1;

/// Appends the bytes of one record: its kind, then its fields in their order; integers as varints,
/// so that a small record takes tens of bytes.
void encode_record(const Record& record, std::vector<std::byte>& out);

/// Reads exactly one record that fills `bytes`. Trusts nothing: `invalid` with the reason for a
/// kind, count, range or length that cannot be.
[[nodiscard]] Result<Record> decode_record(std::span<const std::byte> bytes);

}  // namespace starling
