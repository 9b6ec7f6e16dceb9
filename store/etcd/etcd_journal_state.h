// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/etcd/etcd_calls.h"
#include "store/etcd/etcd_entries.h"
#include "store/etcd/etcd_journal.h"

namespace starling {

/// What EtcdJournal's parts share: etcd_journal.cpp writes, etcd_journal_read.cpp reads,
/// etcd_journal_compact.cpp compacts.
struct EtcdJournal::State {
  State(const EtcdAddress& flock, Ownership owner, EtcdWays by)
      : keys(flock, owner.partition),
        mine(owner),
        ways(std::move(by)),
        client(*ways.own),
        beside(*ways.beside) {}

  EtcdKeys keys;
  Ownership mine;
  EtcdWays ways;
  EtcdCalls& client;
  EtcdCalls& beside;  // for calls beside the journal's thread, one at a time
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
  Status commit(EtcdCalls& way, const std::optional<EtcdCompare>& guard, std::vector<EtcdOp> then,
                const std::string& evidence, const std::string& value) const;
  Status commit(const std::optional<EtcdCompare>& guard, std::vector<EtcdOp> then,
                const std::string& evidence, const std::string& value) {
    return commit(client, guard, std::move(then), evidence, value);
  }
  /// `counts`: of the generation that does, so its end moves.
  Status write(EtcdCalls& way, std::uint64_t g, std::uint64_t& seq, const std::string& batch,
               bool counts) const;
  Status read_head();
  /// Adds the records of whole batches; leaves next_seq behind the last of them, also where what
  /// comes then is damaged.
  Status read_entries(std::vector<Record>& records);
  Status remove_leftovers();
  Status write_next();
  /// True while what was handed over last is not written yet.
  bool is_writing();
  Status switch_head();
  Status remove_old();
  Status final(Status status) {
    if (!status.ok()) failed = status.error();
    return status;
  }
};

}  // namespace starling
