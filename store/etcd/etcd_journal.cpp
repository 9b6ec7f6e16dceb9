// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_journal.h"

#include <algorithm>
#include <utility>

#include "base/planted.h"
#include "store/etcd/etcd_journal_state.h"
#include "store/record_batch.h"

namespace starling {

std::optional<Error> EtcdJournal::State::fenced(const std::vector<EtcdEntry>& epoch) const {
  const std::int64_t now = epoch.empty() ? 0 : epoch.front().revision;
  if (now == static_cast<std::int64_t>(mine.epoch.value)) return std::nullopt;
  return error(Errc::fenced, "fenced: its epoch " + std::to_string(mine.epoch.value) +
                                 " is over, the partition is at epoch " + std::to_string(now) +
                                 (epoch.empty() ? "" : " with agent " + epoch.front().value));
}

Status EtcdJournal::State::commit(EtcdCalls& way, const std::optional<EtcdCompare>& guard,
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
  return error(Errc::invalid, "another program has written '" + evidence + "'");
}

Status EtcdJournal::State::write(EtcdCalls& way, std::uint64_t g, std::uint64_t& seq,
                                 const std::string& batch, bool counts) const {
  for (std::size_t begin = 0; begin < batch.size(); begin += kEtcdEntryBytes) {
    const std::size_t size = std::min(kEtcdEntryBytes, batch.size() - begin);
    const bool last = begin + size == batch.size();
    const std::string key = etcd_entry_key(keys, g, seq);
    const std::string value = etcd_entry(g, seq, last, std::string_view(batch).substr(begin, size));
    std::vector<EtcdOp> ops{EtcdOp::put(key, value)};
    if (counts && last)
      ops.push_back(EtcdOp::put(etcd_end_key(keys), to_text(EtcdEnd{g, seq + 1})));
    Status written = commit(way, EtcdCompare::revision_is(key, 0), std::move(ops), key, value);
    if (!written.ok()) return written;
    ++seq;
  }
  return done();
}

EtcdJournal::EtcdJournal(std::unique_ptr<State> state) : state_(std::move(state)) {}
EtcdJournal::~EtcdJournal() = default;

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

std::uint64_t EtcdJournal::bytes() const { return state_->bytes; }

std::uint64_t EtcdJournal::position() const {
  return (state_->generation << kEtcdGenerationBits) + state_->count;
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
  const auto found = s.client.get(key);
  if (!found) return s.passed_on(found.error());
  if (!found.value()) return s.error(Errc::not_found, "there is no chunk '" + key + "'");
  std::vector<Record> records;
  const Status read = read_etcd_chunk(chunk, found.value()->value, records);
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
