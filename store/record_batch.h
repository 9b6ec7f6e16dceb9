// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/record.h"
#include "base/result.h"

namespace starling {

// Several records as one string: each behind its length.

void add_to_batch(const Record& record, std::string& batch);
[[nodiscard]] std::string pack_records(std::span<const Record> records);
/// Adds them to `out`. `invalid` says what is wrong.
[[nodiscard]] Status unpack_records(std::string_view batch, std::vector<Record>& out);

/// Whole numbers, the low byte first.
template <class Int>
void put_whole(Int x, std::string& out) {
  for (std::size_t i = 0; i < sizeof x; ++i) out += static_cast<char>(x >> (8 * i) & 0xffU);
}
template <class Int>
[[nodiscard]] Int get_whole(std::string_view bytes) {
  Int x = 0;
  for (std::size_t i = 0; i < sizeof x; ++i)
    x |= static_cast<Int>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return x;
}

}  // namespace starling
