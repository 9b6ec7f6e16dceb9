// SPDX-License-Identifier: Apache-2.0
#include "agents/archive.h"

#include <algorithm>

namespace starling {

void Archive::add(const JobsArchived& record) {
  Chunk& chunk = chunks_[record.chunk];
  chunk = {record.bytes, record.at, record.jobs, record.came};
  bytes_ += record.bytes;
  next_ = std::max(next_, record.chunk + 1);
  for (const JobId& job : record.jobs) chunk_of_[job] = record.chunk;
}

void Archive::drop(std::uint64_t number) {
  const auto at = chunks_.find(number);
  if (at == chunks_.end()) return;
  bytes_ -= at->second.bytes;
  for (const JobId& job : at->second.jobs) {
    const auto known = chunk_of_.find(job);
    if (known != chunk_of_.end() && known->second == number) chunk_of_.erase(known);
  }
  for (const JobId& job : at->second.came) owe(job);
  chunks_.erase(at);
}

void Archive::owe(const JobId& job, std::uint32_t offer) {
  std::uint32_t& owed = owed_[job];
  owed = std::max(owed, offer);
}

void Archive::owe(const OffersOwed& record) {
  for (std::size_t i = 0; i < record.jobs.size(); ++i)
    owe(record.jobs[i], i < record.offers.size() ? record.offers[i] : kAnyOffer);
}

OffersOwed Archive::owed_record() const {
  OffersOwed record;
  for (const auto& [job, offer] : owed_) {
    record.jobs.push_back(job);
    record.offers.push_back(offer);
  }
  const auto any = [](std::uint32_t offer) { return offer == kAnyOffer; };
  if (std::ranges::all_of(record.offers, any)) record.offers.clear();
  return record;
}

bool Archive::owes(const JobId& job, std::uint32_t offer) const {
  const auto at = owed_.find(job);
  return at != owed_.end() && offer <= at->second;
}

std::optional<std::uint64_t> Archive::find(const JobId& job) const {
  const auto at = chunk_of_.find(job);
  return at == chunk_of_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace starling
