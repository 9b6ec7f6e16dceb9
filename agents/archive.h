// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "agents/record.h"
#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// The ended jobs of a home whose states are in the journal's archive: here are their ids alone, by
/// chunk, the oldest first to go. A job that had come from another home is owed an answer when it
/// goes: that home may be offering it still, and a job that is taken a second time runs twice.
class Archive {
 public:
  struct Chunk {
    std::uint64_t bytes = 0;
    Duration at{-1};  ///< when it was written, of a calendar; below zero: not known
    std::vector<JobId> jobs, came;
  };

  void add(const JobsArchived& record);
  /// Its jobs are not remembered any more; `came` of them are owed.
  void drop(std::uint64_t chunk);
  [[nodiscard]] std::optional<std::uint64_t> find(const JobId& job) const;
  [[nodiscard]] bool contains(const JobId& job) const { return chunk_of_.contains(job); }

  /// All offers of it are to be answered, or those up to that number (Submit::forwards): it went
  /// on, and comes back with a higher one.
  void owe(const JobId& job, std::uint32_t offer = kAnyOffer);
  void owe(const OffersOwed& record);
  [[nodiscard]] OffersOwed owed_record() const;
  static constexpr std::uint32_t kAnyOffer = ~std::uint32_t{0};
  [[nodiscard]] bool owes(const JobId& job, std::uint32_t offer) const;
  void settle(const JobId& job) { owed_.erase(job); }

  [[nodiscard]] const std::map<std::uint64_t, Chunk>& chunks() const noexcept { return chunks_; }
  [[nodiscard]] const std::map<JobId, std::uint64_t>& jobs() const noexcept { return chunk_of_; }
  [[nodiscard]] const std::map<JobId, std::uint32_t>& owed() const noexcept { return owed_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t next_chunk() const noexcept { return next_; }

 private:
  std::map<std::uint64_t, Chunk> chunks_;
  std::map<JobId, std::uint64_t> chunk_of_;
  std::map<JobId, std::uint32_t> owed_;  // up to which offer
  std::uint64_t bytes_ = 0, next_ = 1;
};

}  // namespace starling
