// SPDX-License-Identifier: Apache-2.0
#include "sim/check/durable.h"

#include <utility>

#include "base/find_value.h"

namespace starling {

bool operator==(const Durable::Job& a, const Durable::Job& b) {
  return a.submit.spec.id == b.submit.spec.id && a.submit.spec.gpus() == b.submit.spec.gpus() &&
         a.submit.client == b.submit.client && a.submit.forwards == b.submit.forwards &&
         a.order == b.order && a.stage == b.stage && a.attempt == b.attempt && a.gang == b.gang &&
         a.allocation == b.allocation && a.restart_as == b.restart_as && a.after == b.after &&
         a.served == b.served && a.attempts == b.attempts && a.preemptions == b.preemptions &&
         a.lost_attempts == b.lost_attempts && a.offered == b.offered && a.held == b.held &&
         a.met == b.met && a.failures == b.failures;
}

const Durable::Job* Durable::open(JobId job) const { return find_value(jobs_, job); }
const JobState* Durable::ended(JobId job) const { return find_value(ended_, job); }
const Durable::Held* Durable::held(AttemptId attempt) const { return find_value(held_, attempt); }

void Durable::read(std::span<const Record> records) {
  for (const Record& record : records) (void)apply(record);
  for (const auto& [id, chunk] : archived_) {
    JobState over;
    over.job = id;
    ended_.try_emplace(id, std::move(over));
  }
}

std::string Durable::compacted(std::span<const Record> records) {
  Durable next(me_);
  std::string wrong;
  for (const auto& [id, chunk] : archived_) {  // a snapshot says no more than where they are
    if (const JobState* state = ended(id)) next.ended_.emplace(id, *state);
  }
  for (const Record& record : records) {
    std::string not_so = next.apply(record);
    if (wrong.empty()) wrong = std::move(not_so);
  }
  if (wrong.empty()) wrong = differs_from(next);
  *this = std::move(next);
  return wrong.empty() ? wrong : "the snapshot: " + wrong;
}

}  // namespace starling
