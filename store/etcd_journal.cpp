#include "store/etcd_journal.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <optional>
#include <utility>

#include "base/planted.h"
#include "store/etcd_entries.h"
#include "store/record_batch.h"

namespace starling {
namespace {

constexpr std::int64_t kPage = 512;                        // entries read at a time, at most
constexpr std::int64_t kFirstPage = 16;                    // and at first, for they may be large
constexpr std::size_t kPageBytes = std::size_t{2} << 20U;  // wanted
constexpr std::size_t kLastBytes = 32 * 1024;  // written together with the turn, at most
constexpr std::uint64_t kRemoved = 256;        // old entries, in one step of a compaction

}  // namespace

struct EtcdJournal::State {
  State(const EtcdAddress& flock, Ownership owner, const EtcdOptions& options)
      : keys(flock, owner.partition), mine(owner), client(flock, options), beside(flock, options) {}

  EtcdKeys keys;
  Ownership mine;
  EtcdClient client;
  EtcdClient beside;  // of whoever works beside the journal's thread, one at a time
  std::uint64_t generation = 0;
  std::uint64_t least_next = 0;  // generation of the next compaction, at least
  std::uint64_t next_seq = 0;
  std::uint64_t count = 0;  // records of this generation
  EtcdEnd end;              // as it was found
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
    std::uint64_t generation = 0, seq = 0, bytes = 0, count = 0;
    std::future<Status> under_way;  // the write of what was handed over last
    bool counts = false;
    std::uint64_t old = 0, old_end = 0, removed = 0;  // the old generation, its entries
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
  /// Nothing if the epoch, which the answer's first get read, is still this owner's.
  [[nodiscard]] std::optional<Error> fenced(const std::vector<EtcdEntry>& epoch) const;
  /// One transaction that needs the epoch, and `guard` if there is one. Where it does not hold, but
  /// `evidence` has `value`, an earlier try of the same has done it.
  Status commit(EtcdClient& way, const std::optional<EtcdCompare>& guard, std::vector<EtcdOp> then,
                const std::string& evidence, const std::string& value) const;
  Status commit(const std::optional<EtcdCompare>& guard, std::vector<EtcdOp> then,
                const std::string& evidence, const std::string& value) {
    return commit(client, guard, std::move(then), evidence, value);
  }
  /// `counts`: of the generation that does, so its end moves.
  Status write(EtcdClient& way, std::uint64_t g, std::uint64_t& seq, const std::string& batch,
               bool counts) const;
  Status read_head();
  /// Adds the records of whole batches; leaves next_seq behind the last of them, also where what
  /// comes then is damaged.
  Status read_entries(std::vector<Record>& records);
  Status remove_leftovers();
  Status write_next();
  /// True while what was handed over last is not written yet.
  bool is_writing();
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

Status EtcdJournal::State::commit(EtcdClient& way, const std::optional<EtcdCompare>& guard,
                                  std::vector<EtcdOp> then, const std::string& evidence,
                                  const std::string& value) const {
  EtcdTxn txn{{epoch_is_mine()}, std::move(then), {EtcdOp::get(keys.epoch), EtcdOp::get(evidence)}};
  if (guard) txn.conditions.push_back(*guard);
  const auto answer = way.txn(txn);
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

Status EtcdJournal::State::write(EtcdClient& way, std::uint64_t g, std::uint64_t& seq,
                                 const std::string& batch, bool counts) const {
  for (std::size_t begin = 0; begin < batch.size(); begin += kEtcdEntryBytes) {
    const std::size_t size = std::min(kEtcdEntryBytes, batch.size() - begin);
    const bool last = begin + size == batch.size();
    const std::string key = etcd_entry_key(keys, g, seq);
    const std::string value = etcd_entry(g, seq, last, std::string_view(batch).substr(begin, size));
    std::vector<EtcdOp> ops{EtcdOp::put(key, value)};
    if (counts && last)
      ops.push_back(EtcdOp::put(etcd_end_key(keys), to_text(EtcdEnd{g, seq + 1})));
    const Status written =
        commit(way, EtcdCompare::revision_is(key, 0), std::move(ops), key, value);
    if (!written.ok()) return written;
    ++seq;
  }
  return done();
}

Status EtcdJournal::State::read_head() {
  const std::string end_key = etcd_end_key(keys);
  // A new partition gets its pointer; an old one shows the one it has, if it still is ours.
  const auto answer =
      client.txn({{epoch_is_mine(), EtcdCompare::revision_is(keys.head, 0)},
                  {EtcdOp::put(keys.head, etcd_head_text(0))},
                  {EtcdOp::get(keys.epoch), EtcdOp::get(keys.head), EtcdOp::get(end_key)}});
  if (!answer) return passed_on(answer.error());
  head_revision = answer.value().revision;
  if (answer.value().held) return done();
  const auto& found = answer.value().found;
  if (found.size() != 3) return error(Errc::io, "etcd answered a transaction without its reads");
  if (const auto over = fenced(found[0])) return *over;
  if (found[1].empty()) return error(Errc::invalid, "'" + keys.head + "' has gone");
  head_revision = found[1].front().revision;
  const auto head = parse_etcd_head(found[1].front().value);
  if (!head) return error(Errc::invalid, "'" + keys.head + "' " + head.error().message);
  generation = head.value();
  if (found[2].empty()) return done();
  const auto known = parse_etcd_end(found[2].front().value);
  if (!known) return error(Errc::invalid, "'" + end_key + "' " + known.error().message);
  end = known.value();
  return done();
}

/// The first page tells how many entries make a page. From then on two are on their way while one
/// is looked at, since entries have known names: etcd works, we work, and neither waits.
Status EtcdJournal::State::read_entries(std::vector<Record>& records) {
  const std::string prefix = etcd_generation(keys, generation);
  EtcdEntryReader reader(keys, generation);
  std::int64_t limit = kFirstPage;
  const auto take = [&](const EtcdPage& page) -> Status {
    if (progress) progress();
    std::size_t size = 1;
    for (const EtcdEntry& entry : page.entries) size += entry.value.size();
    const auto fitting = static_cast<std::int64_t>(kPageBytes * page.entries.size() / size);
    if (!page.entries.empty())
      limit = std::clamp<std::int64_t>(fitting, 1, std::min(kPage, 2 * limit));
    for (const EtcdEntry& entry : page.entries) {
      if (const Status good = reader.add(entry.key, entry.value, records); !good.ok())
        return error(Errc::invalid, good.error().message);
    }
    return done();
  };
  const auto read = [&]() -> Status {
    const auto first = client.range(prefix, behind(prefix), limit);
    if (!first) return passed_on(first.error());
    const std::int64_t revision = first.value().revision;
    std::uint64_t asked = first.value().entries.size();
    if (const Status taken = take(first.value()); !taken.ok()) return taken;
    std::deque<std::future<Result<EtcdPage>>> coming;
    const auto ask = [&](EtcdClient& way) {
      const std::uint64_t from = std::exchange(asked, asked + static_cast<std::uint64_t>(limit));
      coming.push_back(
          std::async(std::launch::async,
                     [&way, revision, n = limit, begin = etcd_entry_key(keys, generation, from),
                      end_key = etcd_entry_key(keys, generation, asked)] {
                       return way.range(begin, end_key, n, revision);
                     }));
    };
    EtcdClient *now = &client, *next = &beside;
    bool more = first.value().more;
    for (int i = 0; more && i < 2; ++i, std::swap(now, next)) ask(*now);
    while (!coming.empty()) {
      const auto page = coming.front().get();
      coming.pop_front();
      if (!page) return passed_on(page.error());
      more = more && !page.value().entries.empty();
      if (more) ask(*now);
      std::swap(now, next);
      if (const Status taken = take(page.value()); !taken.ok()) return taken;
    }
    if (first.value().more) {  // there may be more behind a gap that is longer than a page
      const auto rest = client.range(etcd_entry_key(keys, generation, asked), behind(prefix), 1);
      if (!rest) return passed_on(rest.error());
      if (const Status taken = take(rest.value()); !taken.ok()) return taken;
    }
    const Status whole = reader.finish(end);
    return whole.ok() ? whole : Status(error(Errc::invalid, whole.error().message));
  };
  Status result = read();
  next_seq = reader.next_seq();
  bytes = reader.bytes();
  count = records.size();
  return result;
}

/// What an earlier life left unfinished: other generations, and the beginning of a batch. Writing
/// the head anew makes it happen once: a copy of this request that arrives later finds another
/// revision, and cannot remove what has been written since.
Status EtcdJournal::State::remove_leftovers() {
  const std::string head = etcd_head_text(generation);
  return commit(
      EtcdCompare::revision_is(keys.head, head_revision),
      {EtcdOp::put(keys.head, head),
       EtcdOp::erase_range(keys.journal, etcd_generation(keys, generation)),
       EtcdOp::erase_range(etcd_entry_key(keys, generation, next_seq), behind(keys.journal))},
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
  const Status written = s.write(s.client, s.generation, s.next_seq, batch, true);
  s.bytes += batch.size();
  if (written.ok()) s.count += records.size();
  if (written.ok() && s.compaction && !s.compaction->counts) {
    s.compaction->tail += batch;
    s.compaction->count += records.size();
  }
  return s.final(written);
}

Status EtcdJournal::compact(std::span<const Record> records) {
  if (Status begun = begin_compaction({records.begin(), records.end()}); !begun.ok()) return begun;
  for (;;) {
    const Result<bool> more = step_compaction();
    if (!more) return more.error();
    if (!more.value()) return done();
    if (state_->compaction->under_way.valid()) state_->compaction->under_way.wait();
  }
}

Status EtcdJournal::begin_compaction(std::vector<Record> records) {
  State& s = *state_;
  STARLING_CHECK(s.recovered && !s.compaction);
  if (s.failed) return *s.failed;
  State::Compaction& next = s.compaction.emplace();
  next.count = records.size();
  next.records = std::move(records);
  next.generation = std::max(s.generation + 1, s.least_next);
  return done();
}

Result<bool> EtcdJournal::step_compaction() {
  State& s = *state_;
  if (s.failed) return *s.failed;
  if (!s.compaction) return false;
  if (s.is_writing()) return true;
  const Status step = s.compaction->counts ? s.remove_old() : s.write_next();
  if (!step.ok()) return s.final(step).error();
  if (s.compaction->counts && s.compaction->removed >= s.compaction->old_end) s.compaction.reset();
  return s.compaction.has_value();
}

bool EtcdJournal::State::is_writing() {
  const std::future<Status>& write = compaction->under_way;
  return write.valid() && write.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

/// Hands about one entry over to be written beside the turns, each after the one before. When all
/// is written comes the last of what was appended meanwhile, and then the turn.
Status EtcdJournal::State::write_next() {
  Compaction& c = *compaction;
  if (c.under_way.valid()) {
    if (const Status written = c.under_way.get(); !written.ok()) return written;
  }
  std::string batch;
  while (c.written < c.records.size() && batch.size() < kEtcdEntryBytes) {
    add_to_batch(c.records[c.written], batch);
    c.records[c.written++] = Record{};
  }
  const bool all = c.written == c.records.size();
  if (batch.empty()) batch = std::exchange(c.tail, {});
  c.bytes += batch.size();
  if (all && c.tail.empty() && batch.size() <= kLastBytes) {
    const Status written = write(client, c.generation, c.seq, batch, false);
    return written.ok() ? turn_head() : written;
  }
  const std::uint64_t first = c.seq;
  c.seq += (batch.size() + kEtcdEntryBytes - 1) / kEtcdEntryBytes;
  c.under_way =
      std::async(std::launch::async, [this, g = c.generation, first, text = std::move(batch)] {
        std::uint64_t seq = first;
        return write(beside, g, seq, text, false);
      });
  return done();
}

Status EtcdJournal::State::turn_head() {
  Compaction& c = *compaction;
  const std::string head = etcd_head_text(c.generation);
  const Status turned =
      commit(EtcdCompare::value_is(keys.head, etcd_head_text(generation)),
             {EtcdOp::put(keys.head, head),
              EtcdOp::put(etcd_end_key(keys), to_text(EtcdEnd{c.generation, c.seq}))},
             keys.head, head);
  if (!turned.ok()) return turned;
  c.counts = true;
  c.old = std::exchange(generation, c.generation);
  c.old_end = std::exchange(next_seq, c.seq);
  bytes = c.bytes;
  count = c.count;
  return done();
}

Status EtcdJournal::State::remove_old() {
  Compaction& c = *compaction;
  const std::uint64_t end_now = std::min(c.removed + kRemoved, c.old_end);
  const Status gone = commit(std::nullopt,
                             {EtcdOp::erase_range(etcd_entry_key(keys, c.old, c.removed),
                                                  etcd_entry_key(keys, c.old, end_now))},
                             keys.head, etcd_head_text(generation));
  c.removed = end_now;
  return gone;
}

std::uint64_t EtcdJournal::bytes() const { return state_->bytes; }

std::uint64_t EtcdJournal::position() const {
  return (state_->generation << kEtcdGenerationBits) + state_->count;
}

Result<EtcdJournal::Salvaged> EtcdJournal::salvage() {
  State& s = *state_;
  Salvaged found;
  const Status read = s.read_entries(found.records);
  if (!read.ok() && read.error().code != Errc::invalid) return read.error();
  if (!read.ok()) found.lost = read.error().message;
  if (const Status removed = s.remove_leftovers(); !removed.ok()) return removed.error();
  s.recovered = true;
  return found;
}

void EtcdJournal::go_beyond(std::uint64_t position) {
  state_->least_next = (position >> kEtcdGenerationBits) + 1;
}

Status EtcdJournal::archive(std::uint64_t chunk, std::span<const Record> records) {
  State& s = *state_;
  if (s.failed) return *s.failed;
  const std::string key = etcd_chunk_key(s.keys, chunk);
  const std::string value = etcd_chunk(chunk, pack_records(records));
  return s.final(s.commit(std::nullopt, {EtcdOp::put(key, value)}, key, value));
}

Result<std::vector<Record>> EtcdJournal::archived(std::uint64_t chunk) {
  State& s = *state_;
  const std::string key = etcd_chunk_key(s.keys, chunk);
  const auto page = s.client.range(key, key + '\0', 1);
  if (!page) return s.passed_on(page.error());
  if (page.value().entries.empty())
    return s.error(Errc::not_found, "there is no chunk '" + key + "'");
  std::vector<Record> records;
  const Status read = read_etcd_chunk(chunk, page.value().entries.front().value, records);
  if (!read.ok()) return s.error(Errc::invalid, "'" + key + "' " + read.error().message);
  return records;
}

Status EtcdJournal::forget(std::uint64_t chunk) {
  State& s = *state_;
  if (s.failed) return *s.failed;
  const std::string last = etcd_chunk_key(s.keys, chunk);
  return s.final(s.commit(std::nullopt, {EtcdOp::erase_range(s.keys.archive, last + '\0')},
                          s.keys.head, etcd_head_text(s.generation)));
}

}  // namespace starling
