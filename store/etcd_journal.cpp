#include "store/etcd_journal.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/planted.h"
#include "store/record_codec.h"

namespace starling {
namespace {

/// Far below the 1.5 MiB of a request that etcd takes, and a page of them is no burden to read.
constexpr std::size_t kEntryBytes = 128 * 1024;
constexpr std::int64_t kPage = 512;  // entries read at a time

constexpr char kLast = 'L';  // the batch ends with this entry
constexpr char kMore = 'M';
constexpr std::size_t kHeader = 9;  // checksum and one of the two

std::string hex16(std::uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x));
  return text;
}

template <class Int>
void put_whole(Int x, std::string& out) {
  for (std::size_t i = 0; i < sizeof x; ++i) out += static_cast<char>(x >> (8 * i) & 0xffU);
}
template <class Int>
Int get_whole(std::string_view bytes) {
  Int x = 0;
  for (std::size_t i = 0; i < sizeof x; ++i)
    x |= static_cast<Int>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return x;
}

/// Covers the entry's place, so that one in the wrong place is noticed as well as a damaged one.
std::uint64_t checksum(std::uint64_t generation, std::uint64_t seq, std::string_view rest) {
  TraceHash hash;
  hash.add(generation);
  hash.add(seq);
  hash.add(rest);
  return hash.value();
}

