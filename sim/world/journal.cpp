// SPDX-License-Identifier: Apache-2.0
#include "sim/world/journal.h"

#include <string>

namespace starling {

std::unique_ptr<WatchedJournal> WatchedJournal::succeed() {
  fenced_at_ = position();
  fenced_ = true;
  auto next = std::make_unique<WatchedJournal>(keep_, observer_, rng_);
  next->disk_ = disk_;
  std::swap(next->damaged_, damaged_);
  next->faults_ = faults_;
  next->on_compact_ = on_compact_;
  return next;
}

/// Whether the disk takes a write of so many records.
Status WatchedJournal::write(std::size_t records) {
  if (fenced_) return refuse({Errc::conflict, "the journal has another owner"});
  if (faults_.fails || std::exchange(faults_.fails_once, false))
    return refuse({Errc::io, "the simulated disk refuses to write"});
  if (faults_.room) {
    if (*faults_.room < records) return refuse({Errc::io, "the simulated disk is full"});
    *faults_.room -= records;
  }
  if (faults_.slow_chance > 0 && rng_.chance(faults_.slow_chance) && on_slow_) {
    on_slow_(from_seconds(seconds(faults_.slow_most) * rng_.uniform()));
  }
  return done();
}

Status WatchedJournal::append(std::span<const Record> records) {
  if (Status taken = write(records.size()); !taken.ok()) return taken;
  const DiskFaults::Stop stop = std::exchange(faults_.stop, DiskFaults::Stop::none);
  if (stop == DiskFaults::Stop::before || stop == DiskFaults::Stop::torn)
    return refuse({Errc::io, "the machine stopped while it wrote"});
  Status written = disk_->append(records);
  if (!written.ok()) return refuse(written.error());
  if (observer_) observer_(records);
  if (stop == DiskFaults::Stop::after)
    return refuse({Errc::io, "the machine stopped when it had written"});
  return done();
}

Result<std::vector<Record>> WatchedJournal::recover() {
  if (damaged_) {
    return Error{Errc::invalid, "record " + std::to_string(*damaged_) +
                                    " of the journal is damaged; restore it from a copy"};
  }
  return disk_->recover();
}

Status WatchedJournal::compact(std::span<const Record> records) {
  if (Status taken = write(records.size()); !taken.ok()) return taken;
  Status written = disk_->compact(records);
  if (written.ok() && on_compact_) on_compact_(records);
  return written;
}

Status WatchedJournal::begin_compaction(std::vector<Record> records) {
  if (Status taken = write(0); !taken.ok()) return taken;
  return disk_->begin_compaction(std::move(records));
}

Result<bool> WatchedJournal::step_compaction() {
  if (Status taken = write(1); !taken.ok()) return taken.error();
  Result<bool> more = disk_->step_compaction();
  if (!more) return refuse(more.error()).error();
  if (!more.value() && on_compact_) on_compact_(disk_->recover().value());
  return more;
}

Status WatchedJournal::archive(std::uint64_t chunk, std::span<const Record> records) {
  if (Status taken = write(records.size()); !taken.ok()) return taken;
  return disk_->archive(chunk, records);
}

Status WatchedJournal::forget(std::uint64_t chunk) {
  if (Status taken = write(0); !taken.ok()) return taken;
  return disk_->forget(chunk);
}

bool WatchedJournal::damage(std::uint32_t which) {
  if (disk_->records() == 0) return false;
  damaged_ = which % disk_->records();
  return true;
}

}  // namespace starling
