// SPDX-License-Identifier: Apache-2.0
#include "store/record_batch.h"

#include <utility>

#include "store/record_codec.h"

namespace starling {

void add_to_batch(const Record& record, std::string& batch) {
  std::vector<std::byte> bytes;
  encode_record(record, bytes);
  put_whole(static_cast<std::uint32_t>(bytes.size()), batch);
  batch.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string pack_records(std::span<const Record> records) {
  std::string batch;
  for (const Record& record : records) add_to_batch(record, batch);
  return batch;
}

Status unpack_records(std::string_view batch, std::vector<Record>& out) {
  while (!batch.empty()) {
    if (batch.size() < 4) return {Errc::invalid, "cut off"};
    const auto size = get_whole<std::uint32_t>(batch);
    batch.remove_prefix(4);
    if (size > batch.size()) return {Errc::invalid, "cut off"};
    const auto* data = reinterpret_cast<const std::byte*>(batch.data());
    Result<Record> record = decode_record(std::span(data, size));
    if (!record) return record.error();
    out.push_back(std::move(record).value());
    batch.remove_prefix(size);
  }
  return done();
}

}  // namespace starling
