// SPDX-License-Identifier: Apache-2.0
// How a life of a journal in etcd begins: what is there, read once, and what is left behind
// removed.
#include <algorithm>
#include <deque>
#include <utility>

#include "store/etcd/etcd_journal_state.h"

namespace starling {
namespace {

constexpr std::int64_t kPage = 512;                          // entries read at a time, at most
constexpr std::int64_t kFirstPage = 4;                       // and at first, for they may be large
constexpr std::size_t kPageBytes = std::size_t{512} << 10U;  // wanted: comes in time over slow ways

}  // namespace

Result<std::unique_ptr<Journal>> EtcdJournal::open(const EtcdAddress& flock, const Ownership& mine,
                                                   const EtcdOptions& options,
                                                   std::function<void()> progress) {
  EtcdWays ways{std::make_unique<EtcdClient>(flock, options),
                std::make_unique<EtcdClient>(flock, options)};
  return open_by(std::move(ways), flock, mine, std::move(progress));
}

Result<std::unique_ptr<Journal>> EtcdJournal::open_by(EtcdWays ways, const EtcdAddress& flock,
                                                      const Ownership& mine,
                                                      std::function<void()> progress) {
  auto state = std::make_unique<State>(flock, mine, std::move(ways));
  state->progress = std::move(progress);
  if (const Status read = state->read_head(); !read.ok()) return read.error();
  return std::unique_ptr<Journal>(new EtcdJournal(std::move(state)));
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
    if (Status taken = take(first.value()); !taken.ok()) return taken;
    std::deque<std::future<Result<EtcdPage>>> coming;
    const auto ask = [&](EtcdCalls& way) {
      const std::uint64_t from = std::exchange(asked, asked + static_cast<std::uint64_t>(limit));
      coming.push_back(std::async(
          ways.work, [&way, revision, n = limit, begin = etcd_entry_key(keys, generation, from),
                      end_key = etcd_entry_key(keys, generation, asked)] {
            return way.range(begin, end_key, n, revision);
          }));
    };
    EtcdCalls *now = &client, *next = &beside;
    bool more = first.value().more;
    for (int i = 0; more && i < 2; ++i, std::swap(now, next)) ask(*now);
    while (!coming.empty()) {
      const auto page = coming.front().get();
      coming.pop_front();
      if (!page) return passed_on(page.error());
      more = more && !page.value().entries.empty();
      if (more) ask(*now);
      std::swap(now, next);
      if (Status taken = take(page.value()); !taken.ok()) return taken;
    }
    if (first.value().more) {  // there may be more behind a gap that is longer than a page
      const auto rest = client.range(etcd_entry_key(keys, generation, asked), behind(prefix), 1);
      if (!rest) return passed_on(rest.error());
      if (Status taken = take(rest.value()); !taken.ok()) return taken;
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

Result<std::vector<Record>> EtcdJournal::recover() {
  State& s = *state_;
  std::vector<Record> records;
  if (const Status read = s.read_entries(records); !read.ok()) return read.error();
  // Also the proof that no other has taken over meanwhile: what was read is the end of the story.
  if (const Status removed = s.remove_leftovers(); !removed.ok()) return removed.error();
  s.recovered = true;
  return records;
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

}  // namespace starling
