#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "store/memory_journal.h"

namespace starling {

/// A disk of the simulated world: a MemoryJournal that shows what becomes durable to an observer.
class WatchedJournal final : public Journal {
 public:
  using Observer = std::function<void(std::span<const Record>)>;

  WatchedJournal(MemoryJournal::Keep keep, Observer observer)
      : disk_(keep), observer_(std::move(observer)) {}

  /// The same disk for the next owner; this one is fenced from now on: it refuses every write.
  [[nodiscard]] std::unique_ptr<WatchedJournal> succeed() {
    fenced_ = true;
    auto next = std::make_unique<WatchedJournal>(MemoryJournal::Keep::counts, observer_);
    std::swap(next->disk_, disk_);
    return next;
  }

  Status append(std::span<const Record> records) override {
    if (fenced_) return {Errc::conflict, "the journal has another owner"};
    Status written = disk_.append(records);
    if (written.ok() && observer_) observer_(records);
    return written;
  }
  Result<std::vector<Record>> recover() override { return disk_.recover(); }
  Status compact(std::span<const Record> records) override {
    if (fenced_) return {Errc::conflict, "the journal has another owner"};
    return disk_.compact(records);
  }

  [[nodiscard]] MemoryJournal& disk() noexcept { return disk_; }

 private:
  MemoryJournal disk_;
  Observer observer_;
  bool fenced_ = false;
};

}  // namespace starling
