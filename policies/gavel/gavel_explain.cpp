// SPDX-License-Identifier: Apache-2.0
// What Gavel's rounds say of a job: its account, which they keep in any case.
#include <cmath>
#include <cstdio>

#include "base/short_number.h"
#include "policies/gavel/gavel.h"
#include "policies/queues/queue_place.h"

namespace starling {
namespace {

/// The part of a job's time, and what it has had of it, on one type.
std::string share_line(const std::string& type, const GavelRounds::Standing& stands,
                       const std::optional<JobId>& beside) {
  char share[32];
  std::snprintf(share, sizeof share, "%.2f", stands.share);
  std::string line = "  " + std::string(share) + " of its time on " + type;
  if (beside) line += ", beside job " + to_string(*beside);
  line += ": has had " + whole_seconds(stands.received) + " there since";
  if (const long long behind = std::llround(stands.deficit); behind != 0)
    line += ", was " + whole_seconds(std::abs(stands.deficit)) +
            (behind > 0 ? " behind before" : " ahead before");
  return line + "; goes by " + short_number(stands.priority);
}

}  // namespace

std::vector<std::string> GavelPolicy::explain(JobId job) const {
  if (!accounts_ || !known_.contains(job)) return {};
  if (!runs_on_one_type(job))
    return {
        "policy: no single GPU type here holds it: it gets GPUs of several at a round that has "
        "room, ten minutes after it came at the earliest, and keeps them"};
  std::vector<std::string> shares;
  const auto add = [&](const GavelCombination& who) {
    const auto stands = accounts_->standing(who);
    std::optional<JobId> beside;
    if (who.second) beside = who.first == job ? *who.second : who.first;
    for (std::size_t t = 0; t < stands.size(); ++t) {
      if (stands[t].share > 0) shares.push_back(share_line(types_[t].name, stands[t], beside));
    }
    return !stands.empty();
  };
  bool has_any = add({job, std::nullopt});
  for (const GavelCombination& pair : accounts_->pairs_of(job)) has_any = add(pair) || has_any;
  const std::string without = gavel_.objective == GavelObjective::fifo
                                  ? "it waits"
                                  : "a round gives it what the others leave";
  if (!has_any)
    return {"policy: it has no share of time yet: those are made at rounds, at least " +
            whole_seconds(seconds(gavel_.between_resets)) + " apart; until then " + without};
  std::string head = "policy: shares were made at " +
                     whole_seconds(seconds(accounts_->last_reset().time_since_epoch()));
  if (shares.empty()) return {head + ", and it has none: " + without};
  shares.insert(shares.begin(),
                head +
                    "; a round goes by priority, then by its share over its part of all the "
                    "time that jobs had on a type, the largest first");
  return shares;
}

}  // namespace starling
