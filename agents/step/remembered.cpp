// SPDX-License-Identifier: Apache-2.0
#include "agents/step/remembered.h"

#include <utility>

namespace starling {
namespace {

constexpr std::size_t kState = 64;  // bytes of an ended job in a chunk, but for what varies

}  // namespace

std::size_t archived_bytes(const JobState& over) {
  return kState + sizeof(GpuId) * over.placement.size() + over.exit.log_tail.size() +
         (over.ask == nullptr ? 0 : bytes_of(*over.ask));
}

/// What came from another home is owed an answer once it is forgotten.
void Remembered::add_ended(JobState over, const Limits& limits) {
  const JobId id = over.job;
  const std::size_t size = archived_bytes(over);
  if (archive.contains(id) || !ended.emplace(id, std::move(over)).second) return;
  ended_bytes += size;
  ended_order.push_back(id);
  while (ended_order.size() > limits.jobs_remembered ||
         (ended_bytes > limits.archive_bytes && ended_order.size() > 1)) {
    const JobState oldest = take_oldest();
    if (oldest.forwards > 0) archive.owe(oldest.job);
  }
}

JobState Remembered::take_oldest() {
  const auto oldest = ended.find(ended_order.front());
  JobState over = std::move(oldest->second);
  ended_bytes -= archived_bytes(over);
  ended.erase(oldest);
  ended_order.pop_front();
  return over;
}

void Remembered::add_moved(JobId job, const Limits& limits) {
  moved_order.emplace_back(job, moved.at(job).forwards);
  if (moved_order.size() <= limits.jobs_remembered) return;
  const auto& [left, forwards] = moved_order.front();
  const auto oldest = moved.find(left);
  if (oldest != moved.end() && oldest->second.forwards == forwards) {
    if (oldest->second.forwards > 1) archive.owe(oldest->first, oldest->second.forwards);
    moved.erase(oldest);
  }
  moved_order.pop_front();
}

void Remembered::put_away(const JobsArchived& record) {
  for (const JobId& job : record.jobs) {
    if (!ended_order.empty() && ended_order.front() == job) (void)take_oldest();
  }
  archive.add(record);
}

}  // namespace starling
