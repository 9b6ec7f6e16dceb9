#include "store/record_codec.h"

#include <doctest/doctest.h>

#include <set>

#include "base/rng.h"
#include "store/sample_records.h"

using namespace starling;

TEST_CASE("every kind of record survives the way there and back") {
  std::set<std::size_t> kinds;
  for (const Record& record : sample_records()) {
    kinds.insert(record.index());
    std::vector<std::byte> bytes;
    encode_record(record, bytes);
    CHECK(same_records({decode_record(bytes).value()}, {record}));
  }
  CHECK(kinds.size() == std::variant_size_v<Record>);
  std::vector<std::byte> bytes;
  encode_record(sample_records()[7], bytes);
  const auto committed = std::get<ShareCommitted>(decode_record(bytes).value());
  CHECK(committed.commit.spec.command == sample_spec(0).command);
  CHECK(committed.commit.spec.memory_gib_per_worker == -0.25);
  CHECK(committed.commit.spec.priority == -7);
}

TEST_CASE("a record cut short or with something behind it is refused") {
  for (const Record& record : sample_records()) {
    std::vector<std::byte> bytes;
    encode_record(record, bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CHECK(decode_record(std::span(bytes).first(size)).error().code == Errc::invalid);
    }
    bytes.push_back(std::byte{0});
    CHECK_FALSE(decode_record(bytes).ok());
  }
}

TEST_CASE("damaged bytes never crash and never allocate what is not there") {
  Rng rng(5);
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::vector<Record> samples = sample_records();
    std::vector<std::byte> bytes;
    encode_record(samples[rng.below(static_cast<std::uint32_t>(samples.size()))], bytes);
    for (std::uint32_t flips = 1 + rng.below(4); flips > 0; --flips) {
      bytes[rng.below(static_cast<std::uint32_t>(bytes.size()))] =
          static_cast<std::byte>(rng.below(256));
    }
    const Result<Record> record = decode_record(bytes);
    if (!record) ++refused;
  }
  CHECK(refused > 1000);
}
