// SPDX-License-Identifier: Apache-2.0
// seed_corpus DIR: a frame of every kind of message, a record of every kind and a journal, for the
// corpus. Run after the wire or the record format has grown.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "bus/wire/codec.h"
#include "store/record_codec.h"
#include "store/sample_records.h"
#include "store/sqlite/sqlite_journal.h"
#include "tests/fuzz/random_message.h"

namespace {

void write(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace starling;
  if (argc != 2) {
    std::cerr << "usage: seed_corpus DIR (tests/fuzz/corpus)\n";
    return 2;
  }
  const std::filesystem::path dir = argv[1];
  Codec codec;
  testing::RandomMessage random{Rng(4)};
  std::vector<bool> seen(std::variant_size_v<MessageKinds>);
  for (int n = 0; n < 10'000; ++n) {
    const Message message = random.any();
    if (seen[message.index()]) continue;
    seen[message.index()] = true;
    write(dir / "frame" / (std::string("kind-") + std::to_string(message.index())),
          codec.encode({kNewestProtocol, Incarnation{1}, 1}, message));
  }
  const std::filesystem::path journal = dir / "journal" / "sample";
  for (const char* left : {"sample", "sample.head"})
    std::filesystem::remove(dir / "journal" / left);
  {
    auto opened = SqliteJournal::open(journal);
    if (!opened || !opened.value()->recover()) return 1;
    if (!opened.value()->append(sample_records()).ok()) return 1;
  }
  for (const char* beside : {"sample-wal", "sample-shm", "sample.lock", "sample.head"}) {
    std::filesystem::remove(dir / "journal" / beside);
  }
  std::size_t at = 0;
  for (const Record& record : sample_records()) {
    std::vector<std::byte> bytes;
    encode_record(record, bytes);
    write(dir / "record" / ("sample-" + std::to_string(at++)), bytes);
  }
}
