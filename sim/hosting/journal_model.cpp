// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/journal_model.h"

#include <algorithm>

namespace starling {
namespace {

std::uint64_t number_of(const Record& record) {
  if (const auto* small = std::get_if<EpochSeen>(&record)) return small->epoch.value;
  if (const auto* large = std::get_if<JobEnded>(&record)) return large->job.lo;
  return 0;
}

}  // namespace

Record JournalModel::record(std::uint64_t number, bool large) {
  if (!large) return EpochSeen{PartitionId{0}, Epoch{number}};
  JobState state;
  state.job = {1, number};
  state.phase = JobPhase::finished;
  state.exit.log_tail = std::string(kLargeBytes, 'x');
  return JobEnded{state.job, state};
}

void JournalModel::writes(Epoch epoch, const Batch& batch) {
  if (epoch >= last_read_) maybe_[batch.front()] = batch;
}

std::string JournalModel::wrote(Epoch epoch, const Batch& batch) {
  ++told_;
  if (epoch < last_read_) {
    const bool there = std::find(known_.begin(), known_.end(), batch.front()) != known_.end();
    return there ? "" : "a write was acknowledged that a later owner has not read";
  }
  maybe_.erase(batch.front());
  known_.insert(known_.end(), batch.begin(), batch.end());
  return {};
}

std::string JournalModel::read(Epoch epoch, const std::vector<Record>& records) {
  std::vector<std::uint64_t> found;
  found.reserve(records.size());
  for (const Record& record : records) found.push_back(number_of(record));
  std::size_t known = 0;
  for (std::size_t i = 0; i < found.size();) {
    if (known < known_.size() && found[i] == known_[known]) {
      ++known, ++i;
      continue;
    }
    const auto batch = maybe_.find(found[i]);
    if (batch == maybe_.end())
      return "record " + std::to_string(found[i]) + " is there twice, out of order, or after a " +
             "later owner had read that it is not there";
    for (const std::uint64_t number : batch->second) {
      if (i == found.size() || found[i++] != number) return "half of a batch is there";
    }
    maybe_.erase(batch);
  }
  if (known < known_.size())
    return "record " + std::to_string(known_[known]) + " was acknowledged and is not there";
  known_ = std::move(found);
  maybe_.clear();
  last_read_ = std::max(last_read_, epoch);
  return {};
}

}  // namespace starling
