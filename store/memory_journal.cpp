// SPDX-License-Identifier: Apache-2.0
#include "store/memory_journal.h"

#include <string>
#include <utility>

#include "store/record_batch.h"
#include "store/record_codec.h"

namespace starling {

bool MemoryJournal::refused() {
  if (!until_failure_) return false;
  if (*until_failure_ == 0) return true;
  --*until_failure_;
  return false;
}

void MemoryJournal::keep(std::span<const Record> records) {
  records_ += records.size();
  position_ += records.size();
  if (keep_ == Keep::records) kept_.insert(kept_.end(), records.begin(), records.end());
  if (keep_ != Keep::bytes) return;
  for (const Record& record : records) encode_record(record, encoded_.emplace_back());
}

Status MemoryJournal::append(std::span<const Record> records) {
  if (refused()) return {Errc::io, "the simulated disk refuses to write"};
  ++appends_;
  keep(records);
  if (next_) next_->insert(next_->end(), records.begin(), records.end());
  return done();
}

Result<std::vector<Record>> MemoryJournal::recover() {
  next_.reset();  // an earlier life's
  if (keep_ != Keep::bytes) return kept_;
  std::vector<Record> all;
  for (const auto& bytes : encoded_) {
    Result<Record> record = decode_record(bytes);
    if (!record) return record.error();
    all.push_back(std::move(record).value());
  }
  return all;
}

Status MemoryJournal::compact(std::span<const Record> records) {
  if (refused()) return {Errc::io, "the simulated disk refuses to write"};
  next_.reset();
  kept_.clear();
  encoded_.clear();
  records_ = 0;
  keep(records);
  return done();
}

Status MemoryJournal::begin_compaction(std::vector<Record> records) {
  next_ = std::move(records);
  next_written_ = 0;
  return done();
}

Result<bool> MemoryJournal::step_compaction() {
  constexpr std::size_t kStep = 100;
  if (!next_) return false;
  next_written_ += kStep;
  if (next_written_ < next_->size()) {
    if (refused()) return Error{Errc::io, "the simulated disk refuses to write"};
    return true;
  }
  const std::vector<Record> whole = *std::exchange(next_, std::nullopt);
  if (const Status replaced = compact(whole); !replaced.ok()) return replaced.error();
  return false;
}

Status MemoryJournal::archive(std::uint64_t chunk, std::span<const Record> records) {
  if (refused()) return {Errc::io, "the simulated disk refuses to write"};
  archive_[chunk] = pack_records(records);
  return done();
}

Result<std::vector<Record>> MemoryJournal::archived(std::uint64_t chunk) {
  const auto at = archive_.find(chunk);
  if (at == archive_.end())
    return Error{Errc::not_found, "there is no chunk " + std::to_string(chunk)};
  std::vector<Record> records;
  if (const Status read = unpack_records(at->second, records); !read.ok()) return read.error();
  return records;
}

Status MemoryJournal::forget(std::uint64_t chunk) {
  archive_.erase(archive_.begin(), archive_.upper_bound(chunk));
  return done();
}

}  // namespace starling
