#include "store/etcd_journal.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/planted.h"
#include "store/record_batch.h"
#include "store/record_codec.h"

namespace starling {
namespace {

/// Far below the 1.5 MiB of a request that etcd takes, and a page of them is no burden to read.
constexpr std::size_t kEntryBytes = 128 * 1024;
constexpr std::int64_t kPage = 512;                      // entries read at a time, at most
constexpr std::int64_t kFirstPage = 16;                  // and at first, for they may be large
constexpr std::size_t kPageBytes = std::size_t{2} << 20U;  // wanted
constexpr std::uint64_t kRemoved = 256;                  // old entries, in one step of a compaction
constexpr std::uint64_t kArchive = ~std::uint64_t{0};    // in the place of a generation

constexpr char kLast = 'L';  // the batch ends with this entry
constexpr char kMore = 'M';
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
  std::uint64_t bytes = 0;  // of batches of this generation
  std::function<void()> progress;
  std::optional<Error> failed;

  /// The next generation, until it counts; then what is left of the old one.
  struct Compaction {
    std::vector<Record> records;
    std::size_t written = 0;  // of `records`
    std::string tail;         // what was appended since
    std::uint64_t seq = 0, bytes = 0;
    bool counts = false;
    std::uint64_t old_end = 0, removed = 0;  // entries of the old generation
  };
  std::optional<Compaction> compaction;

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
  Status write_next();
  Status turn_head();
  Status remove_old();
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
  std::int64_t revision = 0, limit = kFirstPage;
  std::uint64_t seq = 0;
  const auto damaged = [&](const std::string& what) {
    return error(Errc::invalid, "entry '" + entry_key(generation, seq) + "' " + what +
                                    ": restore etcd from a copy");
  };
  next_seq = 0;
  bytes = 0;
  for (bool more = true; more;) {
    const auto page = client.range(from, end, limit, revision);
    if (!page) return passed_on(page.error());
    if (progress) progress();
    std::size_t size = 1;
    for (const EtcdEntry& entry : page.value().entries) size += entry.value.size();
    const auto fitting = static_cast<std::int64_t>(kPageBytes * page.value().entries.size() / size);
    limit = std::clamp<std::int64_t>(fitting, 1, std::min(kPage, 2 * limit));
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
        if (const Status read = unpack_records(batch, records); !read.ok())
          return damaged("is " + read.error().message);
        bytes += batch.size();
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
                                                   const EtcdOptions& options,
                                                   std::function<void()> progress) {
  auto state = std::make_unique<State>(flock, mine, options);
  state->progress = std::move(progress);
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
  const std::string batch = pack_records(records);
  const Status written = s.write(s.generation, s.next_seq, batch);
  s.bytes += batch.size();
  if (written.ok() && s.compaction && !s.compaction->counts) s.compaction->tail += batch;
  return s.final(written);
}

Status EtcdJournal::compact(std::span<const Record> records) {
  if (Status begun = begin_compaction({records.begin(), records.end()}); !begun.ok()) return begun;
  for (;;) {
    const Result<bool> more = step_compaction();
    if (!more) return more.error();
    if (!more.value()) return done();
  }
}

Status EtcdJournal::begin_compaction(std::vector<Record> records) {
  State& s = *state_;
  STARLING_CHECK(s.recovered && !s.compaction);
  if (s.failed) return *s.failed;
  s.compaction.emplace().records = std::move(records);
  return done();
}

Result<bool> EtcdJournal::step_compaction() {
  State& s = *state_;
  if (s.failed) return *s.failed;
  if (!s.compaction) return false;
  const Status step = s.compaction->counts ? s.remove_old() : s.write_next();
  if (!step.ok()) return s.final(step).error();
  if (s.compaction->counts && s.compaction->removed >= s.compaction->old_end) s.compaction.reset();
  return s.compaction.has_value();
}

/// About one entry. What was appended meanwhile comes when all else is written, and then the turn.
Status EtcdJournal::State::write_next() {
  Compaction& c = *compaction;
  std::string batch;
  while (c.written < c.records.size() && batch.size() < kEntryBytes) {
    add_to_batch(c.records[c.written], batch);
    c.records[c.written++] = Record{};
  }
  if (c.written == c.records.size()) batch += std::exchange(c.tail, {});
  c.bytes += batch.size();
  const Status written = write(generation + 1, c.seq, batch);
  return written.ok() && c.written == c.records.size() ? turn_head() : written;
}

Status EtcdJournal::State::turn_head() {
  const std::string head = head_text(generation + 1);
  const Status turned = commit(EtcdCompare::value_is(keys.head, head_text(generation)),
                               {EtcdOp::put(keys.head, head)}, keys.head, head);
  if (!turned.ok()) return turned;
  compaction->counts = true;
  compaction->old_end = std::exchange(next_seq, compaction->seq);
  bytes = compaction->bytes;
  ++generation;
  return done();
}

Status EtcdJournal::State::remove_old() {
  Compaction& c = *compaction;
  const std::uint64_t end = std::min(c.removed + kRemoved, c.old_end);
  const Status gone = commit(
      std::nullopt,
      {EtcdOp::erase_range(entry_key(generation - 1, c.removed), entry_key(generation - 1, end))},
      keys.head, head_text(generation));
  c.removed = end;
  return gone;
}

std::uint64_t EtcdJournal::bytes() const { return state_->bytes; }

Status EtcdJournal::archive(std::uint64_t chunk, std::span<const Record> records) {
  State& s = *state_;
  if (s.failed) return *s.failed;
  const std::string batch = pack_records(records), key = s.keys.archive + hex16(chunk);
  std::string value;
  put_whole(checksum(kArchive, chunk, batch), value);
  value += batch;
  return s.final(s.commit(std::nullopt, {EtcdOp::put(key, value)}, key, value));
}

Result<std::vector<Record>> EtcdJournal::archived(std::uint64_t chunk) {
  State& s = *state_;
  const std::string key = s.keys.archive + hex16(chunk);
  const auto page = s.client.range(key, key + '\0', 1);
  if (!page) return s.passed_on(page.error());
  if (page.value().entries.empty())
    return s.error(Errc::not_found, "there is no chunk '" + key + "'");
  const std::string_view value = page.value().entries.front().value;
  std::vector<Record> records;
  if (value.size() < 8 || get_whole<std::uint64_t>(value) != checksum(kArchive, chunk, value.substr(8)))
    return s.error(Errc::invalid, "'" + key + "' does not match its checksum");
  if (const Status read = unpack_records(value.substr(8), records); !read.ok())
    return s.error(Errc::invalid, "'" + key + "' is " + read.error().message);
  return records;
}

Status EtcdJournal::forget(std::uint64_t chunk) {
  State& s = *state_;
  if (s.failed) return *s.failed;
  const std::string last = s.keys.archive + hex16(chunk);
  return s.final(s.commit(std::nullopt, {EtcdOp::erase_range(s.keys.archive, last + '\0')},
                          s.keys.head, head_text(s.generation)));
}

}  // namespace starling
