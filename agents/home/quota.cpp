// SPDX-License-Identifier: Apache-2.0
// What jobs of a queue may have at once at this home, and its talk with the keeper of queues. Jobs
// beyond that are kept back in order: the more urgent first, then the older; none goes before one
// that stands ahead of it because it is smaller.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "agents/step/home_step.h"
#include "base/counted.h"
#include "base/marks.h"
#include "base/planted.h"
#include "workload/queue_tree.h"

namespace starling {
namespace {

/// Where nothing gets lost, what is no new wish and gives nothing back is said at most so often:
/// two homes that give each other what neither can use now would do nothing else.
constexpr Duration kPace = std::chrono::seconds(1);

/// Between two words of a home that waits, and between two turns of what several homes wait for.
Duration again_after(const AgentState& s) {
  return s.lossy() ? Portions::kAskAgain : QuotaKeeper::kWantLasts / 2;
}

/// When the keeper is to hear from this home; kNever: it has nothing to say. While jobs are kept
/// back it hears again and again, for a grant may be lost, and it forgets who is silent. Room that
/// stays idle goes back: the word that others wait for it may be lost, too.
Instant ask_due(const AgentState& s) {
  const HomeQuota& quota = s.home.quota;
  // An answer to an earlier ask is none: asks that follow faster than answers come would get none.
  if (quota.open && s.lossy()) return quota.repeat;
  Instant due = kNever;
  if (quota.portions.keeps_back() || (s.lossy() && quota.holds_idle()))
    due = std::min(due, later(quota.asked_at, again_after(s)));
  if (quota.holds_scarce()) due = std::min(due, later(quota.turned_at, again_after(s)));
  if (quota.urge == HomeQuota::Urge::none) return due;
  if (quota.urge == HomeQuota::Urge::now && !s.lossy()) return Instant::min();
  return std::min(due, later(quota.asked_at, s.lossy() ? s.config.timers.digest : kPace));
}

/// Under a policy that changes no sizes a job needs all that it asks for.
JobSpec as_it_may_run(const AgentState& s, JobSpec spec) {
  if (!s.policy->facts().elastic) spec.min_workers = spec.max_workers = 0;
  return spec;
}

}  // namespace

/// Nothing: it may wait here.
std::optional<Rejected> HomeStep::why_not_queued_here(const JobSpec& spec) const {
  const QueueTree& tree = s.home.quota.portions.tree();
  std::string why = why_not_queued(tree, as_it_may_run(s, spec));
  if (why.empty()) return std::nullopt;
  const QuotaAccount account = account_of(tree, spec);
  const bool large =
      tree.is_leaf(account.queue) && most_of(tree, account) < least_gpus(as_it_may_run(s, spec));
  return Rejected{spec.id, large ? Refusal::never_fits : Refusal::invalid, std::move(why)};
}

std::string HomeStep::beyond_quota(const Job& job, std::size_t gpus) const {
  const QuotaAccount account = s.home.quota.account_of(job);
  return "queue '" + account.queue + "' may not have " + counted(gpus, "GPU") + " more here now";
}

/// In no waiting list from now on.
void HomeStep::keep_back_for_quota(Job& job) {
  STARLING_MARK("agent: a job is kept back for its queue's sake");
  std::get<Job::Waiting>(job.doing).back = JobReason::quota;
  leave_array(job);
  s.home.quota.keep_back(job);
  s.home.set_timer(job.spec->id, job, kNever);
}

/// The last of those up for decision, if all are to be, they are more than the account may have or
/// a job that is kept back stands before it. One in a round goes on, and is looked at when it
/// starts.
Job* HomeStep::to_take_back(const QuotaAccount& account, bool all) {
  const HomeQuota::Line* line = s.home.quota.line_of(account);
  if (line == nullptr) return nullptr;
  for (auto place = line->let.rbegin(); place != line->let.rend(); ++place) {
    if (!all && (line->back.empty() || *place < *line->back.begin())) return nullptr;
    Job& job = s.home.jobs.at(place->job);
    if (job.stage() == Stage::waiting) return &job;
  }
  return nullptr;
}

void HomeStep::take_back(Job& job) {
  s.home.leave_waiting(job);
  keep_back_for_quota(job);
  s.home.quota.say(HomeQuota::Urge::soon);
  change(TriggerKind::departure);
}

/// Lets in those that have room, in order; those that have none any more are kept back.
void HomeStep::fit_quota(const QuotaAccount& account) {
  HomeQuota& quota = s.home.quota;
  while (const HomeQuota::Line* line = quota.line_of(account)) {
    if (!line->back.empty()) {
      Job& first = s.home.jobs.at(line->back.begin()->job);
      if (quota.portions.may_wait(account, quota.asked_by(*first.spec))) {
        queue_again(first);
        continue;  // it is let in, waits for something else, or has ended
      }
    }
    Job* last = to_take_back(account, quota.is_over(account));
    if (last == nullptr) return;
    take_back(*last);
  }
}

/// Looks at what has changed, and whether the keeper is to hear of it. Where frames get lost an ask
/// is said until it is answered.
void HomeStep::mind_quota() {
  STARLING_MARK("agent: mind_quota");
  HomeQuota& quota = s.home.quota;
  const std::set<QuotaAccount> changed = std::exchange(quota.changed, {});
  for (const QuotaAccount& account : changed) {
    fit_quota(account);
    // Room that the first job cannot do with: what is given back comes again with the rest.
    if (quota.has_idle_room(account)) quota.say(HomeQuota::Urge::soon);
  }
  quota.changed.clear();  // by these
  if (!quota.open && quota.portions.has_to_ask()) quota.say(HomeQuota::Urge::soon);
  if (ask_due(s) <= now) ask_keeper();
  quota.timer = ask_due(s);
  quota.look = false;
}

void HomeStep::ask_keeper() {
  STARLING_MARK("agent: asks the keeper of queues");
  HomeQuota& quota = s.home.quota;
  // Others wait for what those would use who are up for decision and find no GPUs here: the keeper
  // says whose turn it is, now and again.
  std::vector<QuotaAccount> given_back = quota.portions.recalled();
  if (quota.holds_scarce() && later(quota.turned_at, again_after(s)) <= now) {
    quota.turned_at = now;
    for (const auto& [account, has] : quota.portions.accounts())
      if (has.scarce && has.let > 0) given_back.push_back(account);
  }
  for (const QuotaAccount& account : given_back) {
    while (Job* last = to_take_back(account, true)) take_back(*last);
  }
  std::map<QuotaAccount, Portions::Front> front;
  for (const auto& [account, line] : quota.lines()) {
    if (line.back.empty()) continue;
    const Job& first = s.home.jobs.at(line.back.begin()->job);
    front[account] = {quota.asked_by(*first.spec), first.spec->priority, now - first.submitted};
  }
  QuotaAsk ask = quota.portions.ask(front);
  quota.asked = ask.stamp;
  quota.asked_at = now;
  quota.open = true;
  quota.urge = HomeQuota::Urge::none;
  quota.repeat = s.lossy() ? retry_at(quota.backoff) : kNever;
  tell(AgentId{0}, std::move(ask));
}

/// From the keeper. An answer to an earlier ask is too late, and a repeat gives nothing, as
/// Portions says.
void HomeStep::on(NodeId from, const QuotaGrant& grant) {
  STARLING_MARK("agent: QuotaGrant");
  if (from != agent_node(AgentId{0})) return refuse();
  HomeQuota& quota = s.home.quota;
  if (quota.portions.catch_up(grant.stamp)) {
    STARLING_MARK("agent: the keeper of queues knows of later asks than this life");
    return quota.say(HomeQuota::Urge::now);
  }
  if (grant.stamp != quota.asked && !planted(Bug::quota_of_any_ask)) return;
  quota.open = false;
  quota.backoff = Duration{0};
  for (const QuotaAccount& account : quota.portions.heed(grant)) quota.changed.insert(account);
  quota.look = true;
}

/// Jobs count against other accounts, and may have other portions.
void HomeStep::regate(const QueueTree& tree) {
  STARLING_MARK("agent: other queues");
  HomeQuota& quota = s.home.quota;
  std::vector<std::pair<Job*, bool>> waiting;  // and whether it was blocked
  std::vector<const Job*> running;
  for (auto& [id, job] : s.home.jobs) {
    if (job.run() != nullptr) {
      running.push_back(&job);
      quota.run_no_more(job);
    } else if (job.round() != nullptr && tree.limits()) {
      // It was let in by a portion that is void now; what ends would otherwise make room for it
      // beyond a lower limit.
      leave_round(job);
      job.doing = Job::Waiting{};
      waiting.emplace_back(&job, false);
      s.home.leave_waiting(job);
    } else if (job.round() != nullptr) {
      quota.let_no_more(job);
    } else if (const JobView* view = s.home.waiting.find(job.order)) {
      waiting.emplace_back(&job, view->blocked);
      s.home.leave_waiting(job);
    } else if (job.back() == JobReason::quota) {
      waiting.emplace_back(&job, false);
      s.home.leave_waiting(job);
    }
  }
  quota.portions.set_tree(tree);
  s.home.name_queues();
  for (const Job* job : running) quota.run(*job);
  quota.portions.begin();
  std::ranges::sort(waiting, {}, [](const auto& one) { return one.first->order; });
  for (const auto& [job, blocked] : waiting) (void)queue(*job, blocked);
  quota.changed.clear();
  for (const auto& [account, line] : quota.lines()) quota.changed.insert(account);
  change(TriggerKind::arrival);
}

/// From the keeper. One that is known is said again because this home has not been heard to know
/// it, or the keeper does not know what it wants. An older tree changes nothing, and the ask tells
/// a keeper that has lost its state which version there was.
void HomeStep::take_queues(const QueueTree& tree) {
  STARLING_MARK("agent: SetQueues from the keeper");
  const std::uint64_t known = s.home.quota.portions.tree().version;
  if (!check_queues(tree).empty()) return refuse();
  if (tree.version > known) {
    if (!s.keeper) persist(QueuesSet{tree});  // the keeper has written it down
    regate(tree);
  }
  s.home.quota.say(HomeQuota::Urge::now);
}

}  // namespace starling
