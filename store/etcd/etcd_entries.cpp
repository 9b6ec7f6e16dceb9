// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_entries.h"

#include <charconv>
#include <cstdio>

#include "base/hash.h"
#include "store/loss.h"
#include "store/record_batch.h"
#include "store/record_codec.h"

namespace starling {
namespace {

constexpr std::uint64_t kArchive = ~std::uint64_t{0};  // in the place of a generation
constexpr char kLast = 'L', kMore = 'M';
constexpr std::size_t kHeader = 9;  // checksum and one of the two

std::string hex16(std::uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x));
  return text;
}

/// Covers the entry's place, so that one in the wrong place is noticed as well as a damaged one.
std::uint64_t checksum(std::uint64_t generation, std::uint64_t seq, std::string_view rest) {
  TraceHash hash;
  hash.add(generation);
  hash.add(seq);
  hash.add(rest);
  return hash.value();
}

std::string with_checksum(std::uint64_t generation, std::uint64_t seq, std::string_view rest) {
  std::string value;
  value.reserve(rest.size() + sizeof(std::uint64_t));
  put_whole(checksum(generation, seq, rest), value);
  value += rest;
  return value;
}

/// Two numbers with a space between them, and nothing else.
template <class First, class Second>
bool two_numbers(const std::string& text, First& first, Second& second) {
  const char* end = text.data() + text.size();
  const auto [middle, wrong] = std::from_chars(text.data(), end, first);
  if (wrong != std::errc{} || middle == end || *middle != ' ') return false;
  const auto [last, also] = std::from_chars(middle + 1, end, second);
  return also == std::errc{} && last == end;
}

/// Beside the head.
std::string key_named(const EtcdKeys& keys, const char* name) {
  return keys.head.substr(0, keys.head.rfind('/') + 1) + name;
}

}  // namespace

std::string etcd_end_key(const EtcdKeys& keys) { return key_named(keys, "end"); }
std::string etcd_told_key(const EtcdKeys& keys) { return key_named(keys, "told"); }
std::string etcd_accepted_key(const EtcdKeys& keys) { return key_named(keys, "accepted"); }
std::string etcd_memory_key(const EtcdKeys& keys) { return key_named(keys, "memory"); }
std::string etcd_generation(const EtcdKeys& keys, std::uint64_t generation) {
  return keys.journal + hex16(generation) + "/";
}
std::string etcd_entry_key(const EtcdKeys& keys, std::uint64_t generation, std::uint64_t seq) {
  return etcd_generation(keys, generation) + hex16(seq);
}
std::string etcd_chunk_key(const EtcdKeys& keys, std::uint64_t chunk) {
  return keys.archive + hex16(chunk);
}

std::string etcd_head_text(std::uint64_t generation) {
  return std::to_string(kRecordFormat) + " " + std::to_string(generation);
}

Result<std::uint64_t> parse_etcd_head(const std::string& text) {
  std::uint32_t format = 0;
  std::uint64_t generation = 0;
  if (!two_numbers(text, format, generation))
    return {Errc::invalid, "is not the head of a journal"};
  if (format == kRecordFormat) return generation;
  return {Errc::invalid, "is of another version: its format is " + std::to_string(format) +
                             ", this program reads format " + std::to_string(kRecordFormat)};
}

std::string to_text(const EtcdEnd& end) {
  return std::to_string(end.generation) + " " + std::to_string(end.entries);
}

Result<EtcdEnd> parse_etcd_end(const std::string& text) {
  EtcdEnd end;
  if (two_numbers(text, end.generation, end.entries)) return end;
  return {Errc::invalid, "does not say where a journal ends"};
}

std::string etcd_entry(std::uint64_t generation, std::uint64_t seq, bool last,
                       std::string_view part) {
  std::string rest(1, last ? kLast : kMore);
  rest += part;
  return with_checksum(generation, seq, rest);
}

std::string etcd_chunk(std::uint64_t chunk, std::string_view batch) {
  return with_checksum(kArchive, chunk, batch);
}

Status read_etcd_chunk(std::uint64_t chunk, std::string_view value, std::vector<Record>& records) {
  if (value.size() < sizeof(std::uint64_t) ||
      get_whole<std::uint64_t>(value) != checksum(kArchive, chunk, value.substr(8)))
    return {Errc::invalid, "does not match its checksum"};
  const Status read = unpack_records(value.substr(8), records);
  return read.ok() ? read : Status(Errc::invalid, "is " + read.error().message);
}

Error EtcdEntryReader::damaged(const std::string& what) const {
  return {Errc::invalid,
          "entry '" + etcd_entry_key(keys_, generation_, seq_) + "' " + what + kAfterLoss};
}

Status EtcdEntryReader::add(std::string_view key, std::string_view value,
                            std::vector<Record>& out) {
  if (key != etcd_entry_key(keys_, generation_, seq_)) return damaged("is missing");
  if (value.size() < kHeader ||
      get_whole<std::uint64_t>(value) != checksum(generation_, seq_, value.substr(8)))
    return damaged("does not match its checksum");
  batch_ += value.substr(kHeader);
  if (value[8] == kLast) {
    const std::size_t before = out.size();
    if (const Status read = unpack_records(batch_, out); !read.ok()) {
      out.resize(before);
      return damaged("is " + read.error().message);
    }
    bytes_ += batch_.size();
    batch_.clear();
    next_ = seq_ + 1;
  }
  ++seq_;
  return done();
}

Status EtcdEntryReader::finish(const EtcdEnd& end) const {
  if (end.generation != generation_ || end.entries <= next_) return done();
  return {Errc::invalid, std::to_string(end.entries - next_) + " entries are missing: '" +
                             etcd_entry_key(keys_, generation_, end.entries - 1) +
                             "' was durable, and the last whole batch ends before '" +
                             etcd_entry_key(keys_, generation_, next_) + "'" + kAfterLoss};
}

}  // namespace starling
