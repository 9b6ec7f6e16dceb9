// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <memory>

#include "agents/epoch_authority.h"
#include "agents/record.h"
#include "base/result.h"
#include "store/etcd/etcd_client.h"

namespace starling {

/// The ways of a journal to etcd: two calls may be under way at a time.
struct EtcdWays {
  std::unique_ptr<EtcdCalls> own, beside;
  /// How the second is made. `deferred`: when its answer is needed, where that is, for worlds
  /// without threads.
  std::launch work = std::launch::async;
};

/// A partition's journal in etcd, with the promises of SqliteJournal, and one more: once a higher
/// epoch of the partition has been granted, no write of this object has any effect, ever.
///
/// Every append is one transaction that names the epoch and the number of the entry, which must be
/// new; all its records are in one entry. What would be too large for one is written as several, of
/// which the last makes them count. A compaction writes a new generation beside the old one, one
/// entry after the other in a thread, so that no step waits for it, then switches the pointer, then
/// removes the old one, some entries in a step. Each transaction is waited for at most
/// EtcdOptions::call. recover() must be called before the first of either. A chunk of the archive
/// is one key. Each append also says where the journal ends now, so entries that have gone are
/// noticed wherever they stood.
///
/// Errors: `fenced`, another life owns the partition; `io`, etcd did not answer, and what was to be
/// written is there or not; `invalid`, damage. Each is final: from then on every write is refused.
class EtcdJournal final : public Journal {
 public:
  /// `invalid` for a journal of another format. Makes the pointer of a new one. `progress` is
  /// called again and again while recover() reads and compact() writes, so that one that takes
  /// long can say that it is alive.
  static Result<std::unique_ptr<Journal>> open(const EtcdAddress& flock, const Ownership& mine,
                                               const EtcdOptions& options = {},
                                               std::function<void()> progress = {});
  static Result<std::unique_ptr<Journal>> open_by(EtcdWays ways, const EtcdAddress& flock,
                                                  const Ownership& mine,
                                                  std::function<void()> progress = {});
  ~EtcdJournal() override;

  Status append(std::span<const Record> records) override;
  Result<std::vector<Record>> recover() override;
  Status compact(std::span<const Record> records) override;
  Status begin_compaction(std::vector<Record> records) override;
  Result<bool> step_compaction() override;
  [[nodiscard]] std::uint64_t bytes() const override;
  Status archive(std::uint64_t chunk, std::span<const Record> records) override;
  Result<std::vector<Record>> archived(std::uint64_t chunk) override;
  Status forget(std::uint64_t chunk) override;
  /// The generation, and how many records it has.
  [[nodiscard]] std::uint64_t position() const override;

  // To go on without what is lost, in the place of recover().
  struct Salvaged {
    std::vector<Record> records;  ///< of all batches before what is damaged or missing
    std::string lost;             ///< what that is; empty: nothing
  };
  /// What is behind it is removed.
  Result<Salvaged> salvage();
  /// The next compaction leads beyond `position`.
  void go_beyond(std::uint64_t position);

 private:
  struct State;
  explicit EtcdJournal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace starling
