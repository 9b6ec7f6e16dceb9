// SPDX-License-Identifier: Apache-2.0
#include "agents/explain/explain_back.h"

#include "agents/explain/explain_silence.h"
#include "agents/step/home_step.h"
#include "base/counted.h"
#include "workload/queue_tree.h"

namespace starling {
namespace {

/// What this home knows of a job that another one waits for.
std::string where_it_is(const AgentState& s, const JobId& id) {
  if (const auto here = s.home.jobs.find(id); here != s.home.jobs.end())
    return std::string("is ") + name_of(phase_of(here->second.stage())) + " at this agent";
  const auto other = s.home.others.find(id);
  if (other == s.home.others.end()) return "is not known yet";
  if (other->second.end) return std::string("has ended: ") + name_of(*other->second.end);
  if (other->second.home)
    return "has not ended at agent " + std::to_string(other->second.home->value);
  return "no agent that answers knows; all are asked again and again";
}

std::string name_of(const QuotaAccount& account) {
  const std::string queue = "queue '" + account.queue + "'";
  return account.user.empty() ? queue : "user '" + account.user + "' in " + queue;
}

/// What would have to change for a job whose account has `has` and needs more.
std::string what_helps(const AgentState& s, const Job& job, const QuotaAccount& account,
                       const Portions::Account& has) {
  const QueueTree& tree = s.home.quota.portions.tree();
  if (!tree.is_leaf(account.queue))
    return "there is no such queue that has jobs: cancel it and submit it to another one, or it "
           "starts once an operator sets such a queue";
  const std::uint32_t most = most_of(tree, account);
  if (!s.home.quota.can_ever(job))
    return "it may never have more than " + counted(most, "GPU") +
           ": it starts once an operator raises that";
  if (most <= has.used)
    return "it may never have more than " + counted(most, "GPU") +
           ": it starts as its jobs end, or once an operator raises that";
  if (s.home.quota.open)
    return "agent 0, which keeps the queues, was asked for more " +
           seconds_text(s.now - s.home.quota.asked_at) + " ago and has not answered yet";
  if (!has.bound.empty()) {
    // The queue stands for its users, too.
    const bool of_user = !account.user.empty() && has.bound == account.queue;
    const QueueSpec* queue = of_user ? tree.find(account.queue) : nullptr;
    const bool of_both = queue != nullptr && queue->most != QueueSpec::kNoLimit;
    return "too little is left for it of what " +
           (of_user ? "user '" + account.user + "'" : "queue '" + has.bound + "'") + " may have" +
           (of_user ? " in queue '" + account.queue + "'" : "") +
           (of_both ? ", or of what that queue may have" : "") +
           ", at this home and others: it starts as jobs of it end, or once an operator raises " +
           (of_user ? "'most_per_user'" : "'most'") + (of_both ? " or 'most'" : "") +
           " of that queue";
  }
  return "what queues may have beyond their guarantees is all given: it starts as jobs of others "
         "end, or once an operator raises the guarantee of its queue";
}

/// Its queue, what that has here, who goes before it, and what would help.
std::vector<std::string> explain_quota(const AgentState& s, const Job& job,
                                       const std::string& begins) {
  const HomeQuota& quota = s.home.quota;
  const QuotaAccount account = quota.account_of(job);
  const auto known = quota.portions.accounts().find(account);
  const Portions::Account has =
      known == quota.portions.accounts().end() ? Portions::Account{} : known->second;
  std::vector<std::string> lines;
  lines.push_back(begins + name_of(account) + " uses " + std::to_string(has.used) + " of " +
                  counted(has.may, "GPU") + " that it may have here" +
                  (has.let > 0 ? ", jobs up for decision ask for " + std::to_string(has.let) : "") +
                  ", and it asks for " + std::to_string(quota.asked_by(*job.spec)));
  if (const HomeQuota::Line* line = quota.line_of(account);
      line != nullptr && quota.can_ever(job)) {
    std::size_t place = 1;
    for (const QuotaPlace& other : line->back) {
      if (other.order == job.order) break;
      ++place;
    }
    lines.push_back("is number " + std::to_string(place) + " of " +
                    counted(line->back.size(), "job") +
                    " that are kept back for it, by priority and age");
  }
  lines.push_back(what_helps(s, job, account, has));
  return lines;
}

}  // namespace

std::vector<std::string> explain_back(const AgentState& s, const Job& job) {
  const JobTerms& terms = job.spec->terms;
  const std::string begins = "is kept at agent " + std::to_string(s.config.me.value) + ": ";
  std::vector<std::string> lines;
  switch (job.back()) {
    case JobReason::held:
      lines.push_back(begins + "it is held; 'starling release " + to_string(job.spec->id) +
                      "' lets it go");
      break;
    case JobReason::begin:
      lines.push_back(begins + "its time comes in " + seconds_text(begins_at(job) - s.now));
      break;
    case JobReason::retry:
      lines.push_back(begins + "it has failed, and is tried again in " +
                      seconds_text(job.not_before - s.now));
      break;
    case JobReason::array_limit:
      lines.push_back(begins + "only " + counted(terms.at_once, "task") +
                      " of its array may run at once");
      break;
    case JobReason::dependency:
      for (std::size_t i = 0; i < terms.after.size(); ++i) {
        if ((job.met >> i & 1U) != 0) continue;
        const After& after = terms.after[i];
        lines.push_back(begins + "it is to start after " + name_of(after.how) + " of " +
                        to_string(after.job) + ", which " + where_it_is(s, after.job));
      }
      break;
    case JobReason::quota:
      return explain_quota(s, job, begins);
    default:
      break;
  }
  return lines;
}

}  // namespace starling