/// A batch as one string: each record behind its length.
std::string pack(std::span<const Record> records) {
  std::string batch;
  std::vector<std::byte> bytes;
  for (const Record& record : records) {
    bytes.clear();
    encode_record(record, bytes);
    put_whole(static_cast<std::uint32_t>(bytes.size()), batch);
    batch.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return batch;
}

Status unpack(std::string_view batch, std::vector<Record>& out) {
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

std::string head_text(std::uint64_t generation) {
  return std::to_string(kRecordFormat) + " " + std::to_string(generation);
}

}  // namespace

struct EtcdJournal::State {
  State(const EtcdAddress& flock, Ownership owner, const EtcdOptions& options)
      : keys(flock, owner.partition), mine(owner), client(flock, options) {}

  EtcdKeys keys;
  Ownership mine;
  EtcdClient client;
  std::uint64_t generation = 0;
  std::uint64_t next_seq = 0;
  std::int64_t head_revision = 0;
  bool recovered = false;
  std::optional<Error> failed;

  [[nodiscard]] Error error(Errc code, const std::string& what) const {
    return {code, "journal of partition " + std::to_string(mine.partition.value) + ": " + what};
  }
  [[nodiscard]] Error passed_on(const Error& why) const {
    return error(why.code == Errc::invalid ? Errc::invalid : Errc::io, why.message);
  }
  [[nodiscard]] EtcdCompare epoch_is_mine() const {
    return EtcdCompare::revision_is(keys.epoch, static_cast<std::int64_t>(mine.epoch.value));
  }
  [[nodiscard]] std::string generation_prefix(std::uint64_t g) const {
    return keys.journal + hex16(g) + "/";
  }
  [[nodiscard]] std::string entry_key(std::uint64_t g, std::uint64_t seq) const {
    return generation_prefix(g) + hex16(seq);
  }

  /// Nothing if the epoch, which the answer's first get read, is still this owner's.
  [[nodiscard]] std::optional<Error> fenced(const std::vector<EtcdEntry>& epoch) const;
  /// One transaction that needs the epoch, and `guard` if there is one. Where it does not hold, but
  /// `evidence` has `value`, an earlier try of the same has done it.
  Status commit(const std::optional<EtcdCompare>& guard, std::vector<EtcdOp> then,
                const std::string& evidence, const std::string& value);
  Status write(std::uint64_t g, std::uint64_t& seq, const std::string& batch);
  Status read_head();
  /// Adds the records of whole batches; leaves next_seq behind the last of them.
  Status read_entries(std::vector<Record>& records);
  Status remove_leftovers();
  Status final(Status status) {
    if (!status.ok()) failed = status.error();
    return status;
  }
};

std::optional<Error> EtcdJournal::State::fenced(const std::vector<EtcdEntry>& epoch) const {
  const std::int64_t now = epoch.empty() ? 0 : epoch.front().revision;
  if (now == static_cast<std::int64_t>(mine.epoch.value)) return std::nullopt;
  return error(Errc::fenced, "fenced: its epoch " + std::to_string(mine.epoch.value) +
                                 " is over, the partition is at epoch " + std::to_string(now) +
                                 (epoch.empty() ? "" : " with agent " + epoch.front().value));
}

Status EtcdJournal::State::commit(const std::optional<EtcdCompare>& guard, std::vector<EtcdOp> then,
                                  const std::string& evidence, const std::string& value) {
  EtcdTxn txn{{epoch_is_mine()}, std::move(then), {EtcdOp::get(keys.epoch), EtcdOp::get(evidence)}};
  if (guard) txn.conditions.push_back(*guard);
  const auto answer = client.txn(txn);
  if (!answer) return passed_on(answer.error());
  if (answer.value().held) return done();
  const auto& found = answer.value().found;
  if (found.size() != 2) return error(Errc::io, "etcd answered a transaction without its reads");
  if (const auto over = fenced(found[0])) {
    if (planted(Bug::fenced_append_done)) return done();
    return *over;
  }
  if (!found[1].empty() && found[1].front().value == value) return done();
  return error(Errc::invalid, "somebody else has written '" + evidence + "'");
}

Status EtcdJournal::State::write(std::uint64_t g, std::uint64_t& seq, const std::string& batch) {
  for (std::size_t begin = 0; begin < batch.size(); begin += kEntryBytes) {
    const std::size_t size = std::min(kEntryBytes, batch.size() - begin);
    std::string rest(1, begin + size == batch.size() ? kLast : kMore);
    rest.append(batch, begin, size);
    std::string value;
    put_whole(checksum(g, seq, rest), value);
    value += rest;
    const std::string key = entry_key(g, seq);
    const Status written =
        commit(EtcdCompare::revision_is(key, 0), {EtcdOp::put(key, value)}, key, value);
    if (!written.ok()) return written;
    ++seq;
  }
  return done();
}

Status EtcdJournal::State::read_head() {
  const std::string fresh = head_text(0);
  // A new partition gets its pointer; an old one shows the one it has, if it still is ours.
  const auto answer = client.txn({{epoch_is_mine(), EtcdCompare::revision_is(keys.head, 0)},
                                  {EtcdOp::put(keys.head, fresh)},
                                  {EtcdOp::get(keys.epoch), EtcdOp::get(keys.head)}});
  if (!answer) return passed_on(answer.error());
  head_revision = answer.value().revision;
  if (answer.value().held) return done();
  const auto& found = answer.value().found;
  if (found.size() != 2) return error(Errc::io, "etcd answered a transaction without its reads");
  if (const auto over = fenced(found[0])) return *over;
  if (found[1].empty()) return error(Errc::invalid, "'" + keys.head + "' has gone");
  head_revision = found[1].front().revision;
  const std::string& text = found[1].front().value;
  std::uint32_t format = 0;
  const char* end = text.data() + text.size();
  const auto [middle, wrong] = std::from_chars(text.data(), end, format);
  if (wrong != std::errc{} || middle == end || *middle != ' ' ||
      std::from_chars(middle + 1, end, generation).ptr != end) {
    return error(Errc::invalid, "'" + keys.head + "' is not the head of a journal");
  }
  if (format != kRecordFormat) {
    return error(Errc::invalid, "its format is " + std::to_string(format) +
                                    ", this program reads format " + std::to_string(kRecordFormat));
  }
  return done();
}

Status EtcdJournal::State::read_entries(std::vector<Record>& records) {
  const std::string prefix = generation_prefix(generation);
  const std::string end = behind(prefix);
  std::string from = prefix, batch;
  std::int64_t revision = 0;
  std::uint64_t seq = 0;
  const auto damaged = [&](const std::string& what) {
    return error(Errc::invalid, "entry '" + entry_key(generation, seq) + "' " + what +
                                    ": restore etcd from a copy");
  };
  next_seq = 0;
  for (bool more = true; more;) {
    const auto page = client.range(from, end, kPage, revision);
    if (!page) return passed_on(page.error());
    revision = page.value().revision;
    more = page.value().more && !page.value().entries.empty();
    for (const EtcdEntry& entry : page.value().entries) {
      if (entry.key != entry_key(generation, seq)) return damaged("is missing");
      const std::string_view value = entry.value;
      if (value.size() < kHeader ||
          get_whole<std::uint64_t>(value) != checksum(generation, seq, value.substr(8)))
        return damaged("does not match its checksum");
      batch += value.substr(kHeader);
      if (value[8] == kLast) {
        if (const Status read = unpack(batch, records); !read.ok())
          return damaged("is " + read.error().message);
        batch.clear();
        next_seq = seq + 1;
      }
      ++seq;
      from = entry.key + '\0';
    }
  }
  return done();
}

/// What an earlier life left unfinished: other generations, and the beginning of a batch. Writing
/// the head anew makes it happen once: a copy of this request that arrives later finds another
/// revision, and cannot remove what has been written since.
Status EtcdJournal::State::remove_leftovers() {
  const std::string head = head_text(generation);
  const std::string here = generation_prefix(generation);
  return commit(EtcdCompare::revision_is(keys.head, head_revision),
                {EtcdOp::put(keys.head, head), EtcdOp::erase_range(keys.journal, here),
                 EtcdOp::erase_range(entry_key(generation, next_seq), behind(keys.journal))},
                keys.head, head);
}

EtcdJournal::EtcdJournal(std::unique_ptr<State> state) : state_(std::move(state)) {}
EtcdJournal::~EtcdJournal() = default;

Result<std::unique_ptr<Journal>> EtcdJournal::open(const EtcdAddress& flock, const Ownership& mine,
                                                   const EtcdOptions& options) {
  auto state = std::make_unique<State>(flock, mine, options);
  if (const Status read = state->read_head(); !read.ok()) return read.error();
  return std::unique_ptr<Journal>(new EtcdJournal(std::move(state)));
}

Result<std::vector<Record>> EtcdJournal::recover() {
  State& s = *state_;
  std::vector<Record> records;
  if (const Status read = s.read_entries(records); !read.ok()) return read.error();
  // Also the proof that nobody has taken over meanwhile: what was read is the end of the story.
  if (const Status removed = s.remove_leftovers(); !removed.ok()) return removed.error();
  s.recovered = true;
  return records;
}

Status EtcdJournal::append(std::span<const Record> records) {
  State& s = *state_;
  STARLING_CHECK(s.recovered);
  if (s.failed) return *s.failed;
  return s.final(s.write(s.generation, s.next_seq, pack(records)));
}

Status EtcdJournal::compact(std::span<const Record> records) {
  State& s = *state_;
  STARLING_CHECK(s.recovered);
  if (s.failed) return *s.failed;
  const std::uint64_t next = s.generation + 1;
  std::uint64_t seq = 0;
  Status status = s.write(next, seq, pack(records));
  if (status.ok()) {
    const std::string head = head_text(next);
    const std::string old = s.generation_prefix(s.generation);
    status = s.commit(EtcdCompare::value_is(s.keys.head, head_text(s.generation)),
                      {EtcdOp::put(s.keys.head, head), EtcdOp::erase_range(old, behind(old))},
                      s.keys.head, head);
  }
  if (!status.ok()) return s.final(status);
  s.generation = next;
  s.next_seq = seq;
  return done();
}

}  // namespace starling
