// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "store/memory_journal.h"

namespace starling {

/// What a simulated disk does to the writes of one node. A write that fails is final for the node's
/// process, as with SQLite and etcd; the disk itself may be well again when the next one starts.
struct DiskFaults {
  std::optional<std::uint64_t> room;  ///< records until the disk is full
  bool fails_once = false;            ///< the next write
  bool fails = false;                 ///< every write
  double slow_chance = 0;             ///< of a write to take up to `slow_most`
  Duration slow_most{0};
  /// The machine stops inside the next write: before it, in its middle, or when it is durable and
  /// nothing that depends on it has been said or done. A torn write is cut off at recovery.
  enum class Stop : std::uint8_t { none, before, torn, after } stop = Stop::none;
};

/// A disk of the simulated world: a MemoryJournal that shows what becomes durable to an observer,
/// and fails as it is told to.
class WatchedJournal final : public Journal {
 public:
  using Observer = std::function<void(std::span<const Record>)>;
  using OnSlow = std::function<void(Duration)>;

  WatchedJournal(MemoryJournal::Keep keep, Observer observer, Rng rng = Rng(0))
      : keep_(keep),
        disk_(std::make_shared<MemoryJournal>(keep)),
        observer_(std::move(observer)),
        rng_(rng) {}

  /// The same disk for the next owner; this one is fenced from now on: it refuses every write, and
  /// reads what it could read.
  [[nodiscard]] std::unique_ptr<WatchedJournal> succeed();
  /// Called with the records of a snapshot that has taken the journal's place.
  void on_compact(Observer call) { on_compact_ = std::move(call); }
  /// Called during a write that takes long, with how long.
  void on_slow(OnSlow call) { on_slow_ = std::move(call); }

  Status append(std::span<const Record> records) override;
  /// `invalid` if a record is damaged.
  Result<std::vector<Record>> recover() override;
  Status compact(std::span<const Record> records) override;
  Status begin_compaction(std::vector<Record> records) override;
  Result<bool> step_compaction() override;
  Status archive(std::uint64_t chunk, std::span<const Record> records) override;
  Result<std::vector<Record>> archived(std::uint64_t chunk) override {
    return disk_->archived(chunk);
  }
  Status forget(std::uint64_t chunk) override;
  /// Of a fenced one: where it was then, since what its successor writes it knows nothing of.
  [[nodiscard]] std::uint64_t position() const override {
    return fenced_ ? fenced_at_ : disk_->position();
  }

  [[nodiscard]] DiskFaults& faults() noexcept { return faults_; }
  /// A bit of one record is not what was written; recover() finds it. False: nothing is there yet.
  bool damage(std::uint32_t which);
  /// What an operator does about it: the record is copied from where it is still right.
  void repair() { damaged_.reset(); }
  [[nodiscard]] bool damaged() const noexcept { return damaged_.has_value(); }
  /// What stands there now, for restore(): as a backup is made. Not of a damaged one.
  [[nodiscard]] std::shared_ptr<const MemoryJournal> copy() const {
    return std::make_shared<const MemoryJournal>(*disk_);
  }
  /// An older copy, and nothing that came after it.
  void restore(const MemoryJournal& copy) {
    disk_ = std::make_shared<MemoryJournal>(copy);
    damaged_.reset();
  }
  /// A new disk.
  void erase() {
    disk_ = std::make_shared<MemoryJournal>(keep_);
    damaged_.reset();
  }
  /// A write was refused: nothing may leave this node any more.
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  /// For the next life.
  void start() noexcept { refused_ = fenced_; }

  [[nodiscard]] MemoryJournal& disk() noexcept { return *disk_; }

 private:
  [[nodiscard]] Status write(std::size_t records);
  Status refuse(Error why) {
    refused_ = true;
    return why;
  }

  MemoryJournal::Keep keep_;
  std::shared_ptr<MemoryJournal> disk_;  // a fenced one shares its successor's
  Observer observer_, on_compact_;
  OnSlow on_slow_;
  Rng rng_;
  DiskFaults faults_;
  std::optional<std::uint64_t> damaged_;  // record
  bool fenced_ = false, refused_ = false;
  std::uint64_t fenced_at_ = 0;
};

}  // namespace starling
