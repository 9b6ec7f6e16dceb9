// SPDX-License-Identifier: Apache-2.0
#include "scheduling/running_index.h"

#include <utility>

#include "base/check.h"

namespace starling {

Instant RunningIndex::Entry::end() const {
  if (view.spec->duration <= Duration::zero() || since == kNever) return kNever;
  return later(since, view.spec->duration - before);
}

RunningIndex::RunningIndex(std::span<const JobView> running, Instant now) {
  for (const JobView& view : running) add(entries_.size(), view, now);
}

void RunningIndex::add(std::uint64_t run, JobView view, Instant since) {
  STARLING_CHECK(view.spec != nullptr);
  const Duration before = view.served;
  const auto [at, fresh] = entries_.emplace(run, Entry{std::move(view), since, before});
  STARLING_CHECK(fresh);
  ends_.insert({at->second.end(), run});
  runs_.insert_or_assign(at->second.view.spec->id, run);
}

void RunningIndex::restart(std::uint64_t run, Instant since) {
  const auto at = entries_.find(run);
  if (at == entries_.end()) return;
  ends_.erase({at->second.end(), run});
  at->second.since = since;
  ends_.insert({at->second.end(), run});
}

void RunningIndex::remove(std::uint64_t run) {
  const auto at = entries_.find(run);
  if (at == entries_.end()) return;
  ends_.erase({at->second.end(), run});
  const auto id = runs_.find(at->second.view.spec->id);
  if (id != runs_.end() && id->second == run) runs_.erase(id);
  entries_.erase(at);
}

JobView* RunningIndex::find(std::uint64_t run) {
  const auto at = entries_.find(run);
  return at == entries_.end() ? nullptr : &at->second.view;
}

const JobView& RunningIndex::look(const Entry& entry, Instant now) {
  entry.view.served = entry.before + (entry.since == kNever ? Duration{0} : now - entry.since);
  return entry.view;
}

const JobView& RunningIndex::job(const End& end, Instant now) const {
  return look(entries_.at(end.run), now);
}

const JobView* RunningIndex::find(JobId job, Instant now) const {
  const auto run = runs_.find(job);
  return run == runs_.end() ? nullptr : &look(entries_.at(run->second), now);
}

}  // namespace starling
