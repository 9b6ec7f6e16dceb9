#include "store/memory_journal.h"

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
  if (keep_ == Keep::records) kept_.insert(kept_.end(), records.begin(), records.end());
  if (keep_ != Keep::bytes) return;
  for (const Record& record : records) encode_record(record, encoded_.emplace_back());
}

Status MemoryJournal::append(std::span<const Record> records) {
  if (refused()) return {Errc::io, "the simulated disk refuses to write"};
  ++appends_;
  keep(records);
  return done();
}

Result<std::vector<Record>> MemoryJournal::recover() {
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
  kept_.clear();
  encoded_.clear();
  records_ = 0;
  keep(records);
  return done();
}

}  // namespace starling
