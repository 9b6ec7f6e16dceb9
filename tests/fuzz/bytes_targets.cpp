// What other processes and the disk hand to a node.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "bus/codec.h"
#include "store/record_codec.h"
#include "store/sqlite_journal.h"
#include "tests/fuzz/targets.h"

namespace starling::fuzz {

void frame(Bytes bytes) {
  static Codec codec, second;
  const Result<Frame> got = codec.decode(std::as_bytes(bytes));
  if (!got) return;
  const auto again = second.encode(got.value().header, got.value().message);
  const std::vector<std::byte> copy(again.begin(), again.end());
  const Result<Frame> back = codec.decode(copy);
  STARLING_CHECK(back.ok());
  const auto third = second.encode(back.value().header, back.value().message);
  STARLING_CHECK(std::equal(third.begin(), third.end(), copy.begin(), copy.end()));
}

void record(Bytes bytes) {
  const Result<Record> got = decode_record(std::as_bytes(bytes));
  if (!got) return;
  std::vector<std::byte> again, third;
  encode_record(got.value(), again);
  const Result<Record> back = decode_record(again);
  STARLING_CHECK(back.ok());
  encode_record(back.value(), third);
  STARLING_CHECK(again == third);
}

void journal(Bytes bytes) {
  // SQLite wants a real file beside which it can put others.
  static const std::filesystem::path dir =
      std::filesystem::temp_directory_path() / ("starling-fuzz-" + std::to_string(getpid()));
  std::filesystem::create_directories(dir);
  const std::filesystem::path file = dir / "journal.db";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (auto opened = SqliteJournal::open(file)) {
    if (opened.value()->recover()) {
      const Record one = LifeBegan{Incarnation{1}, Epoch{1}};
      (void)opened.value()->append({&one, 1});
    }
  }
  std::filesystem::remove_all(dir);
}

}  // namespace starling::fuzz
