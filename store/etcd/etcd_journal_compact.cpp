// SPDX-License-Identifier: Apache-2.0
// A new generation beside the one that counts, until it counts.
#include <algorithm>
#include <chrono>
#include <utility>

#include "store/etcd/etcd_journal_state.h"
#include "store/record_batch.h"

namespace starling {
namespace {

constexpr std::size_t kLastBytes = 32 * 1024;  // written together with the switch, at most
constexpr std::uint64_t kRemoved = 256;        // old entries, in one step of a compaction

}  // namespace

Status EtcdJournal::compact(std::span<const Record> records) {
  if (Status begun = begin_compaction({records.begin(), records.end()}); !begun.ok()) return begun;
  for (;;) {
    const Result<bool> more = step_compaction();
    if (!more) return more.error();
    if (!more.value()) return done();
    if (state_->progress) state_->progress();
    if (state_->compaction->under_way.valid()) state_->compaction->under_way.wait();
  }
}

Status EtcdJournal::begin_compaction(std::vector<Record> records) {
  State& s = *state_;
  STARLING_CHECK(s.recovered && !s.compaction);
  if (s.failed) return *s.failed;
  s.compaction = State::Compaction();
  State::Compaction& next = *s.compaction;
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
  return write.valid() && write.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
}

/// Hands about one entry over to be written beside the cycles, each after the one before. When all
/// is written comes the last of what was appended meanwhile, and then the switch.
Status EtcdJournal::State::write_next() {
  Compaction& c = *compaction;
  if (c.under_way.valid()) {
    if (Status written = c.under_way.get(); !written.ok()) return written;
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
    return written.ok() ? switch_head() : written;
  }
  const std::uint64_t first = c.seq;
  c.seq += (batch.size() + kEtcdEntryBytes - 1) / kEtcdEntryBytes;
  c.under_way = std::async(ways.work, [this, g = c.generation, first, text = std::move(batch)] {
    std::uint64_t seq = first;
    return write(beside, g, seq, text, false);
  });
  return done();
}

Status EtcdJournal::State::switch_head() {
  Compaction& c = *compaction;
  const std::string head = etcd_head_text(c.generation);
  Status switched = commit(EtcdCompare::value_is(keys.head, etcd_head_text(generation)),
                           {EtcdOp::put(keys.head, head),
                            EtcdOp::put(etcd_end_key(keys), to_text(EtcdEnd{c.generation, c.seq}))},
                           keys.head, head);
  if (!switched.ok()) return switched;
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
  Status gone = commit(std::nullopt,
                       {EtcdOp::erase_range(etcd_entry_key(keys, c.old, c.removed),
                                            etcd_entry_key(keys, c.old, end_now))},
                       keys.head, etcd_head_text(generation));
  c.removed = end_now;
  return gone;
}

void EtcdJournal::go_beyond(std::uint64_t position) {
  state_->least_next = (position >> kEtcdGenerationBits) + 1;
}

}  // namespace starling
