// SPDX-License-Identifier: Apache-2.0
// What the disk hands to a node.
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "store/record_codec.h"
#include "store/sqlite/journal_head.h"
#include "store/sqlite/sqlite_journal.h"
#include "tests/fuzz/targets.h"

namespace starling::fuzz {

void record(FuzzBytes bytes) {
  const Result<Record> got = decode_record(std::as_bytes(bytes));
  if (!got) return;
  std::vector<std::byte> again, third;
  encode_record(got.value(), again);
  const Result<Record> back = decode_record(again);
  STARLING_CHECK(back.ok());
  encode_record(back.value(), third);
  STARLING_CHECK(again == third);
}

void journal(FuzzBytes bytes) {
  // SQLite wants a real file beside which it can put others.
  static const std::filesystem::path dir =
      std::filesystem::temp_directory_path() / ("starling-fuzz-" + std::to_string(getpid()));
  std::filesystem::create_directories(dir);
  const std::filesystem::path file = dir / "journal.db";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  // That nothing was ever durable lets every length of it pass.
  STARLING_CHECK(JournalHead::open(file, 0).ok());
  if (auto opened = SqliteJournal::open(file)) {
    if (opened.value()->recover()) {
      const Record one = LifeBegan{Incarnation{1}, Epoch{1}};
      (void)opened.value()->append({&one, 1});
    }
  }
  std::filesystem::remove_all(dir);
}

}  // namespace starling::fuzz
